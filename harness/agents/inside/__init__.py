"""Programs of agents that run inside a sandbox. Standard library only; the harness puts them there as files.

Invariant: nothing here imports the rest of the package, and nothing in a name or a text that is sent to a model tells
what the session is a part of.
"""
