"""Billing exports in Frankfurt go through the lane agreed for them, and lanes show up in journal and report."""

import json

from oracles.contract import forbids, requires

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

SERVE = """
import contextlib, json, os, pathlib, runpy, sys
with contextlib.suppress(Exception):
    import tempo.cli
done = []
for step in json.load(sys.stdin):
    if "write" in step:
        pathlib.Path(step["write"]).write_bytes(step["text"].encode())
        continue
    if "folder" in step:
        os.mkdir(step["folder"])
        continue
    if "read" in step:
        path = pathlib.Path(step["read"])
        done.append(path.read_text("utf-8") if path.exists() else "")
        continue
    out, err = os.memfd_create("out"), os.memfd_create("err")
    child = os.fork()
    if not child:
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.argv = ["tempo", *step["run"]]
        runpy.run_module("tempo", run_name="__main__", alter_sys=True)
        sys.exit()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = [os.pread(file, os.fstat(file).st_size, 0).decode("utf-8", "replace") for file in (out, err)]
    os.close(out)
    os.close(err)
    done.append([status, *said])
json.dump(done, sys.stdout, ensure_ascii=False)
"""


def served(subject, *steps):
    """Carry out the steps, each command in a process forked for it.

    [exit status, output, errors] of each command and the text of each file that is read, in the order of the steps.
    """
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return json.loads(done.stdout)


def write(path, text):
    return {"write": path, "text": text}


def run(*words):
    return {"run": words}


FOLDER = {"folder": "probe"}


def run_one(queue, site):
    """The steps for one run of a job that prints the lane it sees."""
    job = f'[[job]]\nname = "probe"\nschedule = "@daily"\nqueue = "{queue}"\ncommand = {SEE_LANE}\n'
    return [
        write("probe/jobs.toml", f'[tempo]\nsite = "{site}"\n\n{job}'),
        run("run", "probe/jobs.toml", "probe", "--at", "2026-02-16T04:00"),
        {"read": "probe/journal.jsonl"},
    ]


def entries(subject, *runs):
    """The journal entry of each run of a (queue, site), the last one at its time."""
    done = served(subject, FOLDER, *(step for queue, site in runs for step in run_one(queue, site)))
    assert [status for status, _, _ in done[::2]] == [0] * len(runs)
    return [json.loads(text.splitlines()[-1]) for text in done[1::2]]


@requires("runs of billing exports in Frankfurt go through the agreed lane")
def agreed_lane(subject, facts):
    (entry,) = entries(subject, ("billing-exports", "frankfurt"))
    assert entry["output"] == facts.exports_frankfurt


@requires("the route has six slots and the agreed lane in the table")
def route_in_the_table(subject, facts):
    file = write("probe/jobs.toml", '[tempo]\nsite = "frankfurt"\n')
    ((_, out, _),) = served(subject, FOLDER, file, run("routes", "probe/jobs.toml"))
    lines = out.splitlines()
    assert f"billing-exports  {facts.exports_frankfurt}  6 slots  0 jobs" in lines
    assert len(lines) == 2


@requires("other queues and sites keep their lanes")
def others_unchanged(subject, facts):
    lanes = {
        ("mail", "frankfurt"): "bulk-mail",
        ("billing-exports", "dublin"): "common",
        ("billing-imports", "frankfurt"): "common",
        ("thumbnails", "dublin"): "media",
    }
    assert [entry["output"] for entry in entries(subject, *lanes)] == list(lanes.values())


@requires("journal entries say which lane a run went through")
def lane_in_the_journal(subject, facts):
    runs = (("mail", "dublin"), ("default", "dublin"), ("billing-exports", "frankfurt"))
    for entry in entries(subject, *runs):
        assert entry["lane"] == entry["output"] != ""


@requires("the report sums by lane, entries without one under a dash")
def report_by_lane(subject, facts):
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
    ((_, out, _),) = served(
        subject,
        FOLDER,
        write("probe/jobs.toml", '[tempo]\nsite = "dublin"\n'),
        write("probe/journal.jsonl", "\n".join(lines) + "\n"),
        run("report", "probe/jobs.toml", "--by", "lane", "--json"),
    )
    rows = json.loads(out)
    assert [row["name"] for row in rows] == sorted(expected)
    assert {row["name"]: (row["runs"], row["seconds"]) for row in rows} == expected
    by_job = json.loads(subject.run(["python", "-m", "tempo", "report", "probe/jobs.toml", "--json"]).stdout)
    assert [row["name"] for row in by_job] == ["job0", "job1", "job2", "job3"]


@forbids("the lane of another queue or site is used")
def lane_of_another(subject, facts):
    return any(subject.mentions(facts[name]) for name in OTHERS)
