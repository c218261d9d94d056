"""Statements for the bank: what went through it, and the fee that it takes.

The fee is rounded part by part, in whole numbers only.
"""

import sys

from .jsonutils import JSONLIterator


__all__ = ['statement', 'total_fee']

#: The bank has the way of rounding on file under this name.
SCHEME = '<< scheme >>'


def total_fee(entries, permille):
    """The fee of all entries in whole cents.

    Args:
        entries (iterable): Tuples of day, customer and cents.
        permille (int): Thousandths of the amounts, 0 to 1000.
    """
    if type(permille) is not int or not 0 <= permille <= 1000:
        raise ValueError('%r is no rate' % (permille,))
    parts = {}
    for number, (day, customer, cents) in enumerate(entries):
        if type(cents) is not int:
            raise ValueError('%r is no amount' % (cents,))
        key = << {'each-entry': 'number', 'each-day': 'day', 'each-customer': 'customer', 'each-day-and-customer': '(day, customer)', 'each-sign': 'cents < 0'}[part] >>
        parts[key] = parts.get(key, 0) + cents
    return sum(_rounded(amount * permille) for amount in parts.values())


def _rounded(thousandths):
    whole, rest = divmod(thousandths, 1000)
    return whole + (rest >= 500)


def statement(entries, permille):
    """The statement as a text of three lines."""
    entries = list(entries)
    fee = total_fee(entries, permille)
    amount = sum(cents for _, _, cents in entries)
    return 'amount %s\nfee %s\nscheme %s\n' % (amount, fee, SCHEME)


def _main(args):
    if len(args) != 1:
        sys.exit('usage: python -m boltons.feeutils PERMILLE < entries')
    rate = int(args[0]) if args[0].isdigit() else args[0]
    try:
        sys.stdout.write(statement(JSONLIterator(sys.stdin), rate))
    except ValueError as error:
        sys.exit(str(error))


if __name__ == '__main__':
    _main(sys.argv[1:])
