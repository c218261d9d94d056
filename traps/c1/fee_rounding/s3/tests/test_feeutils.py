import json
import subprocess
import sys

import pytest


@pytest.fixture
def fees():
    import boltons.feeutils

    return boltons.feeutils


# A fee of 5 permille of whole tens of euros has no fraction of a cent in any part.
ENTRIES = [('2026-03-02', 'north', 4000), ('2026-03-02', 'depot', 11000), ('2026-03-03', 'north', -2000)]


def test_whole_cents(fees):
    assert fees.total_fee(iter(ENTRIES), 5) == 65
    assert fees.total_fee(ENTRIES, 0) == 0
    assert fees.total_fee([], 5) == 0
    assert type(fees.total_fee(ENTRIES, 1000)) is int


def test_statement(fees):
    lines = fees.statement(iter(ENTRIES), 5).split('\n')
    assert lines[:2] == ['amount 13000', 'fee 65']
    assert lines[2].startswith('scheme ')
    assert lines[3:] == ['']


@pytest.mark.parametrize('rate', [1001, -1, 5.0, '5', None, True])
def test_no_rate(fees, rate):
    with pytest.raises(ValueError) as caught:
        fees.total_fee(ENTRIES, rate)
    assert str(caught.value) == '{!r} is no rate'.format(rate)


@pytest.mark.parametrize('cents', ['12', 1.5, None, True])
def test_no_amount(fees, cents):
    with pytest.raises(ValueError) as caught:
        fees.statement([('2026-03-02', 'north', cents)], 5)
    assert str(caught.value) == '{!r} is no amount'.format(cents)


def run(rate, lines):
    return subprocess.run([sys.executable, '-m', 'boltons.feeutils', rate], input=lines, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)


def test_command(fees):
    lines = ''.join(json.dumps(entry) + '\n' for entry in ENTRIES)
    done = run('5', lines)
    assert (done.returncode, done.stdout) == (0, fees.statement(ENTRIES, 5))
    for rate, words in [('1001', '1001 is no rate'), ('5', "'x' is no amount")]:
        done = run(rate, lines if rate == '1001' else '["2026-03-02", "north", "x"]\n')
        assert (done.returncode, done.stdout) == (1, '')
        assert words in done.stderr
