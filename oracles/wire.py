"""Exact values as JSON text: what is sent to the agent's side and what comes back.

Invariant: `loads(dumps(v))` is `v` with every type exact, for None, bool, int, float, complex, str, bytes, list,
tuple, dict, set, frozenset, Decimal, date, time, datetime (naive or with a fixed offset), timedelta and Path;
and nothing else ever equals such a value.
"""

from oracles.decode import loads
from oracles.encode import dumps, same, type_name
from oracles.values import Opaque, Raised, Record, WireError, WireLimit

__all__ = ["Opaque", "Raised", "Record", "WireError", "WireLimit", "dumps", "loads", "same", "type_name"]
