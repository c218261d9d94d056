"""A run as one file that a stranger can verify, replay and audit."""
