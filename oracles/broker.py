"""Scoring: one judge sandbox, fresh subject sandboxes, and the broker that carries lines between them.

The judge gets facts and delta; the subjects get the tree and the judge's questions, and nothing else ever
reaches them. Invariant: what a subject does (dies, hangs, floods, answers garbage) becomes an answer to the
judge, never an error of ours; what breaks before any agent code ran is ours, never a verdict.
"""

from __future__ import annotations

import base64
import functools
import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

from containers.sandbox import AGENT, Channel, Mount, Sandbox, Spec
from containers.sandbox import Limits as SandboxLimits
from oracles.contract import Change
from oracles.lines import Gone, Lines, TooLong
from oracles.subjects import Subjects
from oracles.tars import make_tar, read_tar, room_modules
from oracles.verdict import (
    CheckInfo,
    CheckResult,
    MessageError,
    OracleError,
    Verdict,
    clean_detail,
    read_checks,
    read_message,
    read_verdict,
)
from oracles.wire import WireError, dumps, loads

Expect = Literal["use", "abstain"]
Json = dict[str, Any]

_JUDGE = (
    *("python3", "-I", "-B", "--check-hash-based-pycs", "always"),
    f"{AGENT}/oracles/judge.py",
)
_PARTS = ("__init__", "values", "encode", "decode", "wire", "contract", "subject", "hostile", "judge")
_START = 60.0  # seconds for a sandbox of ours to come up before we call it broken
_MAX_MESSAGE = 24 << 20  # bytes of one question of the judge
_MOST_LIVE = 8  # subjects that an oracle, maybe a stranger's, may hold at once
_TRIES = 2  # a judge that vanishes while agent values are around is asked once more


@dataclass(frozen=True)
class ScoreLimits:
    """Seconds of one call or command, of all of them together, and that the judge may think once those are over.

    `sandbox` is what one subject may use, but for its wall limit: a subject lives as long as the scoring needs it.
    """

    call: float = 20.0
    total: float = 120.0
    grace: float = 15.0
    sandbox: SandboxLimits = field(default_factory=SandboxLimits)


@dataclass(frozen=True)
class Job:
    """What is scored.

    tree        the tree of session 3 as an uncompressed tar that the harness made
    delta       the production part of the change, by path; empty means no edit
    facts       name -> plain value; the oracle adds its derived ones
    history     name of the history, for the record only; no check sees it
    expect      whether the right thing is to "use" the evidence or to "abstain"
    roots       directories that the agent's modules are imported from, relative to the tree
    seed        of `subject.random`; the same seed asks the same questions
    artifacts   globs of generated files; `generator` makes them in `pristine`, which is the tree of session 3
                with the pristine generator put over it (b"" when the trap has none)
    """

    tree: bytes
    delta: Mapping[str, Change]
    facts: Mapping[str, object]
    history: str = "given"
    expect: Expect = "use"
    roots: tuple[str, ...] = ("src", ".")
    seed: str = "0"
    artifacts: tuple[str, ...] = ()
    generator: tuple[str, ...] = ()
    pristine: bytes = b""
    limits: ScoreLimits = field(default_factory=ScoreLimits)


@dataclass(frozen=True)
class Survey:
    """What an oracle declares for one set of facts: its applicable checks and its derived facts."""

    checks: tuple[CheckInfo, ...]
    derived: Mapping[str, object]


def score(sandbox: Sandbox, oracle_source: bytes, job: Job) -> Verdict:
    """Judge one change. Raises OracleError or SandboxError when our side broke, never for what agents cause."""
    _need_asserts()
    if not job.delta:
        return Verdict((), survey(sandbox, oracle_source, job.facts, job.expect).derived, no_edit=True)
    for attempt in range(_TRIES):
        try:
            return _Session(sandbox, oracle_source, job).judge()
        except _JudgeLost as error:
            lost, known = clean_detail(str(error)), error.survey
            if not error.vanished or attempt == _TRIES - 1:
                break
    choked = (CheckResult(c.name, c.text, c.kind, False, True, f"the judge was lost: {lost}") for c in known.checks)
    return Verdict(tuple(choked), known.derived)


def survey(sandbox: Sandbox, oracle_source: bytes, facts: Mapping[str, object], expect: Expect = "use") -> Survey:
    """The checks and derived facts of an oracle, without any agent code. Raises OracleError, SandboxError."""
    _need_asserts()
    job = Job(b"", {}, facts, expect=expect)
    return _Session(sandbox, oracle_source, job).survey()


def hostile(sandbox: Sandbox, oracle_source: bytes, job: Job) -> dict[str, Verdict]:
    """How the oracle judges answers that no code of the task gave, by label; none may pass.

    No subject is opened. `job.delta` should be a wrong change (checks that only look at it are not deceived by
    answers). Raises OracleError when the judge does not get through: such an oracle is not fit either.
    """
    _need_asserts()
    return _Session(sandbox, oracle_source, job).hostile()


class _JudgeLost(Exception):
    """The judge died, hung or broke the protocol after it had been answered with agents' values."""

    def __init__(self, error: Exception, survey: Survey) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.survey, self.vanished = survey, isinstance(error, Gone)


class _Session:
    """One run of the judge over one job."""

    def __init__(self, sandbox: Sandbox, oracle_source: bytes, job: Job) -> None:
        self.sandbox, self.source, self.job = sandbox, oracle_source, job
        self.until = time.monotonic() + _START
        self.files: dict[str, bytes] | None = None

    def survey(self) -> Survey:
        with self.sandbox.talk(self.judge_spec()) as channel:
            return self.start(channel, "survey")

    def judge(self) -> Verdict:
        trees = {"session": self.job.tree, "pristine": self.job.pristine}
        limits = self.job.limits
        inside = limits.sandbox.but(wall=self.wall())
        with ThreadPoolExecutor(2) as pool:
            subjects = Subjects(self.sandbox, pool, trees, self.job.roots, inside)
            try:
                subjects.expect(1)
                with self.sandbox.talk(self.judge_spec()) as channel:
                    known = self.start(channel, "judge")
                    subjects.expect(len(known.checks))
                    self.until = time.monotonic() + limits.total
                    return Verdict(self.converse(channel, known, subjects), known.derived)
            finally:
                subjects.close()

    def hostile(self) -> dict[str, Verdict]:
        with self.sandbox.talk(self.judge_spec()) as channel:
            known = self.start(channel, "hostile")
            until = time.monotonic() + self.job.limits.total
            try:
                while True:
                    line = self.lines.next(max(until - time.monotonic(), 0.0))
                    message = read_message(line, _MAX_MESSAGE)
                    if message.get("op") == "rounds":
                        return {label: self.round(rows, known) for label, rows in message["rounds"]}
                    self.lines.send(json.dumps(self.answer(message, None)).encode())
            except (Gone, TooLong, TimeoutError, ValueError, TypeError) as error:
                raise OracleError(f"hostile answers broke the judge ({type(error).__name__}: {error})") from None

    def round(self, rows: list[Json], known: Survey) -> Verdict:
        line = json.dumps({"op": "verdict", "results": rows}).encode()
        return Verdict(read_verdict(line, known.checks), known.derived)

    def wall(self) -> float:
        """Seconds after which a sandbox of this session would be forgotten, whatever happened."""
        return self.job.limits.total + 2 * _START + 2 * self.job.limits.grace

    def judge_spec(self) -> Spec:
        mounts = {AGENT: Mount(_judge_tar(self.source))}
        return Spec(_JUDGE, mounts=mounts, cwd=AGENT, limits=SandboxLimits(wall=self.wall()))

    def start(self, channel: Channel, mode: str) -> Survey:
        """Send the job and read what the judge announces. No agent code has run: every error here is ours."""
        self.lines = Lines(channel, _MAX_MESSAGE)
        try:
            self.lines.send(json.dumps(self.message(mode)).encode())
            ready = read_message(self.lines.next(_START), _MAX_MESSAGE)
            if ready.get("op") == "error":
                raise OracleError(clean_detail(str(ready.get("reason"))))
            if ready.get("op") != "ready" or set(ready) != {"op", "checks", "derived"}:
                raise OracleError("the judge did not announce its checks")
            found = Survey(read_checks(ready["checks"]), loads(ready["derived"]))
        except (Gone, TooLong, TimeoutError, MessageError, WireError) as error:
            raise OracleError(f"the judge did not start ({type(error).__name__}: {error})") from None
        if not any(check.kind == "requires" for check in found.checks):
            raise OracleError(f"the oracle requires nothing when the expectation is {self.job.expect!r}")
        return found

    def message(self, mode: str) -> Json:
        job = self.job
        rows = [[path, c.status, _base64(c.old), _base64(c.new)] for path, c in job.delta.items()]
        return {
            "facts": dumps(dict(job.facts), strict=True),
            "expect": job.expect,
            "delta": rows,
            "seed": job.seed,
            "artifacts": job.artifacts,
            "generator": job.generator,
            "mode": mode,
        }

    def converse(self, channel: Channel, known: Survey, subjects: Subjects) -> tuple[CheckResult, ...]:
        try:
            while True:
                left = self.until - time.monotonic()
                line = self.lines.next(max(left, 0.0) + self.job.limits.grace)
                message = read_message(line, _MAX_MESSAGE)
                if message.get("op") == "verdict":
                    results = read_verdict(line, known.checks)
                    self.lines.finish(self.job.limits.grace)
                    return results
                self.lines.send(json.dumps(self.answer(message, subjects)).encode())
        except (Gone, TooLong, TimeoutError, MessageError) as error:
            raise _JudgeLost(error, known) from None

    def answer(self, message: Json, subjects: Subjects | None) -> Json:
        match message:
            case {"op": "file", "path": str(path)}:
                return {"data": _base64(self.tree_files().get(path))}
            case {"op": "error", "reason": str(reason)}:
                raise MessageError(f"the judge gave up: {reason}")
        if subjects is None:
            raise MessageError("there are no subjects")
        match message:
            case {"op": "open", "tree": "session" | "pristine" as tree}:
                if subjects.live >= _MOST_LIVE:
                    raise MessageError(f"an oracle that holds more than {_MOST_LIVE} subjects at once")
                return {"subject": subjects.open(tree)}
            case {"op": "close", "subject": int(number)}:
                subjects.end(number)
                return {}
            case {"op": "ask", "subject": int(number), "body": str(body)}:
                left = self.until - time.monotonic()
                return subjects.ask(number, body, min(left, self.job.limits.call))
        raise MessageError(f"an unknown request {str(message.get('op'))[:40]!r}")

    def tree_files(self) -> dict[str, bytes]:
        if self.files is None:
            self.files = read_tar(self.job.tree)
        return self.files


def _need_asserts() -> None:
    if not __debug__:
        raise OracleError("asserts are stripped (python -O): nothing can be scored")


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


@functools.cache
def _judge_parts() -> dict[str, bytes]:
    return room_modules(_PARTS, "oracles/")


def _judge_tar(oracle_source: bytes) -> bytes:
    return make_tar({"oracle.py": oracle_source, **_judge_parts()})
