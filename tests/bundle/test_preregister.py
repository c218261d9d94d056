"""A frozen plan: what it holds, and that a run follows it or says where it does not."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import socket
from collections.abc import Callable
from typing import Any

import pytest

from analysis.family import parse_family
from harness.bundle.signing import load_key
from harness.config import load
from harness.draw import load as load_draws
from harness.outcome import UsageFault
from harness.plan import select
from harness.preregistration.plan_start import arms_begun
from harness.preregistration.preregister import load_frozen
from harness.run import stored_config

from .plan_kit import DIGEST, Planned, done, dreambench, files, refused, write_plan

# -- what is frozen ------------------------------------------------------------------------------------------------


def test_a_plan_holds_what_the_run_directory_was_prepared_with(frozen_once: Planned) -> None:
    plan, run = frozen_once.frozen.plan, frozen_once.table("run.json")
    told = frozen_once.table("commitments.json")
    assert (plan.plan_digest, plan.meaning) == (run["plan_digest"], run["meaning"])
    assert (plan.draw.digest, plan.draw.reused) == (told["root"], False)
    assert plan.commitments == told["commitments"]
    assert plan.arms.number == 1
    assert plan.arms.sha256 == hashlib.sha256(b"c1_label/B0/1/given\n").hexdigest()
    traps = select(stored_config(frozen_once.folder), frozen_once.root)
    prompt = traps["c1_label"].texts["s3.md"]
    assert plan.prompts.sessions["c1_label"]["3"] == hashlib.sha256(prompt.encode()).hexdigest()
    assert (plan.sandbox.kind, plan.sandbox.says["engine"]) == ("bubblewrap", "bubblewrap")
    assert frozen_once.frozen.signer == load_key(frozen_once.key).public
    assert run["follows"]["plan"] == hashlib.sha256((frozen_once.out / "plan.json").read_bytes()).hexdigest()
    assert not frozen_once.folder.ledger.exists()
    assert (frozen_once.out / "facts.json").stat().st_mode & 0o777 == 0o600


def test_two_freezes_are_one_plan_with_two_draws(place: Planned) -> None:
    again = place.root / "again"
    done(dreambench("plan", "freeze", *place.words, "--out", again, "--sign", place.key))
    one, two = place.table("plan.json")["plan"], json.loads((again / "plan.json").read_bytes())["plan"]
    assert {k for k in one if one[k] != two[k]} - {"frozen"} == {"draw", "commitments"}
    facts = [load_draws(out / "facts.json")["c1_label", 1].facts["mark"] for out in (place.out, again)]
    assert facts[0] != facts[1]


FAMILY = 'name = "mine"\n[[contrast]]\nid = "M1"\nfirst = "B5"\nsecond = "B0"\n'


def test_a_family_is_in_the_plan_whole_and_an_amendment_can_register_one(place: Planned) -> None:
    (place.root / "mine.toml").write_text(FAMILY)
    done(place.amend(f"family={place.root / 'mine.toml'}"))
    family = parse_family(FAMILY)
    made = place.amendments[0].body.changed
    assert made["family"] == json.loads(json.dumps(family.as_data()))
    assert made["meaning"]["family"] == {"name": "mine", "digest": family.digest}
    assert place.problems == []
    body = place.table("plan.json")["plan"] | {"family": made["family"]}
    write_plan(place.out / "plan.json", body, load_key(place.key))
    with pytest.raises(UsageFault, match="family is not the one that the meaning registers"):
        load_frozen(place.out / "plan.json")


def test_what_is_printed_is_what_is_to_be_published(place: Planned) -> None:
    result = done(dreambench("plan", "freeze", *place.words, "--out", place.root / "new", "--sign", place.key))
    sha = hashlib.sha256((place.root / "new" / "plan.json").read_bytes()).hexdigest()
    assert f"sha256 {sha} plan.json" in result.output
    assert place.frozen.plan.plan_digest in result.output
    assert load_key(place.key).public.fingerprint in result.output


def test_nothing_of_this_machine_is_in_the_public_files(place: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    home, cache = place.root / "canaryhome", load(None).cache_dir
    (home / "program").mkdir(parents=True)
    (home / "program" / "agent.py").write_text("pass\n")
    place.root.joinpath("traps").rename(home / "traps")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USER", "canaryuser")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    agent = ["agent.name=command", f"agent.program={home / 'program'}", 'agent.command=["python3","/agent/agent.py"]']
    words = [*place.words, f"traps_dir={home / 'traps'}", *agent, f"cache={cache}"]
    result = done(dreambench("plan", "freeze", *words, "--out", place.root / "new"))
    assert str(home / ".config") in result.stderr, "a key was made, and it is said where"
    amend = ("plan", "amend", place.root / "new", "budget.k=5", "--reason", "more room")
    done(dreambench(*amend))
    public = b"".join((place.root / "new" / name).read_bytes() for name in ("plan.json", "amendments.json")).decode()
    secret = (home / ".config" / "dreambench" / "signing.pem").read_text().splitlines()[1]
    facts = load_draws(place.root / "new" / "facts.json")["c1_label", 1]
    for canary in (str(place.root), "canary", str(cache), socket.gethostname(), secret, *facts.facts.values()):
        assert canary not in public
    assert "/agent/agent.py" in public, "the search can find something"
    refused(dreambench(*amend[:-1], f"as said in {home}/notes"), 1, "nothing differs")
    refused(dreambench(*amend[:3], "budget.k=4", "--reason", f"as in {home}/notes"), 1, "reason: names", "public")


def test_a_command_that_names_a_place_of_this_machine_is_not_frozen(
    place: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = f"cache={load(None).cache_dir}"
    monkeypatch.setenv("HOME", "/home/canary")
    words = [*place.words, "agent.name=command", 'agent.command=["/home/canary/bin/agent"]', cache]
    out = place.root / "new"
    refused(dreambench("plan", "freeze", *words, "--out", out, "--sign", place.key), 1, "/home/canary of this machine")
    assert not (out / "plan.json").exists()


def test_a_plan_is_frozen_once_and_before_the_first_session(ran: Planned) -> None:
    freeze = ("plan", "freeze", *ran.words, "--out", ran.out, "--sign", ran.key)
    refused(dreambench(*freeze), 1, "frozen here already")
    (ran.out / "plan.json").unlink()
    before = files(ran.out)
    refused(dreambench(*freeze), 1, "sessions of 1 arms are committed")
    assert files(ran.out) == before
    refused(dreambench("resume", ran.out), 1, "plan.json: is missing")


def test_a_prepared_directory_is_frozen_with_the_draw_that_it_has(place: Planned) -> None:
    before = place.table("commitments.json")
    for name in ("plan.json", "facts.json.old"):
        (place.out / name).unlink(missing_ok=True)
    done(dreambench("plan", "freeze", *place.words, "--out", place.out, "--sign", place.key))
    assert place.frozen.plan.commitments == before["commitments"]
    assert place.problems == []


# -- a run follows it ----------------------------------------------------------------------------------------------


def test_a_run_after_the_freeze_says_which_plan_it_follows(ran: Planned) -> None:
    assert ran.problems == []
    date, who = ran.frozen.plan.frozen, ran.frozen.signer.fingerprint[:16]
    told = (ran.out / "report.md").read_text()
    assert f"follows the plan frozen at {date}, signed by {who}" in told
    assert ran.frozen.sha256 in told
    assert ran.table("run.json")["follows"]["signer"] == ran.frozen.signer.fingerprint
    again = done(dreambench("resume", ran.out))
    assert f"follows the plan frozen at {date}" in again.output
    assert not (ran.out / "amendments.json").exists()
    shown = done(dreambench("plan", "show", ran.out)).output
    assert "the signature holds" in shown
    assert "the run is as in the plan" in shown
    assert "would differ" not in shown


def test_a_run_without_a_plan_says_nothing_of_one(place: Planned) -> None:
    out = place.root / "plain"
    result = done(dreambench("run", *place.words, "--out", out))
    assert "preregistration" not in result.output + (out / "report.md").read_text()
    assert "follows" not in json.loads((out / "run.json").read_bytes())
    refused(dreambench("resume", out, "--amend", "why not"), 1, "follows no frozen plan")
    refused(dreambench("plan", "amend", out, "budget.k=5", "--reason", "x"), 1, "follows no frozen plan")
    refused(dreambench("resume", out, "--sign", place.key), 1, "--amend")


def _redraw(place: Planned) -> None:
    """Prepare the directory anew, as who wants a luckier draw would, and keep the plan."""
    keep = (place.out / "plan.json").read_bytes()
    shutil.rmtree(place.out)
    again = place.root / "again"
    done(dreambench("plan", "freeze", *place.words, "--out", again, "--sign", place.key))
    again.rename(place.out)
    (place.out / "plan.json").write_bytes(keep)
    run = place.table("run.json")
    run.pop("follows")
    (place.out / "run.json").write_text(json.dumps(run))


def _trap(place: Planned) -> None:
    with (place.root / "traps/c1/label/s1.md").open("a") as file:
        file.write("And be quick.\n")


def _oracle(place: Planned) -> None:
    with (place.root / "oracles/c1/label/oracle.py").open("a") as file:
        file.write("\n# changed\n")


def _planned(**changes: Any) -> Callable[[Planned], None]:
    return lambda place: place.plan_otherwise(lambda body: body.update(changes))


def _planned_kernel(place: Planned) -> None:
    place.plan_otherwise(lambda body: body["sandbox"]["says"].update(kernel="6.0.0-other"))


def _planned_prompt(place: Planned) -> None:
    place.plan_otherwise(lambda body: body["prompts"].update(memory_instruction=DIGEST))


DIFFERENCES: list[tuple[str, Callable[[Planned], None], str]] = [
    ("code", _planned(code=DIGEST), 'code: "0000'),
    ("version", _planned(dreambench="0.0.9"), 'dreambench: "0.0.9" -> "'),
    ("python", _planned(python="3.10.1"), 'python: "3.10.1" -> "'),
    ("sandbox", _planned_kernel, 'sandbox.says.kernel: "6.0.0-other" -> "'),
    ("instruction", _planned_prompt, 'prompts.memory_instruction: "0000'),
    ("trap", _trap, "traps.c1_label: "),
    ("oracle", _oracle, "oracles.c1_label: "),
    ("draw", _redraw, "draw.digest: "),
]


@pytest.mark.parametrize(("differ", "says"), [d[1:] for d in DIFFERENCES], ids=[d[0] for d in DIFFERENCES])
def test_a_difference_is_refused_or_amended(differ: Callable[[Planned], None], says: str, place: Planned) -> None:
    differ(place)
    refused(place.start(), 1, "nothing was", says, " -> ", "--amend")
    assert arms_begun(place.folder) == 0
    plan = (place.out / "plan.json").read_bytes()
    done(place.amend(reason="it had to be"))
    (made,) = place.amendments
    assert [line for line in made.body.differing if says in line]
    assert (made.body.reason, made.body.begun) == ("it had to be", 0)
    assert (place.out / "plan.json").read_bytes() == plan
    assert place.problems == []


def test_a_start_with_leave_runs_and_every_report_tells_of_it(place: Planned) -> None:
    _trap(place)
    _planned(code=DIGEST)(place)
    done(place.start(reason="the prompt had a gap"))
    told = (place.out / "report.md").read_text()
    assert re.search(r"amendment 1 \| \S+: the prompt had a gap \|", told)
    assert "code, meaning, plan\\_digest, prompts (0 arms were begun)" in told
    assert "follows the plan" in told
    assert place.problems == []
    nothing = done(place.start(reason="just in case"))
    assert "nothing differs" in nothing.stderr
    assert len(place.amendments) == 1
    assert "amendment 1: " in done(dreambench("plan", "show", place.out)).output


def test_what_it_is_run_with_may_change_later_and_what_is_measured_may_not(ran: Planned) -> None:
    ran.plan_otherwise(lambda body: body.update(python="3.10.1"))
    refused(ran.start(), 1, 'python: "3.10.1"', "--amend")
    done(ran.start(reason="another machine"))
    assert ran.amendments[0].body.begun == 1
    assert "after sessions of 1 arms" in done(dreambench("plan", "show", ran.out)).output
    (ran.out / "amendments.json").unlink()
    _planned_prompt(ran)
    before = files(ran.out)
    for reason in ("", "please"):
        refused(ran.start(reason=reason), 1, "sessions of 1 arms are committed", "prompts", "a plan of its own")
    assert files(ran.out) == before


def test_a_damaged_plan_starts_nothing_and_every_report_says_so(ran: Planned) -> None:
    text = (ran.out / "plan.json").read_bytes().replace(b'"python":"3', b'"python":"4')
    (ran.out / "plan.json").write_bytes(text)
    refused(ran.start(), 3, "plan.json: the signature does not hold")
    refused(ran.start(reason="whatever"), 3, "the signature does not hold")
    refused(dreambench("plan", "show", ran.out), 3, "the signature does not hold")
    shown = done(dreambench("report", ran.out)).output
    assert "DOES NOT HOLD: plan.json: the signature does not hold" in " ".join(shown.split())
    assert str(ran.root) not in shown


# -- keys ----------------------------------------------------------------------------------------------------------


def test_a_key_is_shown_by_its_public_part_alone(place: Planned) -> None:
    path = place.root / "keys" / "mine.pem"
    made = done(dreambench("key", "new", path)).output
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_key(path).public.fingerprint in made
    for shown in (path, path.with_name("mine.pem.pub")):
        assert done(dreambench("key", "show", shown)).output == made
    assert path.read_text().splitlines()[1] not in made
    refused(dreambench("key", "new", path), 1, "not replaced")
