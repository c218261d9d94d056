"""Measurements: every figure is a ratio of two things timed in turn in one run, because machines are noisy.

Invariant: nothing here is a test; `python -m bench` prints each ratio beside its bound and exits 3 when one is broken.
"""
