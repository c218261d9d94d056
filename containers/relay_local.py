"""Requests that the harness answers itself: nothing is sent on, no model is called, and no token is used.

Invariant: the answers of one session are made one at a time, outside of the relay's thread; after `close` none is being
made, so whoever makes them may be freed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor

from aiohttp import web

from containers.relay_book import Book
from containers.relay_exchange import SERVER, Exchange, read_request, said, turned_away
from containers.relay_rules import Local, Refused, Unanswered


class Desk:
    """The locals of one session. Raises ValueError for a target that cannot be one, or that `routes` has."""

    def __init__(self, local: Sequence[Local], book: Book, routes: Collection[str]) -> None:
        self._local = {one.target: one for one in local}
        if len(self._local) < len(local) or any(not t.startswith("/") or t in routes for t in self._local):
            raise ValueError("a target that is answered here begins with / and is nobody else's")
        self._book = book
        self._given: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(1, "relay-local")  # its thread is started by the first call

    @property
    def targets(self) -> Collection[str]:
        """What is answered here."""
        return self._local.keys()

    async def answer(self, request: web.BaseRequest, exchange: Exchange) -> web.Response:
        """Answer a request whose head was let through."""
        local = self._local[request.raw_path]
        problem = await read_request(request, exchange, local.size)
        if problem is None and self._given[local.target] >= local.calls:
            problem = 429, f"this is asked at most {local.calls} times in a session"
        if problem is not None:
            exchange.end, exchange.status = "refused", problem[0]
            self._book.refuse(Refused(exchange.method, exchange.target, *problem))
            return turned_away(*problem)
        self._given[local.target] += 1
        self._book.pulled += 1
        exchange.local = True
        made = self._pool.submit(local.answer, b"".join(exchange.request.blocks()))
        try:
            body = await asyncio.wrap_future(made)
        except Unanswered as why:
            exchange.end, exchange.status = "whole", 422
            return said(None, 422, str(why), final=True)
        exchange.end, exchange.status = "whole", 200
        return web.Response(body=body, content_type="text/plain", charset="utf-8", headers=SERVER)

    async def close(self) -> None:
        """Return when nothing is being answered any more."""
        if self._given:
            await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)
