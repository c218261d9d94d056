"""What is wrong with a file that a person wrote, in one line.

Invariant: every fault is named with its key; a version that is not known is said in the same words for every format.
"""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_core import ErrorDetails


def explain(error: ValidationError) -> str:
    """Every fault with its key, or `file` for one of the whole."""
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'file'}: {_says(e)}" for e in error.errors())


def _says(fault: ErrorDetails) -> str:
    if fault["type"] == "literal_error" and fault["loc"] == ("schema",):
        return f"{repr(fault['input'])[:20]} is not known here (expected {fault['ctx']['expected']})"
    return fault["msg"]
