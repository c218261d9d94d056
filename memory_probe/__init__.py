"""Memory: the protocol every memory implements, the renderer, the conditions.

Invariant of the room: it knows no trap, no construct and no sandbox.
"""
