"""Serve a GGUF file on loopback in the chat dialect: llama.cpp's server through `xllamacpp`, in this process.

    pip install xllamacpp                 (in an environment of its own; not a dependency of this package)
    python serve.py MODEL.gguf --keep answers.jsonl

Invariant: a request with the same bytes has one answer. It is made once and written to the file before it is given, so
that a client that goes away and asks again, or a run that is resumed, waits for the same answer and not for another.
Keep one file for one model and one set of options: nothing in it says from which it came.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TARGET = "/v1/chat/completions"


class Answers:
    """Answers by the digest of the request; one is made at a time. Thread-safe."""

    def __init__(self, engine: Any, kept: Path, most: int) -> None:
        """Raises SystemExit for a file that holds something else."""
        self._engine, self._kept, self._most = engine, kept, most
        self._lock = threading.Lock()
        self._known: dict[str, Any] = {}
        for number, line in enumerate(kept.read_text(encoding="utf-8").splitlines() if kept.exists() else (), 1):
            try:
                row = json.loads(line)
                self._known[row["request"]] = row["answer"]
            except (ValueError, LookupError, TypeError) as error:
                raise SystemExit(f"{kept}:{number}: no answer that was kept; take the line out") from error

    def get(self, body: bytes) -> Any:
        """The answer to the request. Raises ValueError, TypeError for what is none."""
        key = hashlib.sha256(body).hexdigest()
        with self._lock:
            if key in self._known:
                return self._known[key]
            asked = json.loads(body)
            if not isinstance(asked, dict):
                raise TypeError("a request is a JSON object")
            asked["max_tokens"] = min(asked.get("max_tokens") or self._most, self._most)
            begun = time.monotonic()
            answer = self._engine.handle_chat_completions(asked)
            seconds = round(time.monotonic() - begun, 1)
            print(f"{key[:12]} {seconds} s {answer.get('usage')}", file=sys.stderr, flush=True)
            if "choices" in answer:
                with self._kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"request": key, "seconds": seconds, "answer": answer}) + "\n")
                self._known[key] = answer
            return answer


def handler(answers: Answers) -> type[BaseHTTPRequestHandler]:
    """A handler of the one target; every other is refused."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path != TARGET:
                self._say(404, {"error": {"message": f"only {TARGET} is served"}})
                return
            try:
                answer = answers.get(body)
            except (ValueError, TypeError) as error:
                self._say(400, {"error": {"message": str(error)}})
                return
            self._say(200 if "choices" in answer else 500, answer)

        def _say(self, status: int, answer: Any) -> None:
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            """Nothing: an answer that is made is told where it is made."""

    return Handler


def engine(model: Path, context: int, threads: int) -> Any:
    """llama.cpp's server for the file, one request at a time. Its own port is any free one and is not used."""
    import xllamacpp  # type: ignore[import-not-found]

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.port = 0
    params.ui = False
    print(f"xllamacpp {xllamacpp.__version__}, {threads} threads, {xllamacpp.get_system_info()}", file=sys.stderr)
    return xllamacpp.Server(params)


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a GGUF file on loopback, each request answered once.")
    parser.add_argument("model", type=Path)
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--context", type=int, default=16_384, help="tokens")
    parser.add_argument("--most", type=int, default=1024, help="tokens of an answer, whatever a request allows")
    parser.add_argument("--keep", type=Path, default=Path("answers.jsonl"))
    given = parser.parse_args()
    if not given.model.is_file():
        parser.error(f"{given.model}: no such file")
    answers = Answers(engine(given.model, given.context, given.threads), given.keep, given.most)
    server = ThreadingHTTPServer(("127.0.0.1", given.port), handler(answers))
    print(f"http://127.0.0.1:{given.port}/v1", file=sys.stderr, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
