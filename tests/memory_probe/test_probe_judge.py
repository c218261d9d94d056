"""The rule judge reads general English: what it takes for a statement about other notes, and what not."""

from __future__ import annotations

import datetime as dt

import pytest

from memory_probe import judge, text


def against(content: str) -> set[tuple[str, str]]:
    return {(t.relation, t.value) for t in judge.read(content).targets}


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("Note AB-1001. This replaces `old`.", {("replaces", "old")}),
        ("Note AB-1002. The name supersedes\nthe one in AB-1001.", {("replaces", "AB-1001")}),
        ("Finding AB-1002: the diagnosis in AB-1001 was disproved by this.", {("disproves", "AB-1001")}),
        ("AB-1001 is withdrawn.", {("disproves", "AB-1001")}),
        (
            "We withdraw nothing, but this retracts AB-1001 and AB-1003.",
            {("disproves", "AB-1001"), ("disproves", "AB-1003")},
        ),
        ('The mark "old" has been replaced.', {("replaces", "old")}),
        ("This does not replace AB-1001. It never supersedes `x`.", set()),
        ("A replacement for the `old` screen; the wrong one is refused.", set()),
        ("Note AB-1002. This replaces AB-1001, as AB-1002 says.", {("replaces", "AB-1001")}),
        ("Use `new`, not `old`.", set()),
        ("This replaces the old name. `other` is unrelated.", set()),
    ],
)
def test_what_a_note_speaks_against(content: str, found: set[tuple[str, str]]) -> None:
    assert against(content) == found


def test_a_notes_own_number_is_its_first_unless_it_speaks_against_it() -> None:
    assert judge.own_number("Note AB-1002, see AB-1001.") == "AB-1002"
    assert judge.own_number("Note AB-1002. This replaces AB-1001.") == "AB-1002"
    assert judge.own_number("This replaces AB-1001.") == ""
    assert judge.own_number("no number") == ""


def test_precedence_names_the_winner_nearest_to_the_cue() -> None:
    known = ["audit office", "store team", "lead", "office"]
    (rank,) = judge.read("For the lead: in this the audit office\noutranks the store team and AB-1001.").ranks
    winner, losers = judge.winners_and_losers(rank, known)
    assert winner in ("audit office", "office")
    assert set(losers) == {"store team", "AB-1001"}
    (rank,) = judge.read("Somebody outranks nobody.").ranks
    assert judge.winners_and_losers(rank, known) == ("", ())
    assert judge.read("The desk does not outrank the lead.").ranks == ()


def test_last_days() -> None:
    assert judge.read("This is valid\nuntil\n2026-03-01.").until == dt.date(2026, 3, 1)
    assert judge.read("It all ends\non 2026-03-01.").until == dt.date(2026, 3, 1)
    assert judge.read("This is valid until 2026-03-01.").until == dt.date(2026, 3, 1)
    assert judge.read("It expires on 2026-02-31.").until is None
    assert judge.read("Written until 2026-03-01 came.").until is None


def test_words_paths_scopes() -> None:
    assert text.words("The classes of `Mail-Boxes` pass") == {"classe", "mail", "boxe", "pass"}
    assert text.covers("src/", "src/a.py")
    assert text.covers("src/**", "src/b/a.py")
    assert text.covers("*.py", "a.py")
    assert not text.covers("src/a", "src/a.py")
    assert text.same_symbol("Store", "Store.find")
    assert not text.same_symbol("Store", "Stored")
    assert text.changed_files("--- a/x.py\n+++ b/x.py\n+++ b/y z.py\n+++ /dev/null") == ("x.py", "y z.py")
    assert text.stems(("src/mail_box.py", "docs/")) == {"mail", "box", "doc"}
