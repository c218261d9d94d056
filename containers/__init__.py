"""Sandboxes: one protocol (`sandbox`), its implementations, image and toolchain building, self-check.

Invariant of the room: nothing here knows what a trap, a memory or an oracle is.
"""
