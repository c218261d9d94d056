"""What only the holder of the key can ask: facts against commitments, the public part against the whole, ids against
bytes.

Invariant: as in the other checks: problems in words, none when it holds; nothing is rendered from a template.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from harness import kept
from harness.bundle import layout
from harness.bundle.derived import spent
from harness.bundle.freeze import check_texts
from harness.bundle.lost import lines_of, public_lost, read_lost
from harness.bundle.opened import Opened
from harness.bundle.public import configured_models, public_arm, public_session
from harness.bundle.rows import Told, as_lines, read_lines
from harness.bundle.thaw import bounded, table
from harness.draw import draw_digest, misfits
from harness.haystack import commitments
from harness.outcome import UsageFault
from harness.prompts import Prompt, item_from, prompt_of
from harness.records import ArmRecord, SessionRecord, exchange_blobs
from harness.stores import CHUNK, chunks
from harness.verification.case import Case
from harness.verification.check_channel import MEMORY, PROMPT, where
from memory_probe.protocol import View, count_tokens
from memory_probe.render import memory_bytes
from traps.load import Trap
from traps.schema import TrapError


def commitment_problems(case: Case) -> Iterator[str]:
    """Without the key: the root over the published commitments. With it: every fact opens its own."""
    told = table(layout.COMMITMENTS, case.bundle.get(layout.COMMITMENTS))
    published, root = told.get("commitments"), told.get("root")
    if root != case.stored.draw_digest:
        yield "commitments.json: the root is not the draw digest of the run"
    wanted = {f"{trap}/{seed}" for trap in case.traps for seed in _seeds(case)}
    if not isinstance(published, dict) or set(published) != wanted:
        yield "commitments.json: not one set of commitments for each trap and seed"
        return
    leaves = [c for by in published.values() if isinstance(by, dict) for c in by.values()]
    leaves += list((told.get("background") or {}).values())
    if set(told.get("background") or {}) != _backgrounds(case):
        yield "commitments.json: the backgrounds are not those of the plan's haystack"
    if _root(leaves) != root:
        yield "commitments.json: the commitments do not make up the root"
    if case.whole:
        yield from _opened_commitments(case, case.whole, told)


def _root(leaves: list[Any]) -> str:
    from traps.facts import merkle_root

    try:
        return merkle_root(leaves)
    except (ValueError, TypeError):
        return ""


def _seeds(case: Case) -> range:
    config = case.stored.meaning.get("config", {})
    first = int(config.get("first_seed", 1))
    return range(first, first + min(int(config.get("seeds", 0)), 10_000))


def _backgrounds(case: Case) -> set[str]:
    if not case.stored.meaning.get("config", {}).get("haystack"):
        return set()
    return {f"{fixture}/{seed}" for fixture in {t.spec.fixture for t in case.traps.values()} for seed in _seeds(case)}


def _opened_commitments(case: Case, whole: Opened, told: dict[str, Any]) -> Iterator[str]:
    for (trap, seed), draw in whole.draws.items():
        published = told["commitments"].get(f"{trap}/{seed}")
        if published is None:
            yield f"facts: {trap}/{seed} is drawn and was never committed to"
            continue
        opened = draw.commitments()
        for name in sorted({*opened, *published}):
            if opened.get(name) != published.get(name):
                yield f"facts: {trap}/{seed} {name} is not the value that was committed to"
        if trap in case.traps and (bad := misfits(case.traps[trap], draw)):
            yield f"facts: {trap}/{seed} {', '.join(bad)}: not what this trap draws"
    past = commitments(whole.past)
    episodes = case.stored.meaning.get("config", {}).get("haystack")
    if past != (told.get("background") or {}) or any(drawn.episodes != episodes for drawn in whole.past.values()):
        yield "background: not the one that was committed to"
    if draw_digest(whole.draws, past.values()) != told.get("root"):
        yield "facts: together they do not make up the root"


def projection_problems(case: Case) -> Iterator[str]:
    """The public records are the whole ones with everything left out that is said to be, and nothing else changed."""
    seal = case.bundle.seal
    if seal is None:
        return
    arms = list(read_lines(layout.SEALED_ARMS, case.bundle.get(layout.SEALED_ARMS), ArmRecord))
    sessions = list(read_lines(layout.SEALED_SESSIONS, case.bundle.get(layout.SEALED_SESSIONS), SessionRecord))
    texts, models = check_texts(arms), configured_models(case.stored.meaning)
    shown = {
        layout.ARMS: [as_lines([a.but(public_arm(a.record, seal.pseudonym, texts, models))]) for a in arms],
        layout.SESSIONS: [as_lines([s.but(public_session(s.record, seal.pseudonym, models))]) for s in sessions],
    }
    owners: dict[str, list[str]] = {layout.ARMS: [a.arm for a in arms], layout.SESSIONS: [s.arm for s in sessions]}
    for name, lines in shown.items():
        public = case.bundle.get(name).splitlines(keepends=True)
        if len(public) != len(lines):
            yield f"{name}: {len(public)} records, {len(lines)} are sealed"
        for arm, line, seen in zip(owners[name], lines, public, strict=False):
            if line != seen:
                yield f"{name}: a record of {arm} is not the one that is sealed"
    if case.bundle.has(layout.LOST):
        lost = public_lost(read_lost(layout.SEALED_LOST, case.bundle.get(layout.SEALED_LOST)), seal.pseudonym, models)
        if lines_of(lost) != case.bundle.get(layout.LOST):
            yield f"{layout.LOST}: is not the one that is sealed"
    if case.whole and spent(case.whole) != case.bundle.get(layout.SPENT):
        yield f"{layout.SPENT}: is not what views and stores take"


def object_problems(case: Case) -> Iterator[str]:
    """Every tree, text and store that a record names is there, and nothing that no record names."""
    whole = case.whole
    if whole is None:
        return
    listed = [json.loads(line) for line in case.bundle.get(layout.TREES).splitlines()]
    trees = {tree["tree"] for tree in listed}
    texts = {digest for digest, _ in case.bundle.packs(layout.BLOB_PACK)}
    named_trees, named_texts = set[str](), set[str]()
    for told in _sealed_sessions(case):
        record = told.record
        named_trees |= record.trees
        named_texts |= record.texts | exchange_blobs([record])
    named_texts |= exchange_blobs([told.record for told in _sealed_arms(case)])
    if case.bundle.has(layout.SEALED_LOST):
        killed = read_lost(layout.SEALED_LOST, case.bundle.get(layout.SEALED_LOST))
        named_texts |= {each.use.exchange for each in killed} - {""}
    stores = {a.record.store for a in _sealed_arms(case)} - {""}
    for what, named, there in (("tree", named_trees, trees), ("text", named_texts | stores, texts)):
        for one in sorted(named - there):
            yield f"{what} {one[:16]} is named by a record and is not there"
        for one in sorted(there - named):
            yield f"{what} {one[:16]} is there and no record names it"
    named_chunks = set[str]()
    for store in sorted(stores & texts):
        try:
            parts = chunks(whole.folder, store)
        except UsageFault:
            yield f"store {store[:16]}: its manifest cannot be read"
            continue
        named_chunks |= set(parts)
        if lost := [part for part in parts if not whole.folder.has_packed(part)]:
            yield f"store {store[:16]}: chunk {lost[0][:16]} is not there"
    named_files = {digest for tree in listed for _, _, digest in tree["files"]}
    for one in sorted({digest for digest, _ in case.bundle.packs(layout.FILE_PACK)} - named_files):
        yield f"file {one[:16]} is there and belongs to no tree"
    for one in sorted({digest for digest, _ in case.bundle.packs(layout.CHUNK_PACK, bounded(CHUNK))} - named_chunks):
        yield f"chunk {one[:16]} is there and belongs to no store"


def _sealed_arms(case: Case) -> Iterator[Told[ArmRecord]]:
    return read_lines(layout.SEALED_ARMS, case.bundle.get(layout.SEALED_ARMS), ArmRecord)


def _sealed_sessions(case: Case) -> Iterator[Told[SessionRecord]]:
    return read_lines(layout.SEALED_SESSIONS, case.bundle.get(layout.SEALED_SESSIONS), SessionRecord)


def view_problems(case: Case) -> Iterator[str]:
    """The prompt of every session is the trap's text and the rendered view, as its carry manifest says.

    That of a further turn is what was said after its session, and nothing else.
    """
    whole = case.whole
    if whole is None:
        return
    for record in whole.records:
        for session in whole.sessions(record):
            trap = case.traps.get(record.trap)
            if trap is not None and (why := _view(whole, trap, record, session)):
                yield f"{where(record.arm, session)}: {why}"


def _view(whole: Opened, trap: Trap, record: ArmRecord, session: SessionRecord) -> str:
    if session.number not in (1, 2, 3):
        return "there is no such session"
    stored = whole.archive.view(session.view)
    if stored.problem:
        return f"the view cannot be read ({stored.problem})"
    try:
        view = View(tuple(item_from(item) for item in stored.items))
    except (ValueError, TypeError, KeyError, AttributeError):
        return "the view is none"
    told = _prompt(whole, trap, record, session, view)
    if isinstance(told, str):
        return told
    carried = {row.name: row for row in session.carried}
    for name, data in ((PROMPT, told.whole), (MEMORY, told.memory)):
        row, raw = carried.get(name), data.encode()
        if row is None or (row.bytes, row.sha256) != (len(raw), hashlib.sha256(raw).hexdigest()):
            return f"the {name} that was carried is not what the trap and the view make"
    if hashlib.sha256(told.whole.encode()).hexdigest() != session.prompt:
        return "the stored prompt is not what the trap and the view make"
    if kept.is_debrief(session) and view.items:
        return "a further turn was shown a view"
    if not kept.keeps(record.condition) and memory_bytes(view) != session.memory_bytes:
        return "the bytes of memory are not those of the view"
    return _over_budget(whole, record, session, view) or _miscounted(record, session, view)


def _prompt(whole: Opened, trap: Trap, record: ArmRecord, session: SessionRecord, view: View) -> Prompt | str:
    """The prompt as it has to be, or why it cannot be made."""
    spec = trap.spec.session[session.number - 1]
    if not kept.is_debrief(session):
        return prompt_of(trap.texts[spec.prompt], view, spec.date, whole.config.delivery)
    draw = whole.draws.get((record.trap, record.seed))
    if draw is None:
        return "the facts of its draw are not there"
    try:
        return Prompt(kept.debrief_prompt(trap, record.history, session.number, draw), "")
    except (TrapError, KeyError) as error:
        return f"what was to be told cannot be made ({str(error)[:200]})"


def _over_budget(whole: Opened, record: ArmRecord, session: SessionRecord, view: View) -> str:
    """Budgets hold for every condition but instruments; the number of items for those that do not claim "no-k".

    Where the agent asks, each answer has its budget.
    """
    card, budget = whole.stored.meaning.get("conditions", {}).get(record.condition, {}), whole.config.budget
    if card.get("instrument"):
        return ""
    taken = sum(count_tokens(item.text) for item in view.items)
    times = session.model.pulled if whole.config.delivery == "pull" and session.model else 1
    many = len(view.items) > times * budget.k and "no-k" not in card.get("capabilities", ())
    if taken > times * budget.tokens or many:
        return f"the view ({len(view.items)} items, {taken} tokens) is over the budget of the run"
    return ""


def _miscounted(record: ArmRecord, session: SessionRecord, view: View) -> str:
    """The arm's record tells of each item of S3's view."""
    types = tuple(item.type or "" for item in view.items)
    if session.number == 3 and (record.shown_types != types or len(record.shown) != len(types)):
        return "the items that the arm's record tells of are not those of the view"
    return ""
