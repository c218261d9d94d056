"""What killed sessions had used of a model, as lines of a bundle: whole and sealed, and their amounts in the open.

Invariant: a line is read back to the entry that it was made from, and a line that is not one of these is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from pydantic import ValidationError

from harness.bundle.container import BundleError
from harness.bundle.public import Pseudonym, public_use
from harness.leftovers import Lost
from traps.schema import explain


def lines_of(lost: Iterable[Lost]) -> bytes:
    """One line an entry, in the order given."""
    return b"".join(each.model_dump_json().encode() + b"\n" for each in lost)


def read_lost(name: str, data: bytes) -> list[Lost]:
    """Raises BundleError naming member and line: malformed, of an unknown version, not in the form that we write."""
    found = []
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        try:
            each = Lost.model_validate_json(line)
        except ValidationError as error:
            raise BundleError(f"{name}:{number}: {explain(error)[:300]}") from None
        if lines_of([each]) != line:
            raise BundleError(f"{name}:{number}: is not in the form that a bundle has")
        found.append(each)
    return found


def public_lost(lost: Iterable[Lost], pseudonym: Pseudonym, models: Collection[str]) -> Sequence[Lost]:
    """The entries without what a program chose, as in `public_session`."""
    return [each.model_copy(update={"use": public_use(each.use, pseudonym, models)}) for each in lost]
