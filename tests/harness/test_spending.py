"""What sessions cost, as records, as sums, as an estimate, in a report and in a bundle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from analysis.report.source import Spent
from containers.relay_rules import Ledger, ModelUsage, Refused
from containers.relay_rules import total as summed
from containers.relay_usage import Tokens
from containers.sandbox import Sandbox
from harness.archive import Archive
from harness.bundle.freeze import freeze
from harness.bundle.opened import open_run
from harness.bundle.public import configured_models, public_arm, public_session
from harness.bundle.signing import SigningKey
from harness.outcome import Outcome
from harness.records import ArmRecord, Ending, ModelUse, SessionRecord, exchange_blobs, uses
from harness.reporting import report
from harness.rundir import RunDir
from harness.spending import estimate, spent, total, use_of
from harness.used import used_rows, with_models
from harness.verification.verify import verify
from tests.harness.model_kit import MODEL, WORK, play
from tests.harness.spending_kit import TABLE, M, arm, ledger, session, use
from tests.model.server import ModelServer

#: The keys of a record before there were models.
SESSION = (
    "schema_version number reader tree_in tree_out carried memory_bytes prompt view transcript exit timed_out hit "
    "active dropped check seconds network"
)
ARM = (
    "schema_version arm trap construct_ condition seed history main expect warm_up carried_by_tree injected receipts "
    "store shown endings seconds attempt shown_types contradictions sleep refused"
)


def test_a_session_by_hand() -> None:
    refused = tuple(Refused("GET", f"/v1/models/{n}", 404, "not a target") for n in range(30))
    more = {"refused": refused, "refusals": 31, "repeats": 2, "cut": 1, "waited": 1.23456, "wall": 9.0, "pulled": 3}
    found = use_of(ledger(M, hit=("calls",), **more), "e" * 64, TABLE)
    # 500,000 fresh at 2, 400,000 cached at 0.5, 100,000 written at 3, 200,000 out at 10
    assert found.amount == Decimal("1.0") + Decimal("0.2") + Decimal("0.3") + Decimal("2.0")
    assert (found.prices, found.unpriced, found.hit) == ("t-1", (), ("calls",))
    assert (found.calls, found.repeats, found.refusals, found.cut, found.pulled) == (7, 2, 31, 1, 3)
    assert (found.waited, found.wall, found.exchange) == (1.2346, 9.0, "e" * 64)
    assert len(found.refused) == 20
    assert found.refused[0] == "GET /v1/models/0: not a target"
    (tokens,) = found.tokens
    assert (tokens.model, tokens.calls, tokens.input, tokens.output, tokens.cached, tokens.written) == (
        "m", 7, 1_000_000, 200_000, 400_000, 100_000,
    )  # fmt: skip
    assert found.total("input", "output") == 1_200_000


def test_unknown_is_none_and_says_whose() -> None:
    found = use_of(ledger(M, ModelUsage("other", 1, Tokens(5, 5)), ModelUsage("m2", 1, None)), "", TABLE)
    assert (found.usd, found.unpriced) == (None, ("m2", "other"))
    assert found.total("input") is None
    assert found.total() == 0
    assert use_of(Ledger(), "", TABLE).amount == 0


def test_a_price_for_short_prompts_needs_the_longest() -> None:
    short = ledger(ModelUsage("short", 9, Tokens(5_000, 0)))
    assert use_of(short, "", TABLE).usd is None
    assert use_of(short, "", TABLE, {"short": 1000}).amount == Decimal("0.005")
    assert use_of(short, "", TABLE, {"short": 1001}).usd is None


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_an_amount_is_kept_to_the_last_digit(read: int, made: int) -> None:
    found = use_of(ledger(ModelUsage("m", 1, Tokens(read, made))), "", TABLE)
    again = ModelUse.model_validate_json(found.model_dump_json())
    assert again == found
    assert again.amount is not None
    assert again.amount * 1_000_000 == read * 2 + made * 10


@pytest.mark.parametrize("usd", ["NaN", "-1", "1e3", "", "0x1", "1.", "Infinity", " 1"])
def test_what_is_no_amount_is_refused(usd: str) -> None:
    told = use("1").model_dump() | {"usd": usd}
    with pytest.raises(ValidationError, match="usd"):
        ModelUse.model_validate(told)


def test_a_record_without_a_model_is_what_it_was() -> None:
    """Records of the time before are read and written to the byte."""
    for record, keys in ((session(None), SESSION), (arm(None), ARM)):
        text = record.model_dump_json()
        assert list(json.loads(text)) == list(record.model_dump()) == keys.split()
        assert type(record).model_validate_json(text).model_dump_json() == text


def test_a_record_with_a_model_comes_back() -> None:
    record = session(use("0.25", exchange="a" * 64), paid_in=2)
    assert SessionRecord.model_validate_json(record.model_dump_json()) == record
    assert ArmRecord.model_validate_json(arm(use("0.25")).model_dump_json()).asked == use("0.25")
    records = [session(use("1", exchange="a" * 64)), session(None), arm(use("1", exchange="b" * 64))]
    assert exchange_blobs(records) == {"a" * 64, "b" * 64}


def test_sums_over_records() -> None:
    records = [session(use("0.25")), session(None), arm(use("1.5")), session(use("9"), paid_in=1)]
    assert len(list(uses(records))) == 2
    assert spent(records) == Decimal("1.75")
    assert spent([*records, session(use(None))]) is None
    assert spent([]) == 0


def test_a_limit_counts_the_unknown_as_the_dearest() -> None:
    assert total([use("0.25"), use("1.5"), use(None), use(None)]) == Decimal("4.75")
    assert total([use(None)]) is None
    assert total([]) == 0


def test_the_public_part_keeps_counts_and_no_word_of_an_agent() -> None:
    """An agent may ask for a model of any name at any target, and a fact may be in either."""
    refused = (Refused("GET", "/v1/secret-8443", 404, "not a target"),)
    seen = ledger(M, ModelUsage("secret-8443", 1, None), refused=refused, refusals=1, hit=("calls",))
    told = use_of(seen, "e" * 64, TABLE).model_copy(update={"trouble": "http://inner:8443 is down"})
    for public in (
        public_session(session(told), lambda name: name and "alias", {"m"}).model,
        public_arm(arm(told), lambda name: name and "alias", (), {"m"}).asked,
    ):
        assert public is not None
        assert "8443" not in public.model_dump_json()
        assert (public.exchange, public.refused, public.trouble) == ("alias", ("(sealed)",), "(sealed)")
        assert [entry.model for entry in public.tokens] == ["m", "(sealed)"]
        assert (public.calls, public.hit, public.total("input"), public.unpriced) == (
            8,
            ("calls",),
            None,
            ("(sealed)",),
        )
        assert public.tokens[0] == told.tokens[0]
    none = public_session(session(None), lambda name: name and "alias")
    assert none.model is None
    assert configured_models({"config": {"model.name": "m", "judge.name": "", "seeds": 1}}) == {"m"}


def test_rows_of_every_attempt(tmp_path: Path) -> None:
    """The second attempt took S1 over and ran S2 again; the memory asked in both; a third session was killed."""
    name = "t/B3/1/given"
    asked = [arm(use(usd)).model_copy(update={"attempt": n}) for n, usd in ((1, "16"), (2, "32"))]
    sessions = {
        (name, 1): [session(use("1")), session(use("2"), number=2)],
        (name, 2): [session(use("1"), paid_in=1), session(use("4"), number=2)],
        ("t/B5/1/given", 1): [session(use("8")), session(None, number=2)],
    }
    archive = Archive(RunDir(tmp_path), sessions, asked=tuple(asked))
    found = used_rows(asked[1:], archive, [use("64")])
    told = {str(row.usd): (row.condition, row.phase, row.counts) for row in found}
    assert len(found) == len(told)
    assert told == {
        "1": ("B3", "wake", True), "2": ("B3", "wake", False), "4": ("B3", "wake", True), "8": ("B5", "wake", False),
        "16": ("B3", "sleep", False), "32": ("B3", "sleep", True), "64": ("", "wake", False),
    }  # fmt: skip
    bare = Spent("B3", "", 1, 1, 1.0)
    ending = Ending(reader="-", outcome=Outcome.PASS, cause="")
    whole = with_models(bare, asked[1], ending, sessions[name, 2])
    assert (whole.calls, whole.model_tokens, whole.usd) == (3, 30, 37.0)
    unpriced = with_models(bare, arm(None), ending, [session(use(None))])
    assert (unpriced.calls, unpriced.usd) == (1, None)
    assert with_models(bare, arm(None), ending, [session(None)]) == bare


@pytest.mark.long
def test_a_real_run_is_priced_reported_and_frozen(box: Sandbox, mini: Mapping[str, str], tmp_path: Path) -> None:
    """Six sessions of an agent at a scripted model, at 1 USD a token: record, report, bundle say the same."""
    prices = tmp_path / "prices.toml"
    prices.write_text(
        f'version = "mine"\n[model."{MODEL}"]\ninput = 1_000_000\ncached = 1_000_000\noutput = 1_000_000\n'
    )
    with ModelServer(WORK) as server:
        played = play(server, box, mini, tmp_path / "run", ["conditions=B0,B5", f"model.prices={prices}"])
    found = list(uses(record for _, _, record in played.sessions))
    tokens = [one.total("input", "output") for one in found]
    assert len(found) == 6
    assert [one.amount for one in found] == tokens
    whole = sum(t for t in tokens if t is not None)
    assert spent(record for _, _, record in played.sessions) == whole > 100
    folder = RunDir.open(tmp_path / "run")
    text = report(folder, played.records).text
    assert f"Models were asked in 6 sessions, 12 calls, for {whole}.0000 USD" in " ".join(text.split())
    key = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes(32)))
    freeze(open_run(folder.path), tmp_path / "run.dbf", key, reveal=True)
    done = {check.name: check for check in verify(tmp_path / "run.dbf").checks}
    for name in ("plan", "channel", "public part", "objects", "statistics", "report", "page"):
        assert done[name].state == "ok", done[name]


def test_an_estimate_by_hand() -> None:
    records = [session(use(f"0.{n}", calls=n, tokens=100 * n)) for n in range(1, 10)]
    records += [session(use(None, calls=10, tokens=None)), session(None), session(use("9"), paid_in=1)]
    found = estimate(records)
    assert found is not None
    assert (found.sessions, found.calls.mean, found.calls.high, found.calls.known) == (10, 5.5, 9.0, 10)
    assert (found.tokens.mean, found.tokens.high, found.tokens.known) == (500.0, 900.0, 9)
    assert (found.usd.mean, found.usd.high, found.usd.known) == (0.5, 0.9, 9)
    assert found.lines(3000) == [
        ("calls", "16,500", "27,000"),
        ("tokens", "1,500,000", "2,700,000 (from the 9 whose are known)"),
        ("USD", "1,500.00", "2,700.00 (from the 9 whose are known)"),
    ]
    assert found.plain(2)["usd"] == {"mean": 1.0, "high": 1.8, "known": 9}
    assert estimate([session(None)]) is None
    unknown = estimate([session(use(None, tokens=None))])
    assert unknown is not None
    assert unknown.lines(2)[1:] == [("tokens", "not known", "not known"), ("USD", "not known", "not known")]


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=40))
def test_nine_in_ten_do_not_exceed_the_high_estimate(calls: list[int]) -> None:
    found = estimate([session(use("1", calls=n)) for n in calls])
    assert found is not None
    assert found.calls.high in calls
    assert sum(n <= found.calls.high for n in calls) * 10 >= 9 * len(calls)
    below = [n for n in calls if n < found.calls.high]
    assert len(below) * 10 < 9 * len(calls)


def test_tokens_of_a_ledger_are_those_of_the_record() -> None:
    parts = [Tokens(5, 1), Tokens(7, 2, cached=3)]
    found = use_of(ledger(ModelUsage("m", 2, summed(parts))), "", TABLE)
    assert (found.total("input"), found.total("output"), found.total("cached")) == (12, 3, 3)
