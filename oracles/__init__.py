"""Oracles: the contract, the subject (remote hands on the agent's code), the judge; hidden checks as data.

Invariant of the room: an expected value never enters the process that runs the agent's code.
"""
