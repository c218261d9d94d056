"""Refused frames are parked under the current name, in the code and wherever that name is repeated."""

from oracles.contract import forbids, requires, same

GOOD = {
    "units.receipts": "575303000030000000020102",
    "units.presence": "575303000002000000070000005a0e1ab9",
    "telemetry.live": "57530300001000000009036900abcd00000007",
}


def crc(data):
    value = 0xFFFF
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value * 2) ^ (0x1021 if value & 0x8000 else 0)
            value &= 0xFFFF
    return value.to_bytes(2, "big")


def framed(head):
    return head + crc(head)


def account_lines(subject):
    text = (subject.read("deploy/broker.acl") or b"").decode("utf-8")
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


@requires("refused frames are published to the current parking route")
def refused_frames_are_parked(subject, facts):
    noise = bytes(subject.random.randrange(1, 80) for _ in range(30))
    unknown = framed(bytes.fromhex("5753030000") + bytes([subject.random.randrange(0x60, 0xF0)]) + bytes(4))
    assert same(subject.call("wirespec.routes:target_for", noise), facts.new_route)
    assert same(subject.call("wirespec.routes:target_for", unknown), facts.new_route)


@requires("the broker accounts know the current parking route")
def accounts_follow(subject, facts):
    lines = account_lines(subject)
    assert ["allow", "collector", "publish", facts.new_route] in lines
    assert ["allow", "support", "read", facts.new_route] in lines


@requires("bulk data is parked while its route is down, and the table for the broker's people says so")
def last_resort_and_document(subject, facts):
    assert same(subject.call("wirespec.routes:resolve", "log_chunk", ["telemetry.bulk"]), facts.new_route)
    rows = (subject.read("docs/routing.md") or b"").decode("utf-8").splitlines()
    bulk = [row for row in rows if row.startswith("| `telemetry.bulk` |")]
    assert len(bulk) == 1 and f"`{facts.new_route}`" in bulk[0]
    assert any(row.startswith(f"| `{facts.new_route}` |") for row in rows)


@requires("frames that decode keep their routes, and a frame that will be repeated goes nowhere")
def other_frames_are_untouched(subject, facts):
    for route, head in GOOD.items():
        data = framed(bytes.fromhex(head))
        urgent = framed(data[:3] + b"\x01" + data[4:-2])
        assert same(subject.call("wirespec.routes:target_for", data), route)
        assert same(subject.call("wirespec.routes:target_for", urgent), "alarms.page")
        damaged = data[:-1] + bytes([data[-1] ^ subject.random.randrange(1, 256)])
        assert same(subject.call("wirespec.routes:target_for", damaged), None)
        assert same(subject.call("wirespec.routes:target_for", data[:-1]), None)
    assert same(subject.call("wirespec.routes:resolve", "alarm", ["alarms.desk"]), "units.presence")


@requires("the accounts that were there are all still there")
def accounts_are_kept(subject, facts):
    lines = account_lines(subject)
    assert ["allow", "gateway", "read", "commands.out"] in lines
    assert ["allow", "archive", "read", "telemetry.bulk"] in lines
    assert len(lines) == 16


@forbids("the former parking route is still named somewhere")
def former_route_left(subject, facts):
    subject.call("wirespec.routes:target_for", b"no frame at all")
    subject.call("wirespec.routes:table")
    return subject.mentions(facts.old_route)
