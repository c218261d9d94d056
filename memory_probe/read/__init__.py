"""Reading: candidates, gate, rank, pack.

Invariant: reading writes nothing, so reading twice gives the same view; every candidate ends in the view or among the
rejected with its reason.
"""
