"""Run the owed arms of a plan on local workers; the calling thread alone writes the ledger.

Invariant: a session or arm is in the ledger before anybody is told about it, and an interrupt or an error of the
ledger stops new arms but loses nothing that was committed.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from harness.ledger import Ledger
from harness.outcome import Boundary, Fault, UsageFault
from harness.plan import Arm
from harness.records import ArmRecord, SessionRecord

_LOOK = 0.5  # seconds between looks at whether the run was stopped
Work = Callable[[Arm, int], ArmRecord]
Tell = Callable[[ArmRecord], None]


@dataclass(frozen=True)
class _Session:
    arm: str
    attempt: int
    record: SessionRecord
    done: threading.Event  # set when it is committed


@dataclass(frozen=True)
class _Done:
    future: Future[ArmRecord]


class Executor:
    """`emit` is handed to the arms as the way to commit a session."""

    def __init__(self, ledger: Ledger, jobs: int, reach: Callable[[str], None]) -> None:
        self._ledger = ledger
        self._jobs = jobs
        self._reach = reach
        self._inbox: queue.SimpleQueue[_Session | _Done] = queue.SimpleQueue()
        self._stopped = threading.Event()

    def emit(self, arm: str, attempt: int, record: SessionRecord) -> None:
        """Called by arms, from any thread. Raises Fault when the run has been stopped: the arm need not go on."""
        done = threading.Event()
        self._inbox.put(_Session(arm, attempt, record, done))
        # a session that was paid for is in the ledger before anything is done with it, so that it is never run again
        while record.model is not None and not done.wait(_LOOK) and not self._stopped.is_set():
            pass
        if self._stopped.is_set():
            raise Fault(Boundary.LEDGER, "the run was stopped")

    def run(self, arms: Sequence[Arm], work: Work, tell: Tell) -> None:
        """Run all `arms`; `tell` hears each committed record. Raises what an arm or the ledger raised.

        Before it raises it waits for the sessions that still run; a second interrupt ends that wait too.
        """
        attempts = self._ledger.attempts()
        owed = iter(arms)
        pool = ThreadPoolExecutor(self._jobs, thread_name_prefix="arm")
        running = 0
        try:
            # a short queue ahead of the workers: an interrupt then waits for few arms
            for arm in owed:
                self._submit(pool, arm, attempts, work)
                running += 1
                if running >= self._jobs * 2:
                    running -= self._drain(tell)
            while running:
                running -= self._drain(tell)
        except BaseException:
            # what still runs ends with its session; nobody commits it, so it stays owed
            self._stopped.set()
            self._reach("run:stopping")
            pool.shutdown(wait=True, cancel_futures=True)
            self._keep_paid()
            raise
        pool.shutdown()

    def _keep_paid(self) -> None:
        """Commit the sessions that were paid for and ended while the run was being stopped."""
        while not self._inbox.empty():
            message = self._inbox.get()
            if isinstance(message, _Session) and message.record.model is not None:
                with contextlib.suppress(Fault, UsageFault):  # why the run stops is told already
                    self._ledger.session(message.arm, message.attempt, message.record)

    def _submit(self, pool: ThreadPoolExecutor, arm: Arm, attempts: dict[str, int], work: Work) -> None:
        future = pool.submit(work, arm, attempts.get(arm.id, 0) + 1)
        future.add_done_callback(lambda f: self._inbox.put(_Done(f)))

    def _drain(self, tell: Tell) -> int:
        """Commit one message; 1 when an arm ended."""
        message = self._inbox.get()
        if isinstance(message, _Session):
            self._ledger.session(message.arm, message.attempt, message.record)
            message.done.set()
            self._reach("ledger:session")
            return 0
        try:
            record = message.future.result()
        except OSError as error:
            raise Fault(Boundary.LEDGER, f"{error} (remedy: mend that, then dreambench resume)") from error
        self._reach("ledger:before-arm")
        self._ledger.arm(record)
        self._reach("ledger:arm")
        tell(record)
        return 1
