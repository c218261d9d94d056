"""Agents whose program runs on the host, while the commands that it asks for run in the sandbox."""
