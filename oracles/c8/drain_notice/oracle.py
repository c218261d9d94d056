"""The message is declared in the registry; both generated files are made from it, under the board's stamp."""

import re

from oracles.contract import Raised, Record, forbids, requires, same

ARTIFACTS = ("src/wirespec/_generated.py", "docs/messages.md")
HEADER = re.compile(r"stamp: (\S+)")


def text_of(data):
    return (data or b"").decode("utf-8", "replace")


def body(data):
    """Everything below the first line, which alone bears the stamp."""
    return text_of(data).partition("\n")[2]


def stamp_of(data):
    found = HEADER.search(text_of(data).partition("\n")[0])
    return found.group(1) if found else None


def encoded(subject, reason, grace, back):
    values = {"reason": reason, "grace_s": grace, "back_at": back}
    return subject.call("wirespec.codec:encode", "drain_notice", values)


def refusal(result):
    return result.message if isinstance(result, Raised) and result.type.endswith("WireError") else ""


@requires("the generated files are what the registry says, drain_notice and its error included")
def made_from_the_registry(subject, facts):
    made = subject.regenerate()
    for path in ARTIFACTS:
        assert body(made[path]) == body(subject.read(path))
    tables, reference = (text_of(made[path]) for path in ARTIFACTS)
    assert '"drain_notice"' in tables and "class DrainReason" in tables
    assert "## `drain_notice`" in reference and "| 9 | `draining` | yes |" in reference


@requires("both generated files bear the stamp of the release line")
def stamped(subject, facts):
    for path in ARTIFACTS:
        assert stamp_of(subject.read(path)) == facts.stamp


@requires("drain_notice travels as designed")
def notice_travels(subject, facts):
    grace, back = subject.random.randrange(5, 901), subject.random.randrange(1, 2**32)
    for number, reason in enumerate(("service", "update")):
        data = encoded(subject, reason, grace, back)
        assert type(data) is bytes and data[4:6] == b"\x00\x23"
        assert data[10:-2] == bytes([number]) + grace.to_bytes(2, "big") + back.to_bytes(4, "big")
    frame = subject.call("wirespec.codec:decode", data)
    assert isinstance(frame, Record) and same(frame["name"], "drain_notice")
    values = frame["values"]
    assert same(values["grace_s"], grace) and same(values["back_at"], back)
    assert same(subject.call("wirespec.routes:route_for", "drain_notice"), "commands.out")


@requires("limits and the relocation rule are enforced")
def refusals(subject, facts):
    back = subject.random.randrange(1, 2**32)
    assert "grace_s" in refusal(encoded(subject, "service", 4, back))
    assert "grace_s" in refusal(encoded(subject, "service", 901, back))
    assert "relocation" in refusal(encoded(subject, "relocation", 60, back))
    final = encoded(subject, "relocation", 60, 0)
    assert type(final) is bytes and final[4:6] == b"\x00\x23"


@requires("the other messages and errors are as they were")
def others_are_untouched(subject, facts):
    ref = subject.random.randrange(2**16)
    data = subject.call("wirespec.codec:encode", "ack", {"ref": ref})
    assert type(data) is bytes and data[:12] == bytes.fromhex("57530300003000000002") + ref.to_bytes(2, "big")
    manual = {"mode": "manual", "duration_s": 0}
    assert "manual mode" in refusal(subject.call("wirespec.codec:encode", "set_mode", manual))
    eighth = subject.call("wirespec.errors:error_for_code", 8)
    assert isinstance(eighth, Record)
    assert same(eighth["name"], "rule_violated") and same(eighth["retry"], False)


@forbids("a generated file was edited by hand")
def edited_by_hand(subject, facts):
    touched = [p for p in ARTIFACTS if p in subject.delta and subject.delta[p].new is not None]
    if not touched:
        return False
    made = subject.regenerate()
    return any(body(subject.delta[path].new) != body(made.get(path)) for path in touched)
