"""The values that only exist on the border: `Opaque`, `Raised`, `Record`, and the caps of what may cross it.

Invariant: none of them is truthy, and none equals a plain value, so a careless check fails instead of passing.
Runs on both sides of the border; standard library only.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost a tenth of the start time here
    from typing import Any, NoReturn

VERSION = 1
MAX_TEXT = 4 << 20  # characters of one encoded value
MAX_NODES = 100_000  # values in one value
MAX_DEPTH = 48  # nesting of containers
MAX_NAME = 200  # characters of a type name
SMALL = 1 << 53  # integers below this are plain JSON numbers


class WireError(ValueError):
    """The text is not an encoded value, or the value has no exact form (writing strictly)."""


class WireLimit(WireError):
    """The value is larger, deeper or has more parts than may travel."""


class _Fixed:
    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self!r} cannot be changed")

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} has no truth value")


class Opaque(_Fixed):
    """Something without a plain form; only its type's name is known. It has no equality and no truth value."""

    __slots__ = ("type",)
    type: str

    def __init__(self, type: str) -> None:
        object.__setattr__(self, "type", type)

    def __repr__(self) -> str:
        return f"Opaque({self.type!r})"

    def __eq__(self, other: object) -> bool:
        raise TypeError(f"{self!r} cannot be compared")

    __hash__ = None  # type: ignore[assignment]


class Raised(_Fixed):
    """A call ended with an exception of the class named `type` (bare name). It has no truth value.

    The types SubjectDied, SubjectTimeout, SubjectGarbled, SubjectFlood and SubjectStale say that there is no
    answer at all; those equal nothing, not even themselves.
    """

    __slots__ = ("message", "type")
    type: str
    message: str

    def __init__(self, type: str, message: str) -> None:
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "message", message)

    def __repr__(self) -> str:
        return f"Raised({self.type!r}, {self.message!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Raised) or self.type.startswith("Subject"):
            return False
        return self.type == other.type and self.message == other.message

    def __hash__(self) -> int:
        return hash((self.type, self.message))


class Record(_Fixed):
    """A dataclass instance, an enum member (fields `name`, `value`) or a named tuple.

    `type` is the bare class name, `fields` the fields in order; `record["field"]` reads one.
    """

    __slots__ = ("fields", "type")
    type: str
    fields: dict[str, Any]

    def __init__(self, type: str, fields: dict[str, Any]) -> None:
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "fields", dict(fields))

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __repr__(self) -> str:
        return f"Record({self.type!r}, {self.fields!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.type == other.type and self.fields == other.fields

    __hash__ = None  # type: ignore[assignment]
