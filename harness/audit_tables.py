"""What audit, opacity and the record of candidates say, as documents of tables.

Invariant: where nobody has rated, or a number is not defined, the table says so in words; no 0 stands for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from analysis.agreement import Agreement
from analysis.opacity import Corpus, Guessed, Word, by_group_alone, giveaways
from analysis.report.layout import NONE, Document, Section, Table
from harness.audit import AGAINST, QUESTIONS
from harness.audit_score import (
    CONSTRUCT,
    NOT_RATED,
    ConstructRow,
    Ratings,
    confusion,
    constructs,
    kappas,
    kappas_by_construct,
)
from harness.audit_verbatim import PASTES, Looked
from harness.candidates import Record, State


def score_document(ratings: Ratings) -> Document:
    """Agreement, confusion, disagreements, and what is not rated."""
    told = [
        f"Raters: {', '.join(ratings.raters)}. What no person has rated, or what was changed after the sheets were "
        f"made, counts as {NOT_RATED}, and a construct with such a trap supports no claim."
    ]
    if ratings.changed:
        told.append(f"Changed since: {', '.join(ratings.changed)}.")
    if ratings.gone:
        told.append(f"Not there any more: {', '.join(ratings.gone)}.")
    blind = Section("Construct labels (blind)", (), tuple(_construct_tables(ratings)))
    deep = Section("Deep audit of the sample", (), tuple(_deep_tables(ratings)))
    return Document("Audit by people", tuple(told), (blind, deep))


def _construct_tables(ratings: Ratings) -> Iterator[Table]:
    agreed = kappas(ratings, CONSTRUCT)
    note = "kappa = (p_o - p_e) / (1 - p_e); in brackets the 95 % percentile interval of a bootstrap over traps."
    rows = tuple((f"{a} and {b}", *_kappa(found)) for (a, b), found in agreed.items())
    yield Table("Agreement of raters", ("raters", *_KAPPA), rows, (note,))
    head = ("construct", "traps", "rated by all", "confirmed", "what that supports")
    yield Table("By construct, as the trap's own file says it", head, tuple(map(_construct_row, constructs(ratings))))
    for (a, b), found in agreed.items():
        if found.n:
            per = kappas_by_construct(ratings, a, b)
            rows = tuple((name, *_kappa(each)) for name, each in per.items())
            yield Table(f"Each construct against all others: {a} and {b}", ("construct", *_KAPPA), rows)
    for rater in ratings.raters:
        said = confusion(ratings, rater)
        if said:
            named = tuple((own, _counted(said[own])) for own in sorted(said, key=_by_number))
            yield Table(f"Confusion: what {rater} said", ("construct", f"{rater} said"), named)
    yield _disagreements(ratings, CONSTRUCT, "Disagreements on the construct")
    yield _not_rated(ratings, CONSTRUCT)


def _construct_row(row: ConstructRow) -> tuple[str, ...]:
    confirmed = str(row.confirmed) if row.rated else NONE
    return row.construct, str(row.traps), str(row.rated), confirmed, row.says


def _counted(words: Counter[str]) -> str:
    """The most frequent first, then in order of construct."""
    ordered = sorted(words, key=lambda word: (-words[word], _by_number(word)))
    return ", ".join(f"{words[word]} {word}" for word in ordered)


def _by_number(construct: str) -> tuple[int, str]:
    return len(construct), construct


def _deep_tables(ratings: Ratings) -> Iterator[Table]:
    rows = []
    for question in QUESTIONS:
        for (a, b), found in kappas(ratings, question).items():
            rows.append((question, f"{a} and {b}", *_kappa(found)))
    yield Table("Agreement of raters", ("question", "raters", *_KAPPA), tuple(rows))
    if against := tuple(_against(ratings)):
        yield Table("What speaks against a trap", ("trap", "question", "answer", "raters"), against)
    for question in QUESTIONS:
        if (table := _disagreements(ratings, question, f"Disagreements on {question}")).rows:
            yield table
    yield _not_rated(ratings, *QUESTIONS)


def _against(ratings: Ratings) -> Iterator[tuple[str, str, str, str]]:
    for question, bad in AGAINST.items():
        for trap in ratings.asked[question]:
            raters = [r for r in ratings.raters if ratings.answers[question][r].get(trap) == bad]
            if raters:
                yield trap, question, bad, ", ".join(raters)


_KAPPA = ("rated by both", "agreed", "p_e", "kappa", "remark")


def _kappa(found: Agreement) -> tuple[str, str, str, str, str]:
    if not found.n:
        return "0", NONE, NONE, NOT_RATED, found.why
    expected = NONE if found.expected is None else f"{float(found.expected):.3f}"
    kappa = "not defined" if found.kappa is None else f"{float(found.kappa):.3f}"
    if found.interval:
        kappa += f" [{found.interval.low:.3f}, {found.interval.high:.3f}]"
    return str(found.n), str(found.agreed), expected, kappa, found.why


def _disagreements(ratings: Ratings, question: str, title: str) -> Table:
    rows = [
        (trap, ratings.own[trap], *(word or NONE for word in said)) for trap, said in ratings.disagreements(question)
    ]
    both = any(ratings.pairs(question, a, b) for a, b in combinations(ratings.raters, 2))
    none = ("None.",) if both else ("Nothing was rated by two.",)
    return Table(title, ("trap", "by its own file", *ratings.raters), tuple(rows), () if rows else none)


def _not_rated(ratings: Ratings, *questions: str) -> Table:
    """Traps that some rater has not answered some of the questions about."""
    asked = ratings.asked[questions[0]]
    lacking = {
        trap: [r for r in ratings.raters if any(trap not in ratings.answers[q][r] for q in questions)] for trap in asked
    }
    everybody = list(ratings.raters)
    rows = tuple(
        (trap, NOT_RATED if raters == everybody else f"{NOT_RATED} by {', '.join(raters)}")
        for trap, raters in lacking.items()
        if raters
    )
    title = f"Not rated by every rater: {len(rows)} of {len(asked)} traps"
    return Table(title, ("trap", "state"), rows, () if rows else ("All are rated.",))


def verbatim_document(found: Sequence[Looked]) -> Document:
    """One row a trap and history in which the evidence is to be used, and totals over traps."""
    head = ("trap", "history", "facts word for word", "lines with facts", "further work", "pasting alone")
    tried = (f"Pastes tried: {', '.join(PASTES)}.",)
    table = Table("What an event holds, and what is left to do", head, tuple(map(_looked_row, found)), tried)
    return Document("Verbatim audit", (), (Section("Traps", tuple(_totals(found)), (table,)),))


def _looked_row(one: Looked) -> tuple[str, ...]:
    if one.stopped:
        return one.trap, one.history, "not looked at", NONE, NONE, one.stopped
    held = f"{one.contract} ({len(one.held)} of {len(one.facts)})"
    work = f"{one.further} lines in {one.files} files"
    pasted = f"ENOUGH: {', '.join(one.enough)}" if one.enough else _outcomes(one.pasted)
    return one.trap, one.history, held, str(one.bearing), work, pasted


def _totals(found: Sequence[Looked]) -> Iterator[str]:
    by: dict[str, list[Looked]] = {}
    for one in found:
        by.setdefault(one.trap, []).append(one)
    looked = [rows for rows in by.values() if not any(one.stopped for one in rows)]
    all_facts = sum(all(one.contract == "all" for one in rows) for rows in looked)
    some = sum(any(one.held for one in rows) for rows in looked) - all_facts
    further = sum(all(one.further > 0 for one in rows) for rows in looked)
    enough = sum(any(one.enough for one in rows) for rows in looked)
    yield (
        f"Of {len(looked)} traps: prior events hold every fact word for word in {all_facts}, a part of them in {some}; "
        f"further work is needed in {further}; pasting is enough (must be 0) in {enough}."
    )
    if stopped := len(by) - len(looked):
        yield f"Not looked at, and in no total: {stopped}."


def _outcomes(pasted: Mapping[str, str]) -> str:
    by = [outcome for outcome in ("failed", "trapped", "pass") if outcome in pasted.values()]
    return ", ".join(f"{list(pasted.values()).count(outcome)} {outcome}" for outcome in by)


def opacity_document(found: Corpus, told: Sequence[Guessed]) -> Document:
    """Accuracies with their permutation distributions, and the words that speak for each construct."""
    alone, drawn = by_group_alone(found), told[0].permutations
    says = (
        f"Multinomial naive Bayes over the words of the prompts of sessions 1 to 3; {len(found.labels)} traps, "
        f"{len(set(found.groups))} fixtures. A report on the fold, not a gate."
    )
    head = ("left out", "labels exchanged", "right", "by majority", "permutations: mean", "95 %", "p", "unseen")
    notes = (
        f"p = (1 + permutations that do at least as well) / (1 + {drawn}), one-sided; p of different rows are not "
        "independent. Unseen: traps whose construct no remaining trap has, which cannot be guessed.",
        f"The fixture alone, with no word looked at, guesses {_share(alone, told[0].n)}. Words follow fixtures, and "
        "constructs are not spread evenly over them: labels exchanged within fixtures, and a whole fixture left out, "
        "ask for more than the fixture. With few traps a construct, a p that is not small shows no opacity to be "
        "absent: it says that these words and this classifier do not show it.",
    )
    accuracy = Table("Guessing the construct from the prompts", head, tuple(map(_guess_row, told)), notes)
    sizes, given = Counter(found.labels), giveaways(found)
    rows = tuple((name, str(sizes[name]), _words(given[name])) for name in sorted(given, key=_by_number))
    title, columns = (
        "Words that speak for a construct",
        ("construct", "traps", "word (its traps / fixtures / other traps)"),
    )
    words = Table(title, columns, rows, ("Of at least two traps of the construct.",))
    return Document("Opacity", (says,), (Section("Accuracy", (), (accuracy,)), Section("Words", (), (words,))))


def _guess_row(one: Guessed) -> tuple[str, ...]:
    exchanged = "within fixtures" if one.within else "over all traps"
    mean, most = f"{one.mean / one.n:.3f}", f"{one.most / one.n:.3f}"
    right, majority = _share(one.right, one.n), _share(one.majority, one.n)
    return one.left_out, exchanged, right, majority, mean, most, f"{one.p:.4f}", str(one.unseen)


def _words(found: Sequence[Word]) -> str:
    return "; ".join(f"{w.word} ({w.inside}/{w.groups}/{w.outside})" for w in found)


def candidates_document(record: Record, states: Mapping[str, State]) -> Document:
    """Every candidate as it stands, and every amendment with its date and reason."""
    rows = [
        (trap, states[trap], record[trap].last.digest[:16], record[trap].last.fixture,
         record[trap].lines[0].at.isoformat(), record[trap].lines[0].version, str(len(record[trap].amendments)))
        for trap in record
    ]  # fmt: skip
    rows += [(trap, state, NONE, NONE, NONE, NONE, NONE) for trap, state in states.items() if trap not in record]
    head = ("trap", "state", "digest", "fixture", "frozen", "version", "amendments")
    lines = sorted((line for c in record.values() for line in c.amendments), key=lambda line: line.at)
    amended = tuple(
        (line.at.isoformat(), line.trap, line.act, (line.was or "")[:16], line.digest[:16], line.reason)
        for line in lines
    )
    tables = (
        Table("Candidates", head, tuple(rows)),
        Table("Amendments", ("at", "trap", "act", "was", "is", "reason"), amended, () if amended else ("None.",)),
    )
    return Document("Candidates", (), (Section("Record", (), tables),))


def _share(right: int, n: int) -> str:
    return f"{right} of {n} ({right / n:.3f})"
