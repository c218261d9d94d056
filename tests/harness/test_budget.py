"""Limits in USD, of a session and of a run: by hand, at random, by many threads, at a real relay."""

from __future__ import annotations

import threading
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.cost import parse_prices
from containers.relay import Dialect, Quota, Relay, Upstream, routes
from containers.relay_rules import Ledger, ModelUsage
from containers.relay_usage import Tokens
from containers.sandbox import Limits, Sandbox, Spec
from harness.config import ModelConfig
from harness.outcome import UsageFault
from harness.spending import COST, MAX_COST, Account, Budget, dearest, require_prices, use_of
from tests.containers.relay_kit import PROGRAM, Model, answer, said, shown
from tests.harness.spending_kit import TABLE, ledger, m


def test_a_model_without_a_price_is_refused_before_the_run() -> None:
    for limit, cost, option in ((Decimal(5), 0.0, "--max-cost"), (None, 0.5, "model.cost")):
        says = rf"^{option}: no price for model x-1 in table t-1: give model\.prices$"
        with pytest.raises(UsageFault, match=says):
            require_prices(ModelConfig(name="x-1", cost=cost), TABLE, limit)
        require_prices(ModelConfig(name="m", cost=cost), TABLE, limit)
    require_prices(ModelConfig(name="x-1"), TABLE, None)


def test_a_run_whose_past_has_no_price_takes_no_limit() -> None:
    with pytest.raises(UsageFault, match=r"^--max-cost: what this run has used before has no price"):
        Budget(Decimal(1), None, TABLE)
    assert not Budget(None, None, TABLE).exhausted


def test_one_session_by_hand() -> None:
    budget = Budget(Decimal("1.00"), Decimal("0.50"), TABLE)
    one = budget.open()
    assert one.gate(Ledger()) == ""
    assert one.gate(m(100_000)) == ""  # 0.20
    assert budget.total == Decimal("0.70")
    assert one.gate(m(249_999)) == ""
    assert one.gate(m(250_000)) == MAX_COST
    assert budget.exhausted
    one.close(m(260_000))
    one.close(m(999_999))
    assert budget.total == Decimal("1.02")


def test_sessions_under_way_count_for_each_other() -> None:
    budget = Budget(Decimal(1), Decimal(0), TABLE)
    one, two = budget.open(), budget.open()
    assert one.gate(m(300_000)) == ""
    assert two.gate(m(199_999)) == ""
    assert two.gate(m(200_000)) == MAX_COST
    assert one.gate(m(300_000)) == MAX_COST
    assert budget.open().gate(Ledger()) == MAX_COST


def test_a_session_has_a_limit_of_its_own() -> None:
    budget = Budget(None, Decimal(7), TABLE)
    one = budget.open(0.1)
    assert (one.gate(m(49_999)), one.gate(m(50_000))) == ("", COST)
    assert budget.open(0.0).gate(m(10**9)) == ""
    assert not budget.exhausted


def test_what_nobody_told_is_charged() -> None:
    """An endpoint that tells no tokens at all ends the run at once; later, the dearest session stands in."""
    silent = Budget(Decimal(1), Decimal(0), TABLE)
    assert silent.open().gate(m(None)) == MAX_COST
    budget = Budget(Decimal(1), Decimal(0), TABLE)
    budget.open().close(m(150_000))  # 0.30
    cut = budget.open()
    assert (cut.gate(m(50_000)), cut.gate(m(None, 2))) == ("", "")
    assert budget.total == Decimal("0.60")
    cut.close(m(None, 2))
    dear = budget.open()
    assert dear.gate(m(160_000)) == ""  # 0.32, more than the dearest
    assert dear.gate(m(None)) == ""
    assert budget.total == Decimal("0.92")


def test_kinds_without_a_price_are_bounded_for_the_limit_alone() -> None:
    bare = ledger(ModelUsage("bare", 1, Tokens(300_000, 0, cached=100_000, written=100_000)))
    assert use_of(bare, "", TABLE).usd is None
    assert use_of(bare, "", dearest(TABLE)).amount == Decimal("0.1") + Decimal("0.1") + Decimal("0.2")
    free = parse_prices('version = "f"\n[model.m]\ninput = 1\noutput = 1\nwritten = 0\n')
    assert dearest(free).model["m"].written == 0
    budget = Budget(Decimal("0.4"), Decimal(0), TABLE)
    assert budget.open().gate(bare) == MAX_COST


def test_the_longest_prompt_is_found_while_it_runs() -> None:
    """A price that holds for short prompts is kept for a session of many of them."""
    one = Budget(Decimal(1), Decimal(0), TABLE).open()
    for read in (400, 1400, 1900):
        assert one.gate(ledger(ModelUsage("short", 1, Tokens(read, 0)))) == ""
    last = ledger(ModelUsage("short", 4, Tokens(2_900, 0)))
    one.close(last)
    assert one.longest == {"short": 1000}
    assert use_of(last, "", TABLE, one.longest).amount == Decimal("0.0029")


def test_many_sessions_at_once_add_up() -> None:
    budget = Budget(Decimal("1e9"), Decimal(0), TABLE)

    def play(number: int) -> None:
        account = budget.open()
        for call in range(1, 51):
            assert account.gate(m(call * number, call)) == ""
        account.close(m(50 * number, 50))

    threads = [threading.Thread(target=play, args=(n,)) for n in range(1, 33)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.total * 1_000_000 == 2 * 50 * sum(range(1, 33))


@given(
    st.lists(st.lists(st.integers(0, 10**6), min_size=1, max_size=5), min_size=1, max_size=6),
    st.integers(0, 10**7),
)
def test_a_gate_closes_exactly_at_the_limit(sessions: list[list[int]], micro: int) -> None:
    """Calls of several sessions in turn: shut if and only if what all have cost has reached the limit."""
    limit = Decimal(micro) / 1_000_000
    budget = Budget(limit, Decimal(0), TABLE)
    accounts: list[Account] = [budget.open() for _ in sessions]
    read = [0] * len(sessions)
    for turn in range(5):
        for number, calls in enumerate(sessions):
            if turn < len(calls):
                read[number] += calls[turn]
                shut = accounts[number].gate(m(read[number]))
                assert shut == (MAX_COST if 2 * sum(read) >= micro else "")
    for number, account in enumerate(accounts):
        account.close(m(read[number]))
    assert budget.total == Decimal(2 * sum(read)) / 1_000_000


def test_a_gate_at_a_real_relay(box: Sandbox, tmp_path: Path) -> None:
    """Three calls of 7 + 2 tokens at 1 USD a token, with 20 USD for the run: the third is not let through."""
    table = parse_prices('version = "t"\n[model.m]\ninput = 1_000_000\noutput = 1_000_000\n')
    budget = Budget(Decimal("17.5"), Decimal(0), table)
    with Model(answer(said())) as model, Relay(Upstream(model.url, "", routes(Dialect.CHAT))) as relay:
        account = budget.open()
        opened = relay.open(Quota(), tmp_path / "x.jsonl", account.gate)
        code = PROGRAM + "show(*[ask()[0] for _ in range(3)])"
        result = box.run(Spec(("python3", "-c", code), cwd="/tmp", limits=Limits(wall=30), endpoint=opened))
        opened.release()
        account.close(opened.ledger())
        assert shown(result) == [[200, 200, 429]]
        assert len(model.seen) == 2
    found = use_of(opened.ledger(), "", table, account.longest)
    assert (found.calls, found.hit, found.amount) == (2, (MAX_COST,), Decimal(18))
    assert found.tokens[0].longest == 7
    assert budget.total == 18
    assert budget.exhausted
