"""The program in the judge's sandbox: loads one oracle file, runs its checks, writes one verdict.

Started as a script; the pipe is on its standard streams and carries one JSON object a line. Order of messages:
job in; `ready` (or `error`) out; requests and answers in turn; `verdict` out; end. Invariant: no agent code is
ever imported here, and nothing but the one verdict message says how a check ended.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Mapping
from typing import Any, NoReturn

if __name__ == "__main__":  # isolated mode leaves the script's place out of the path
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from oracles.contract import Change, Check, Facts, OracleFormError, Rules, collect
from oracles.subject import Link, Subject
from oracles.wire import dumps, loads

Json = dict[str, Any]
DETAIL = 400


class Pipe:
    """The judge's end of the pipe to the broker."""

    def __init__(self, reader: int, writer: int) -> None:
        self.lines = os.fdopen(reader, "rb")
        self.writer = os.fdopen(writer, "wb")

    def send(self, message: Json) -> None:
        """Write one message."""
        self.writer.write(json.dumps(message).encode() + b"\n")
        self.writer.flush()

    def receive(self) -> Json:
        """The next message; the process ends when the broker is gone."""
        line = self.lines.readline()
        if not line:
            os._exit(3)
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    def request(self, message: Json) -> Json:
        """Send and wait for the answer."""
        self.send(message)
        return self.receive()


def load_oracle(path: str) -> Rules:
    """The rules in an oracle file. Raises whatever the file raises, or OracleFormError."""
    spec = importlib.util.spec_from_file_location("oracle_file", path)
    if spec is None or spec.loader is None:
        raise OracleFormError("the oracle file cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return collect(vars(module))


def read_delta(rows: list[Any]) -> dict[str, Change]:
    """The delta as the broker sends it: rows of path, status, old and new bytes as base64 or null."""
    return {path: Change(status, _data(old), _data(new)) for path, status, old, new in rows}


def run_check(check: Check, subject: Subject, facts: Facts) -> Json:
    """One row of the verdict: whether the check's statement is true, or that it choked, and why."""
    try:
        answer = check.function(subject, facts)
    except AssertionError as error:
        if check.kind == "requires":
            return _row(check, False, False, _detail(error))
        return _row(check, False, True, _detail(error))
    except Exception as error:
        return _row(check, False, True, f"{type(error).__name__}: {_detail(error)}")
    if check.kind == "requires" and answer is None:
        return _row(check, True, False, "")
    if type(answer) is not bool:
        return _row(check, False, True, f"the check returned {type(answer).__name__}")
    return _row(check, answer, False, "")


def _row(check: Check, held: bool, choked: bool, detail: str) -> Json:
    clean = detail.encode("utf-8", "backslashreplace").decode()
    clean = "".join(char if char.isprintable() else " " for char in clean)
    return {"name": check.name, "held": held, "choked": choked, "detail": clean[:DETAIL]}


def _detail(error: BaseException) -> str:
    """The message of an exception, or else the source line of the oracle that raised it."""
    try:
        text = str(error)
    except Exception as other:  # a message made of a value that refuses to be printed
        text = f"no message ({type(other).__name__})"
    if text:
        return text
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.name != "run_check"]
    return f"line {frames[0].lineno}: {frames[0].line}" if frames else type(error).__name__


def judge(pipe: Pipe, job: Json, rules: Rules) -> None:
    """Run every applicable check against a fresh subject and send the verdict."""
    facts, derived = rules.complete(loads(job["facts"]))
    checks = rules.applicable(job["expect"])
    named = [[check.name, check.text, check.kind] for check in checks]
    pipe.send({"op": "ready", "checks": named, "derived": dumps(derived, strict=True)})
    if job["mode"] == "survey":
        return
    delta = read_delta(job["delta"])
    if job["mode"] == "judge":
        pipe.send({"op": "verdict", "results": run_checks(pipe, job, checks, facts, delta)})
        return
    from oracles.hostile import HostileLink, answers  # only an admission asks for it

    rounds = []
    for number, (label, answer) in enumerate(answers()):
        link = HostileLink(pipe, answer, "" if number % 2 else label)
        rounds.append([f"{number} {label}", run_checks(link, job, checks, facts, delta)])
    pipe.send({"op": "rounds", "rounds": rounds})


def run_checks(
    link: Link, job: Json, checks: tuple[Check, ...], facts: Facts, delta: Mapping[str, Change]
) -> list[Json]:
    """The rows of one verdict; each check gets a subject of its own."""
    rows = []
    artifacts, generator = tuple(job["artifacts"]), tuple(job["generator"])
    for check in checks:
        number = link.request({"op": "open", "tree": "session"})["subject"]
        subject = Subject(link, check.name, number, delta, job["seed"], artifacts, generator)
        rows.append(run_check(check, subject, facts))
        subject.close()
    return rows


def _data(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def main() -> NoReturn:
    """Move the pipe off the standard streams and judge the one job that comes over it."""
    pipe = Pipe(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    job = pipe.receive()
    try:
        if sys.flags.optimize:
            raise OracleFormError("asserts are stripped (python -O)")
        rules = load_oracle(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "oracle.py"))
        judge(pipe, job, rules)
    except BaseException as error:
        pipe.send({"op": "error", "reason": f"{type(error).__name__}: {_detail(error)}"[:DETAIL]})
        raise
    os._exit(0)


if __name__ == "__main__":
    main()
