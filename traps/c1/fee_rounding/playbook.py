"""Ends of months, units of sizes, statements with a fee."""

TIMES = "boltons/timeutils.py"
TEXTS = "boltons/strutils.py"
FEES = "boltons/feeutils.py"

#: What the entries of a part have in common.
PARTS = {
    "each-entry": "number",
    "each-day": "day",
    "each-customer": "customer",
    "each-day-and-customer": "(day, customer)",
    "each-sign": "cents < 0",
}

#: Whole cents from thousandths of a cent: `whole` is the cent below, `rest` what is left of it.
WAYS = {
    "half-even": "whole + (rest > 500 or (rest == 500 and whole % 2 == 1))",
    "half-odd": "whole + (rest > 500 or (rest == 500 and whole % 2 == 0))",
    "towards-zero": "whole + (rest > 0 and whole < 0)",
    "away-from-zero": "whole + (rest > 0 and whole >= 0)",
    "floor": "whole",
    "ceiling": "whole + (rest > 0)",
}

MODULE = '''"""Statements for the bank: what went through it, and the fee that it takes.

The fee is rounded part by part, in whole numbers only.
"""

import sys

from .jsonutils import JSONLIterator


__all__ = ['statement', 'total_fee']

#: The bank has the way of rounding on file under this name.
SCHEME = '@SCHEME@'


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
        key = @KEY@
        parts[key] = parts.get(key, 0) + cents
    return sum(_rounded(amount * permille) for amount in parts.values())


def _rounded(thousandths):
    whole, rest = divmod(thousandths, 1000)
    return @WAY@


def statement(entries, permille):
    """The statement as a text of three lines."""
    entries = list(entries)
    fee = total_fee(entries, permille)
    amount = sum(cents for _, _, cents in entries)
    return 'amount %s\\nfee %s\\nscheme %s\\n' % (amount, fee, SCHEME)


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
'''


def s1(work, notes):
    work.replace(
        TIMES,
        "            now = now.replace(year=now.year + m_y_step,\n"
        "                              month=(cur_month + 1))\n",
        "            year, month = now.year + m_y_step, cur_month + 1\n"
        "            day = now.day if d_step else start.day\n"
        "            now = now.replace(year=year, month=month,\n"
        "                              day=min(day, monthrange(year, month)[1]))\n",
    )
    work.replace(TIMES, "import bisect\n", "import bisect\nfrom calendar import monthrange\n")


def s2(work, notes):
    text = work.read(TEXTS)
    start = text.index("    abs_bytes = abs(nbytes)\n")
    end = text.index("    hnbytes = float(nbytes) / size\n")
    work.replace(
        TEXTS,
        text[start:end],
        "    abs_bytes = abs(nbytes)\n"
        "    for size, symbol in _SIZE_BOUNDS:\n"
        "        # what is printed counts, so 1023.9 may already be the next unit\n"
        "        if float('%.*f' % (ndigits, abs_bytes / size)) < 1024:\n"
        "            break\n",
    )


def s3(work, notes):
    part = notes.recall("word", about="fee of the bank rounded once for which part", path=FEES)
    how = notes.recall("word", about="fraction of a cent rounded", path=FEES)
    scheme = notes.recall("tag", about="scheme on file statement", path=FEES)
    text = MODULE.replace("@KEY@", PARTS.get(part, "None"))
    text = text.replace("@WAY@", WAYS.get(how, "whole + (rest >= 500)"))
    work.write(FEES, text.replace("@SCHEME@", scheme or "standard"))
