"""Traps: format, loader, facts, static gates, the general reader; trap and fixture folders as data.

Invariant of the room: it runs nothing that a trap contains; folders below are data, never packages.
"""
