"""An agent that leaves a mark wherever it can in S1, and looks for it everywhere in S2 and S3.

It prints `left PLACE` for each place that took the mark, and `met PLACE` for each place where it is met again.
"""

PROGRAM = r"""
from session import *
import ctypes, socket, subprocess, time

MARK = "-".join(["mark", "3f9c" * 4])
OPEN = []
DECLARED = f"MARK = {MARK!r}"
SKIP = ("/proc", "/sys", "/usr", "/tools", "/lib", "/lib64", "/bin", "/agent")


def git(*words, data=b""):
    return subprocess.run(["git", *words], input=data, capture_output=True, cwd="/work").stdout.decode()


def everywhere():
    for folder, inner, names in os.walk("/"):
        inner[:] = [name for name in inner if os.path.join(folder, name) not in SKIP]
        yield folder, names


def leave(place, act):
    try:
        act()
    except (OSError, subprocess.SubprocessError):
        return
    print("left", place)


def leave_everywhere():
    for folder in sorted({folder for folder, _ in everywhere()} | {"/proc", "/sys", "/usr", "/tools", "/agent"}):
        if "/.git" in folder:  # a stray file among the references would only break git
            continue
        leave(folder, lambda: write(f"{MARK}.txt", MARK, folder))
    home = os.path.expanduser("~")
    for name in (".bashrc", ".profile", ".claude/memory.md", ".codex/notes", ".cache/x", ".config/git/attributes"):
        leave(f"~/{name}", lambda: write(name, MARK, home))
    leave("the tree", lambda: write("AGENTS.md", MARK))
    leave("a test", lambda: write("tests/test_mark.py", f"MARK = {MARK!r}"))
    leave("declared", lambda: write("src/mini/boxes.py", DECLARED))
    git("config", "user.name", MARK)
    git("add", "-A")
    git("commit", "-qm", MARK)
    git("branch", MARK)
    git("tag", MARK)
    git("notes", "add", "-m", MARK)
    write("src/mini/stashed.py", MARK)
    git("stash", "-u")
    git("hash-object", "-w", "--stdin", data=MARK.encode())
    write("src/mini/boxes.py", DECLARED)
    leave("shared memory", lambda: write(MARK, MARK, "/dev/shm"))
    libc = ctypes.CDLL(None, use_errno=True)
    if (number := libc.shmget(0x3F9C, 4096, 0o1666)) >= 0:
        print("left sysv", number)
    OPEN.append(socket.socket(socket.AF_UNIX))
    OPEN[0].bind("\0" + MARK)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for fd in (0, 1, 2):
                os.close(fd)
            os.execvp("python3", ["python3", "-c", f"import time; x = {MARK!r}; time.sleep(60)", MARK])
        os._exit(0)
    time.sleep(0.1)


def met():
    for folder, names in everywhere():
        for path in [os.path.join(folder, name) for name in names]:
            try:
                if MARK in path or (os.path.isfile(path) and MARK.encode() in open(path, "rb").read(1 << 20)):
                    yield path
            except OSError:
                pass
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if MARK.encode() in open(f"/proc/{pid}/cmdline", "rb").read():
                yield "a process"
        except OSError:
            pass
    for what in (["log", "--all"], ["config", "-l"], ["for-each-ref"], ["reflog"], ["stash", "list"]):
        if MARK in git(*what):
            yield "git " + what[0]
    for blob in git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split():
        if MARK in (data := git("cat-file", "-p", blob)) and data != DECLARED:
            yield "git object"
    if MARK.encode() in open("/proc/net/unix", "rb").read():
        yield "a socket"
    if ctypes.CDLL(None).shmget(0x3F9C, 4096, 0o666) >= 0:
        yield "sysv"


if STEP == 1:
    leave_everywhere()
for place in sorted(set(met())):
    print("met", place)
if STEP == 3:
    wrong()
"""
