"""The look from the outside: a mount that stays is ours, a mount of a neighbour that comes or goes is not."""

from __future__ import annotations

import pytest

from containers import probes_host


def looks(monkeypatch: pytest.MonkeyPatch, *seen: set[str]) -> None:
    """Answers of successive looks at the mount table; the last one stays."""
    answers = list(seen)
    monkeypatch.setattr(probes_host, "_mounts", lambda: answers.pop(0) if len(answers) > 1 else answers[0])
    monkeypatch.setattr(probes_host, "_OTHERS", 0.5)


def test_a_neighbours_container_that_ends_is_not_left(monkeypatch: pytest.MonkeyPatch) -> None:
    looks(monkeypatch, {"/", "/neighbour"}, {"/", "/neighbour"}, {"/"})
    assert probes_host._mounts_left({"/"}) == []


def test_a_neighbours_container_that_starts_later_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    looks(monkeypatch, {"/"}, {"/", "/later"})
    assert probes_host._mounts_left({"/"}) == []


def test_a_mount_that_stays_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    looks(monkeypatch, {"/", "/left"}, {"/", "/left", "/later"})
    assert probes_host._mounts_left({"/"}) == ["/left"]
