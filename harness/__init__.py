"""Harness: plan, session loop, scoring, ledger, agents and the command line."""
