"""The part of a session that the deterministic agent runs inside: shapes, notes reader, tree edits, entry.

Invariant: standard library only and relative imports only, because these files are copied into the sandbox under
a neutral name; nothing here knows a trap, a construct or a condition.
"""
