"""Run the command line of the package: `python -m tabulate [--check FILE]`."""

import csv
import sys

from tabulate import _main
from tabulate.checked import checked


def main():
    if sys.argv[1:2] != ["--check"]:
        return _main()
    if len(sys.argv) != 3:
        sys.exit("usage: python -m tabulate --check FILE")
    with open(sys.argv[2], encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream)) or [[]]
    print(checked(rows, header))


if __name__ == "__main__":
    main()
