"""Shared work: once a key, never after a failure, also across threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from containers.sandbox import WORK, Mount, Sandbox, Spec
from harness.once import Once


def test_threads_share_one_making() -> None:
    once: Once[int] = Once()
    made: list[int] = []
    gate = threading.Barrier(4)

    def ask() -> tuple[int, bool]:
        gate.wait()
        return once.get("key", lambda: made.append(1) or 7)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: ask(), range(4)))
    assert made == [1]
    assert sorted(answers) == [(7, False), (7, True), (7, True), (7, True)]


def test_other_keys_are_made_apart() -> None:
    once: Once[str] = Once()
    assert once.get(("a", 1), lambda: "x") == ("x", False)
    assert once.get(("a", 2), lambda: "y") == ("y", False)


def test_a_failure_is_not_kept() -> None:
    once: Once[int] = Once()
    with pytest.raises(ZeroDivisionError):
        once.get("key", lambda: 1 // 0)
    assert once.get("key", lambda: 3) == (3, False)


def test_the_box_of_the_tests_runs_a_public_check_once_and_a_session_always(box: Sandbox) -> None:
    """What the fixture `box` says of itself: nothing but a check of a tree is told again."""
    check = Spec(("python3", "-c", "import secrets; print(secrets.token_hex(16))"), mounts={WORK: Mount(writable=True)})
    session = replace(check, exports=(WORK,))
    assert box.run(check).stdout == box.run(check).stdout
    assert box.run(check).stdout != box.run(replace(check, stdin=b"x")).stdout
    assert box.run(session).stdout != box.run(session).stdout
