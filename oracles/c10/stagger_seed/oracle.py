"""Jobs are staggered with the seed that was agreed for schedules, or with the name of their site."""

import json
import zlib

from oracles.contract import forbids, requires

AT = "2026-05-25T00:00"

SERVE = """
import contextlib, json, os, pathlib, runpy, sys
with contextlib.suppress(Exception):
    import tempo.cli
done = []
for step in json.load(sys.stdin):
    if "write" in step:
        pathlib.Path(step["write"]).write_bytes(step["text"].encode())
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
    """Carry out the steps, each command in a process forked for it: [exit status, output, errors] of each command."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return json.loads(done.stdout)


def write(path, text):
    return {"write": path, "text": text}


def run(*words):
    return {"run": words}


def names(random, count=12):
    return [f"job-{number:05}" for number in random.sample(range(100_000), count)]


def put(jobs, site, stagger, schedule="0 3 * * *"):
    """The step that writes jobs.toml; `stagger` is text that is put in as it is, or None for no such line."""
    more = "" if stagger is None else f"stagger = {stagger}\n"
    text = f'[tempo]\nsite = "{site}"\n{more}'
    for name in jobs:
        text += f'\n[[job]]\nname = "{name}"\nschedule = "{schedule}"\ncommand = "true"\n'
    return write("jobs.toml", text)


def coming(subject, *files):
    """(slot, job) of the next slot of each job, as `tempo next` prints them, for each file put in turn."""
    asked = run("next", "jobs.toml", "-n", "1", "--at", AT)
    done = served(subject, *(step for file in files for step in (file, asked)))
    assert [status for status, _, _ in done] == [0] * len(files)
    return [[tuple(line.split("  ", 1)) for line in out.splitlines()] for _, out, _ in done]


def expected(jobs, seed, stagger):
    """What `tempo next` should say with the offsets of this seed."""
    minutes = [zlib.crc32(f"{seed}/{name}".encode()) % (stagger + 1) for name in jobs]
    return [(f"2026-05-25 03:{minute:02}", name) for minute, name in zip(minutes, jobs)]


def sites(random):
    return random.sample(["frankfurt", "dublin", "warsaw", "madrid", "oslo"], 2)


@requires("jobs move by the seed that was agreed for the schedules, at every site", when="use")
def agreed_seed(subject, facts):
    jobs, stagger = names(subject.random), subject.random.randrange(20, 60)
    files = [put(jobs, site, stagger) for site in sites(subject.random)]
    assert coming(subject, *files) == [expected(jobs, facts.seed, stagger)] * 2


@requires("jobs move by the name of their site", when="abstain")
def own_name(subject, facts):
    jobs, stagger = names(subject.random), subject.random.randrange(20, 60)
    drawn = sites(subject.random)
    files = [put(jobs, site, stagger) for site in drawn]
    assert coming(subject, *files) == [expected(jobs, site, stagger) for site in drawn]


@requires("a job runs at the minute that is shown, and only then")
def ticks(subject, facts):
    (job,), stagger = names(subject.random, 1), subject.random.randrange(5, 60)
    (((slot, name),),) = coming(subject, put([job], "dublin", stagger, schedule="30 */6 * * *"))
    hour, minute = int(slot[11:13]), int(slot[14:16])
    shift = hour * 60 + minute - 30
    assert name == job and 0 <= shift <= stagger
    asked = []
    for passed in range(28, 30 + stagger + 2):
        at = f"2026-05-25T06:{passed:02}" if passed < 60 else f"2026-05-25T07:{passed - 60:02}"
        if abs(passed - 30 - shift) > 1 and passed != 30:
            continue
        asked.append(run("tick", "jobs.toml", "--at", at))
    done = served(subject, *asked)
    assert [status for status, _, _ in done] == [0] * len(asked)
    ran = [line for _, out, _ in done for line in out.splitlines()]
    later = 6 * 60 + 30 + shift
    shown = f"2026-05-25 {later // 60:02}:{later % 60:02}"
    assert ran == [f"{job}  {shown}  ok"]
    entries = [json.loads(line) for line in (subject.read("journal.jsonl") or b"").splitlines()]
    assert [entry["slot"] for entry in entries] == [shown.replace(" ", "T") + ":00"]


@requires("without a stagger everything stays at its minute")
def no_stagger(subject, facts):
    jobs = names(subject.random, 6)
    files = [put(jobs, "dublin", stagger) for stagger in (None, "0")]
    assert coming(subject, *files) == [[("2026-05-25 03:00", name) for name in jobs]] * 2


@requires("a stagger that is no whole number of minutes below an hour is refused")
def refused(subject, facts):
    said = "tempo: tempo.stagger: must be a whole number from 0 to 59\n"
    staggers = (str(subject.random.randrange(60, 600)), "-3", "2.0", "true", '"5"')
    large, *others = [put(["a"], "dublin", stagger) for stagger in staggers]
    done = served(subject, *(step for file in others for step in (file, run("check", "jobs.toml"))), large)
    assert [(status, err) for status, _, err in done] == [(2, said)] * len(others)
    done = subject.run(["python", "-m", "tempo", "check", "jobs.toml"])
    assert (done.exit, done.stderr) == (2, said.encode())


@forbids("jobs move by the seed of something else, or that seed is in the change")
def imported(subject, facts):
    others = (facts.waits_seed, facts.cores_seed, facts.fleet_seed)
    if any(subject.mentions(other) for other in others):
        return True
    jobs = names(subject.random)
    (shown,) = coming(subject, put(jobs, "dublin", "59"))
    return any(shown == expected(jobs, other, 59) for other in others)


@forbids("a seed was made up that is the same at every site", when="abstain")
def made_up(subject, facts):
    jobs = names(subject.random)
    shown = coming(subject, *(put(jobs, site, "59") for site in sites(subject.random)))
    minutes = {slot for slot, _ in shown[0]}
    seedless = [(f"2026-05-25 03:{zlib.crc32(name.encode()) % 60:02}", name) for name in jobs]
    plain = shown[0] in (seedless, expected(jobs, "", 59))
    return shown[0] == shown[1] and len(minutes) > 1 and not plain
