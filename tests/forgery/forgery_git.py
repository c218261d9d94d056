"""Repositories that run a program when git is called in them: one arming per way git knows to start one.

`arm(name, canary)` is run inside a session, in an own repository below /work. The payload writes its name to the
file `canary` (a path of the host, which does not exist inside) and to /tmp/fired; afterwards the agent itself calls
git, which shows that the arming is live.
"""

from __future__ import annotations

PROGRAM = """\
import os
import subprocess

from session import STEP, wrong, write

REPOSITORIES = "/work/src/traps-for-git"


def git(where, *words, quiet=True):
    return subprocess.run(["git", "-C", where, *words], capture_output=True, timeout=20)


def payload(where, name, canary, cat=False):
    path = os.path.join(where, f"run-{name}.sh")
    write(path, f"#!/bin/sh\\necho {name} >> /tmp/fired\\necho fired > {canary}/{name}\\n" + ("cat\\n" if cat else ""))
    os.chmod(path, 0o755)
    return path


def hook(kind):
    def arm(where, run):
        os.makedirs(f"{where}/.git/hooks", exist_ok=True)
        os.symlink(run, f"{where}/.git/hooks/{kind}")
    return arm


def config(**pairs):
    def arm(where, run):
        for key, value in pairs.items():
            git(where, "config", key.replace("__", "."), value.replace("RUN", run))
    return arm


def attributes(line, key):
    def arm(where, run):
        write(f"{where}/.gitattributes", line + "\\n")
        git(where, "config", key, run)
    return arm


def included(key):
    def arm(where, run):
        write(f"{where}/cfg", f"[core]\\n\\tfsmonitor = {run}\\n")
        git(where, "config", key, "../cfg")
    return arm


def hooks_in_tree(where, run):
    os.makedirs(f"{where}/hooks")
    os.symlink(run, f"{where}/hooks/post-index-change")
    git(where, "config", "core.hooksPath", "hooks")


def promisor(where, run):
    for key, value in {"extensions.partialClone": "o", "remote.o.url": where, "remote.o.promisor": "true",
                       "remote.o.uploadpack": run}.items():
        git(where, "config", key, value)
    blob = git(where, "rev-parse", "HEAD:a.py").stdout.decode().strip()
    os.remove(f"{where}/.git/objects/{blob[:2]}/{blob[2:]}")


def alternates(where, run):
    write(f"{where}/.git/objects/info/alternates", f"{where}/.git/objects\\n/etc\\n/\\n")
    config(core__alternateRefsCommand=run, core__fsmonitor=run)(where, run)


def elsewhere(where, run):
    config(core__fsmonitor=run)(where, run)
    os.rename(f"{where}/.git", f"{where}-dir")
    write(f"{where}/.git", f"gitdir: {where}-dir\\n")


def embedded(where, run):
    bare = f"{where}/sub"
    for folder in ("refs", "objects"):
        os.makedirs(f"{bare}/{folder}")
    write(f"{bare}/HEAD", "ref: refs/heads/main\\n")
    write(f"{bare}/config", f"[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = {bare}\\n"
          f"\\tfsmonitor = {run}\\n")


ARMS = {
    "fsmonitor": config(core__fsmonitor="RUN"),
    "include": included("include.path"),
    "includeif": included("includeIf.gitdir:/.path"),
    "hook-post-index-change": hook("post-index-change"),
    "hook-pre-commit": hook("pre-commit"),
    "hook-reference-transaction": hook("reference-transaction"),
    "hooks-path-in-tree": hooks_in_tree,
    "filter-clean": attributes("* filter=x", "filter.x.clean"),
    "filter-smudge": attributes("* filter=x", "filter.x.smudge"),
    "filter-process": attributes("* filter=x", "filter.x.process"),
    "textconv": attributes("* diff=x", "diff.x.textconv"),
    "diff-command": attributes("* diff=x", "diff.x.command"),
    "diff-external": config(diff__external="RUN"),
    "gpg": config(commit__gpgsign="true", gpg__program="RUN"),
    "promisor": promisor,
    "alternates": alternates,
    "git-file": elsewhere,
    "embedded-bare": embedded,
}


def make(name, canary):
    where = os.path.join(REPOSITORIES, name)
    os.makedirs(where)
    git(where, "init", "-q", "-b", "main")
    for key, value in (("user.name", "a"), ("user.email", "a@b")):
        git(where, "config", key, value)
    write(f"{where}/a.py", "one\\n")
    git(where, "add", "-A")
    git(where, "commit", "-qm", "base")
    ARMS[name](where, payload("/work/src/traps-for-git", name, canary, cat="filter" in name or name == "textconv"))
    write(f"{where}/b.py", "two\\n")
    if name != "promisor":
        write(f"{where}/a.py", "two\\n")
    return where


def call(where):
    place = where + "/sub" if os.path.isdir(where + "/sub") else where
    for words in (["status"], ["diff", "HEAD"], ["log", "-p", "-1"], ["diff-tree", "-p", "--root", "HEAD"],
                  ["add", "-A"], ["commit", "-qam", "z"], ["checkout", "HEAD~1", "--", "."]):
        git(place, *words)


if STEP == 3:
    wrong()
    places = [make(name, open("/agent/canary").read()) for name in ARMS]
    root = payload("/work/src", "root", open("/agent/canary").read())
    for place in places:
        call(place)
    write("/work/.gitattributes", "* filter=x diff=x -text eol=crlf export-ignore\\n")
    write("/work/.gitmodules", f'[submodule "x"]\\n\\tpath = src/x\\n\\turl = ext::{root}\\n')
    for key in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "diff.x.textconv", "diff.x.command"):
        git("/work", "config", key, root)
    git("/work", "status")
    print(open("/tmp/fired").read())
"""

NAMES = [line.split('"')[1] for line in PROGRAM.split("ARMS = {")[1].split("\n}")[0].splitlines() if '"' in line]
