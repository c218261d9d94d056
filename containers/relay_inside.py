"""The program of a relay container: from a port of the loopback to a socket that is mounted there, byte by byte.

It runs as `python3 -c` in a container of its own, whose network namespace the session's container joins; so nothing
but the standard library is used here. End of its input means that the harness is gone, and ends it.

Invariant: what it accepts goes to the one socket and nowhere else; when one side ends or breaks, the other is told.
"""

from __future__ import annotations

import asyncio
import os
import sys

SOCKET = "/run/relay.sock"
READY = b"ready\n"
_BLOCK = 1 << 16
_BACKLOG = 128


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while block := await reader.read(_BLOCK):
        writer.write(block)
        await writer.drain()
    writer.write_eof()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        up_reader, up_writer = await asyncio.open_unix_connection(SOCKET)
    except OSError:
        writer.close()
        return
    pumps = [asyncio.ensure_future(_pump(reader, up_writer)), asyncio.ensure_future(_pump(up_reader, writer))]
    done, left = await asyncio.wait(pumps, return_when=asyncio.FIRST_EXCEPTION)
    for pump in left:
        pump.cancel()
    for pump in done:
        pump.exception()  # a side that broke off is no more than its end
    up_writer.close()
    writer.close()


def _gone() -> None:
    if not os.read(0, _BLOCK):
        os._exit(0)


async def main(port: int) -> None:
    """Serve until the input ends. Says READY when the port answers and the socket can be reached."""
    _, probe = await asyncio.open_unix_connection(SOCKET)
    probe.close()
    server = await asyncio.start_server(_serve, "127.0.0.1", port, backlog=_BACKLOG)
    asyncio.get_running_loop().add_reader(0, _gone)
    os.write(1, READY)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
