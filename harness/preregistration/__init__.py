"""A plan that is signed before its first session, and what happens when a run differs from it."""
