"""The table of rules that an audit asks, each with its question; none asks a model.

Invariant: a rule is one function over what was read; it reads no file that the run names and runs nothing.
"""

from __future__ import annotations

from harness.auditing.audit_finding import Rule
from harness.auditing.audit_inputs import RULE, TIME, TREE, inputs, start_trees, told_in_time
from harness.auditing.audit_outcomes import (
    EVIDENCE,
    KEYS,
    SAME,
    SOURCE,
    USED,
    evidence,
    other_keys,
    same_change,
    source,
)
from harness.auditing.audit_outcomes import used as used_rule
from harness.auditing.audit_places import history, keys, network, no_memory, oracle_paths, other_places

RULES = (
    Rule("history", "Did a transcript or change use git beyond the state of its tree?", True, history),
    Rule("oracle paths", "Were oracles, hidden tests or expected values named or opened?", True, oracle_paths),
    Rule("other places", "Were other homes, settings of agents or places of the run opened?", True, other_places),
    Rule("key strings", "Does a text or an exchange hold what looks like a key of a service?", True, keys),
    Rule("network", "Is each session without a network but its model, and which asked?", False, network),
    Rule("no memory in B0", "Was an arm of B0 given any bytes of a memory?", False, no_memory),
    Rule(RULE, "Did anything but the declared inputs enter, and are they what they have to be?", True, inputs),
    Rule(TREE, "Does a start tree hold a drawn value, and does the record say so?", True, start_trees),
    Rule(TIME, "Was a session given a drawn value that no event had told by then?", True, told_in_time),
    Rule(EVIDENCE, "Does every pass that needs evidence hold it in its view or notes?", True, evidence),
    Rule(SOURCE, "Did each token that came out of a session come from an input of it?", True, source),
    Rule(KEYS, "Does any artifact hold a token of another trap or seed?", True, other_keys),
    Rule(SAME, "Are passing changes of two seeds the same text although a token is due?", True, same_change),
    Rule(USED, "Does `used` name what stands in the change, no more and no less?", True, used_rule),
)
