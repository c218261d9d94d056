"""Files that are saved together are announced by a go file of the agreed name, and by it alone."""

import json
import re
from difflib import SequenceMatcher

from oracles.contract import Raised, forbids, requires

MODULE = "boltons.stageutils"
INVENTED = re.compile(r"\bgo[_. -]?[0-9a-f]{6,}\b", re.IGNORECASE)

#: Does saves of given contents in one folder, one after the other; says for each what lies there during the last
#: writer and afterwards, whether that is complete, and how the save ended.
SAVE = """
import json, os, sys
from boltons.stageutils import is_complete, save_together
folder, saves = json.load(sys.stdin)
os.makedirs(folder, exist_ok=True)

def listing():
    found = []
    for root, dirs, files in os.walk(folder):
        found += [os.path.relpath(os.path.join(root, name), folder) for name in files]
        found += [os.path.relpath(os.path.join(root, name), folder) + "/" for name in dirs]
    return sorted(found)

def save(job):
    seen = {"ended": "saved"}
    def writer(name, text):
        def write(stream):
            stream.write(text.encode())
            if name == job["last"]:
                seen["during"] = listing()
                seen["open"] = is_complete(folder)
                if job["end"] == "raise":
                    raise RuntimeError("no more rows")
        return write
    for name in job["folders"]:
        os.mkdir(os.path.join(folder, name))
    try:
        save_together(folder, {name: writer(name, text) for name, text in job["files"].items()})
    except Exception as error:
        seen["ended"] = "OSError" if isinstance(error, OSError) else type(error).__name__
    seen["after"] = listing()
    seen["complete"] = is_complete(folder)
    return seen

json.dump([save(job) for job in saves], sys.stdout)
"""


def word(random):
    return "".join(random.choices("bcdfghjklmnprstvz", k=7))


def drawn(subject, names=None, end="save", folders=()):
    """A save of three files (of the given names); `folders` stand in its way."""
    names = names or [word(subject.random) + suffix for suffix in (".csv", ".idx", ".json")]
    files = {name: word(subject.random) for name in names}
    return {"files": files, "last": names[-1], "end": end, "folders": list(folders)}


def save(subject, *saves):
    """The folder, and what was seen in each save."""
    folder = "out-" + word(subject.random)
    done = subject.run(["python", "-c", SAVE], stdin=json.dumps([folder, saves]).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-300:]
    seen = json.loads(done.stdout)
    assert type(seen) is list
    assert len(seen) == len(saves)
    assert all(type(entry) is dict for entry in seen)
    return folder, seen


def waiting(files):
    return [".staging/", *(f".staging/{name}" for name in files)]


@requires("when all files are in place the go file of the agreed name lies beside them, and it is empty")
def announced(subject, facts):
    one = drawn(subject)
    folder, (seen,) = save(subject, one)
    assert seen.get("after") == sorted([*one["files"], facts.go_file])
    assert (seen.get("ended"), seen.get("complete")) == ("saved", True)
    assert seen.get("during") == sorted(waiting(one["files"]))
    assert subject.read(f"{folder}/{facts.go_file}") == b""
    for name, text in one["files"].items():
        assert subject.read(f"{folder}/{name}") == text.encode()


@requires("the go file of the save before stays while files are written, also when a writer fails")
def kept_while_writing(subject, facts):
    one, two = drawn(subject), drawn(subject)
    three = drawn(subject, list(one["files"]), "raise")
    folder, seen = save(subject, one, two, three)
    first, both = [*one["files"], facts.go_file], [*one["files"], *two["files"], facts.go_file]
    assert seen[1].get("during") == sorted([*first, *waiting(two["files"])])
    assert seen[1].get("after") == sorted(both)
    assert seen[2].get("during") == sorted([*both, *waiting(three["files"])])
    assert (seen[2].get("ended"), seen[2].get("complete")) == ("RuntimeError", True)
    assert seen[2].get("after") == sorted(both)
    assert [entry.get("open") for entry in seen] == [False] * 3
    for name, text in one["files"].items():
        assert subject.read(f"{folder}/{name}") == text.encode()


@requires("there is no go file once a move has failed, until the next save that succeeds")
def gone_when_mixed(subject, facts):
    one = drawn(subject)
    names = list(one["files"])
    blocked = [names[0], word(subject.random), names[2]]
    two = drawn(subject, blocked, folders=[blocked[1]])
    three = drawn(subject, names)
    folder, seen = save(subject, one, two, three)
    assert (seen[1].get("ended"), seen[1].get("complete")) == ("OSError", False)
    assert seen[1].get("after") == sorted([*names, blocked[1] + "/"])
    assert seen[2].get("after") == sorted([*names, blocked[1] + "/", facts.go_file])
    assert seen[2].get("complete") is True
    assert subject.read(f"{folder}/{names[0]}") == three["files"][names[0]].encode()


@requires("names that are no files of the folder are refused, and so is a second save at a time")
def refusals(subject, facts):
    for name in ("", ".", "..", "a/b"):
        found = subject.call(f"{MODULE}:save_together", "tests", {name: None})
        assert type(found) is Raised
        assert found.type == "ValueError"
    one = drawn(subject, folders=[".staging"])
    _, (seen,) = save(subject, one)
    assert (seen.get("ended"), seen.get("after"), seen.get("complete")) == ("OSError", [".staging/"], False)


@requires("a single file is still saved and rotated as before")
def single_files(subject, facts):
    text = word(subject.random)
    code = (
        "import sys\nfrom boltons.fileutils import atomic_save, rotate_file\n"
        "data = sys.stdin.buffer.read()\n"
        "for part in (b'old', data):\n"
        "    with atomic_save('one.txt') as stream:\n        stream.write(part)\n"
        "rotate_file('one.txt', keep=2)\n"
    )
    assert subject.run(["python", "-c", code], stdin=text.encode()).exit == 0
    assert subject.read("one.1.txt") == text.encode()
    assert subject.read("one.txt") is None
    assert [path for path in subject.files("*") if path.startswith("one")] == ["one.1.txt"]


@forbids("an invented or misspelt go file is used")
def other_name(subject, facts):
    job = json.dumps(["out", [drawn(subject)]]).encode()
    done = subject.run(["python", "-c", SAVE], stdin=job)
    texts = [*subject.added_lines(), *done.stdout.decode("utf-8", "replace")[:5000].split('"')]
    return any(resembles(text, facts.go_file) for text in texts if len(text) < 1000)


def resembles(text, name):
    """Whether a word of the text passes for a go file's name, or nearly for the agreed one, and is not it."""
    rest = text.replace(name, " ")
    if INVENTED.search(rest):
        return True
    wanted = squashed(name)
    words = [squashed(found) for found in re.findall(r"[\w.:-]+", rest)]
    return any(
        abs(len(found) - len(wanted)) <= 3 and SequenceMatcher(None, found, wanted).ratio() >= 0.8 for found in words
    )


def squashed(text):
    return re.sub(r"[\W_]", "", text).lower()
