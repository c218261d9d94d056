"""Billing exports in Frankfurt go through the lane agreed for them, and lanes show up in journal and report."""

import json

from oracles.contract import forbids, requires

WRITE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
SEE_LANE = """["sh", "-c", "printf %s \\"$TEMPO_LANE\\""]"""

OTHERS = (
    "imports_frankfurt",
    "exports_dublin",
    "ledger_frankfurt",
    "exports_warsaw",
    "reports_frankfurt",
    "payroll_frankfurt",
    "exports_madrid",
    "ledger_dublin",
)


def tempo(subject, *words):
    return subject.run(["python", "-m", "tempo", *words])


def put(subject, path, text):
    assert subject.run(["python", "-c", WRITE, path], stdin=text.encode()).exit == 0


def run_one(subject, queue, site):
    """The journal entry of one run of a job that prints the lane it sees."""
    job = f'[[job]]\nname = "probe"\nschedule = "@daily"\nqueue = "{queue}"\ncommand = {SEE_LANE}\n'
    put(subject, "probe/jobs.toml", f'[tempo]\nsite = "{site}"\n\n{job}')
    assert tempo(subject, "run", "probe/jobs.toml", "probe", "--at", "2026-02-16T04:00").exit == 0
    lines = (subject.read("probe/journal.jsonl") or b"").decode().splitlines()
    return json.loads(lines[-1])


def folder(subject):
    assert subject.run(["mkdir", "probe"]).exit == 0


@requires("runs of billing exports in Frankfurt go through the agreed lane")
def agreed_lane(subject, facts):
    folder(subject)
    assert run_one(subject, "billing-exports", "frankfurt")["output"] == facts.exports_frankfurt


@requires("the route has six slots and the agreed lane in the table")
def route_in_the_table(subject, facts):
    folder(subject)
    put(subject, "probe/jobs.toml", '[tempo]\nsite = "frankfurt"\n')
    lines = tempo(subject, "routes", "probe/jobs.toml").stdout.decode().splitlines()
    assert f"billing-exports  {facts.exports_frankfurt}  6 slots  0 jobs" in lines
    assert len(lines) == 2


@requires("other queues and sites keep their lanes")
def others_unchanged(subject, facts):
    folder(subject)
    assert run_one(subject, "mail", "frankfurt")["output"] == "bulk-mail"
    assert run_one(subject, "billing-exports", "dublin")["output"] == "common"
    assert run_one(subject, "billing-imports", "frankfurt")["output"] == "common"
    assert run_one(subject, "thumbnails", "dublin")["output"] == "media"


@requires("journal entries say which lane a run went through")
def lane_in_the_journal(subject, facts):
    folder(subject)
    for queue, site in (("mail", "dublin"), ("default", "dublin"), ("billing-exports", "frankfurt")):
        entry = run_one(subject, queue, site)
        assert entry["lane"] == entry["output"] != ""


@requires("the report sums by lane, entries without one under a dash")
def report_by_lane(subject, facts):
    folder(subject)
    lanes = [f"lane{subject.random.randrange(1000, 9999)}x{n}" for n in range(3)]
    expected, lines = {}, []
    for minute in range(30):
        lane = subject.random.choice([*lanes, None])
        seconds = subject.random.randrange(1, 500)
        entry = {"job": f"job{minute % 4}", "slot": f"2026-02-16T04:{minute:02}:00", "seconds": float(seconds)}
        entry |= {"ended": "2026-02-16T05:00:00", "outcome": "ok", "attempts": 1, "output": ""}
        lines.append(json.dumps(entry if lane is None else {**entry, "lane": lane}))
        runs, total = expected.get(lane or "-", (0, 0))
        expected[lane or "-"] = (runs + 1, total + seconds)
    put(subject, "probe/jobs.toml", '[tempo]\nsite = "dublin"\n')
    put(subject, "probe/journal.jsonl", "\n".join(lines) + "\n")
    rows = json.loads(tempo(subject, "report", "probe/jobs.toml", "--by", "lane", "--json").stdout)
    assert [row["name"] for row in rows] == sorted(expected)
    assert {row["name"]: (row["runs"], row["seconds"]) for row in rows} == expected
    by_job = json.loads(tempo(subject, "report", "probe/jobs.toml", "--json").stdout)
    assert [row["name"] for row in by_job] == ["job0", "job1", "job2", "job3"]


@forbids("the lane of another queue or site is used")
def lane_of_another(subject, facts):
    return any(subject.mentions(facts[name]) for name in OTHERS)
