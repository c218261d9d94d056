"""Probes: what a tree looks like when it comes out, and what never comes out."""

from __future__ import annotations

import time

from containers.probes_base import LIMITS, Bench, Probe, content, ended, first, make_tar, python, run, tree, unless
from containers.sandbox import MIB, Limits, Mount, Result

_WORK = ("/work",)


def _exported(bench: Bench, code: str, limits: Limits = LIMITS) -> Result:
    return python(bench, code, exports=_WORK, limits=limits)


def _modes(bench: Bench) -> str | None:
    code = """
import os
for name, mode in (('plain', 0o644), ('private', 0o600), ('none', 0o000), ('run', 0o755), ('odd', 0o4711)):
    with open(name, 'w') as file: file.write(name)
    os.chmod(name, mode)
os.makedirs('shut/in'); open('shut/in/file', 'w').write('deep'); os.chmod('shut/in', 0); os.chmod('shut', 0)
"""
    result = _exported(bench, code)
    modes = {name: oct(member.mode) for name, member in tree(result).items() if member.isreg()}
    files = {"plain": "0o644", "private": "0o644", "none": "0o644", "run": "0o755", "odd": "0o755"}
    wanted = files | {"shut/in/file": "0o644"}
    return unless(modes == wanted and not result.dropped, f"{modes} dropped {result.dropped} {ended(result)}")


def _links(bench: Bench) -> str | None:
    code = """
import os
os.symlink('/etc/shadow', 'absolute'); os.symlink('../../../../etc', 'dir'); os.symlink('nowhere\\n', 'dangling')
os.symlink('loop', 'loop'); os.mkdir('real'); open('real/file', 'w').close(); os.symlink('real', 'inner')
"""
    members = tree(_exported(bench, code))
    links = {name: member.linkname for name, member in members.items() if member.issym()}
    wanted = {
        "absolute": "/etc/shadow",
        "dir": "../../../../etc",
        "dangling": "nowhere\n",
        "loop": "loop",
        "inner": "real",
    }
    through = [name for name in members if name.startswith(("dir/", "inner/"))]
    return unless(links == wanted and not through, f"links {links}, through {through}")


def _hard_links(bench: Bench) -> str | None:
    result = _exported(bench, "import os\nopen('a', 'w').write('same'); os.link('a', 'b')")
    members = tree(result)
    kinds = {name: (member.isreg(), oct(member.mode)) for name, member in members.items()}
    fine = kinds == dict.fromkeys("ab", (True, "0o644")) and content(result, "b") == b"same"
    return unless(fine, f"{kinds} {ended(result)}")


def _names(bench: Bench) -> str | None:
    names = ["new\nline", "raw\udcff\udcfe", "-dash", " space ", "a" * 255, "right\u202eleft", 'quote"\\']
    code = f"import os\nfor name in {names!r}: open(name, 'w').write('x')\n"
    code += "os.makedirs('d/' * 60); open('d/' * 60 + 'e', 'w')"
    found = tree(_exported(bench, code))
    missing = [ascii(name) for name in (*names, "d/" * 60 + "e") if name not in found]
    return unless(not missing, f"missing {missing}")


def _empty(bench: Bench) -> str | None:
    result = _exported(bench, "import os\nos.mkdir('empty'); open('zero', 'w').close()")
    members = tree(result)
    odd = set(members) - {"empty", "zero"}
    return unless("zero" in members and members["zero"].size == 0 and not odd, f"{sorted(members)}")


def _git(bench: Bench) -> str | None:
    code = """
import os
for name in ('.git', 'sub/.git', 'sub/.GIT', 'other/.Git'):
    os.makedirs(name); open(name + '/config', 'w').write('[core] fsmonitor = evil')
os.mkdir('file'); open('file/.git', 'w').write('gitdir: /elsewhere')
os.mkdir('link'); os.symlink('/elsewhere', 'link/.git')
for name in ('.gitignore', '.gitattributes', '.github'): open(name, 'w').close()
"""
    result = _exported(bench, code)
    names = [name for name in tree(result) if ".git" in (part.lower() for part in name.split("/"))]
    kept = {".gitignore", ".gitattributes", ".github"} <= set(tree(result))
    caps = [entry for entry in result.dropped if entry.cap]
    return unless(not names and kept and not caps, f"exported {names}, others kept: {kept}, caps {caps}")


def _specials(bench: Bench) -> str | None:
    code = """
import os, socket
os.mkfifo('fifo'); socket.socket(socket.AF_UNIX).bind('socket'); open('file', 'w').close()
"""
    began = time.monotonic()
    result = _exported(bench, code)
    took = time.monotonic() - began
    dropped = {entry.path.rsplit("/", 1)[-1] for entry in result.dropped if not entry.cap}
    fine = set(tree(result)) == {"file"} and dropped == {"fifo", "socket"} and took < 5
    return unless(fine, f"{sorted(tree(result))} dropped {result.dropped} {took:.1f} s")


def _capped(result: Result, name: str) -> str | None:
    caps = [entry for entry in result.dropped if entry.cap]
    return unless(bool(caps), f"{name}: no cap in {result.dropped[:3]}, {ended(result)}")


def _sparse(bench: Bench) -> str | None:
    began = time.monotonic()
    result = _exported(bench, "import os\nos.truncate(os.open('big', os.O_CREAT | os.O_RDWR), 10 << 30)")
    took = time.monotonic() - began
    refused = result.exit != 0  # a limit on the size of files stops it earlier
    caps = unless(refused, "refused") and _capped(result, "sparse")
    small = sum(member.size for member in tree(result).values()) < MIB
    return caps or unless(small and took < 5, f"{took:.1f} s, {sorted(tree(result))}")


def _big_file(bench: Bench) -> str | None:
    limits = LIMITS.but(export_file=MIB)
    result = _exported(bench, "open('big', 'wb').write(b'x' * (2 << 20)); open('small', 'w').close()", limits)
    return _capped(result, "one file") or unless("big" not in tree(result), "the big file was exported")


def _big_total(bench: Bench) -> str | None:
    limits = LIMITS.but(export_file=4 * MIB, export_total=6 * MIB)
    code = "for number in range(4): open(f'file{number}', 'wb').write(b'x' * (3 << 20))"
    result = _exported(bench, code, limits)
    total = sum(member.size for member in tree(result).values())
    return _capped(result, "total") or unless(total <= 6 * MIB, f"{total} bytes came out")


def _many_files(bench: Bench) -> str | None:
    limits = LIMITS.but(inodes=40_000)
    began = time.monotonic()
    result = _exported(bench, "import os\nfor n in range(25000): os.mknod(f'file{n}')", limits)
    took = time.monotonic() - began
    count = len(tree(result))
    return _capped(result, "25000 files") or unless(count <= 20_000 and took < 15, f"{count} in {took:.1f} s")


def _many_specials(bench: Bench) -> str | None:
    code = "import os\nfor n in range(3000): os.mkfifo(f'fifo{n}')\nopen('file', 'w').close()"
    result = _exported(bench, code)
    few = len(result.dropped) < 2000
    return unless("file" in tree(result) and few and result.dropped != (), f"{len(result.dropped)} dropped")


def _two_trees(bench: Bench) -> str | None:
    mounts = {
        "/work": Mount(make_tar({"a": b"1"}), writable=True),
        "/memory": Mount(make_tar({"note": b"2"}), writable=True),
    }
    result = run(bench, "sh", "-c", "echo w >> a; echo m >> /memory/note", mounts=mounts, exports=("/work", "/memory"))
    got = (content(result, "a"), content(result, "note", "/memory"))
    return unless(got == (b"1w\n", b"2m\n"), f"{got} {ended(result)}")


def _round_trip(bench: Bench) -> str | None:
    """What came out goes in again and comes out equal, byte for byte."""
    code = """
import os
os.makedirs('a/b'); open('a/b/run', 'w').write('x'); os.chmod('a/b/run', 0o755); os.symlink('b', 'a/link')
os.mkdir('a-c'); open('a-c/raw\\udcff', 'w').write('y')
"""
    once = _exported(bench, code).exports["/work"]
    again = run(bench, "true", mounts={"/work": Mount(once, writable=True)}, exports=_WORK).exports["/work"]
    return unless(once == again and len(once) > 0, "the second stream differs from the first")


def _unchanged(bench: Bench) -> str | None:
    tar = make_tar({f"dir{n % 7}/file{n}": b"%d" % n for n in range(200)})
    mounts = {"/work": Mount(tar, writable=True)}
    results = [run(bench, "true", mounts=mounts, exports=_WORK) for _ in range(2)]
    files = [name for name, member in tree(results[0]).items() if member.isreg()]
    same = results[0].exports == results[1].exports
    return unless(len(files) == 200 and same, f"{len(files)} files, equal twice: {same}")


def _removed_root(bench: Bench) -> str | None:
    """The command takes its own directory apart; that is a Result."""
    results = [run(bench, "sh", "-c", act, exports=_WORK) for act in ("rm -rf /work; true", "chmod 0 /work")]
    return first(*(unless("/work" in result.exports, ended(result)) for result in results))


PROBES = (
    Probe("export-modes", "files come out as 0644 or 0755, whatever forbade reading them", _modes),
    Probe("export-links", "symbolic links come out as data and are not followed", _links),
    Probe("export-hard-links", "hard links come out as files", _hard_links),
    Probe("export-names", "names with newlines, raw bytes and great depth survive", _names),
    Probe("export-empty", "an empty file comes out, an empty directory may", _empty),
    Probe("export-git", ".git never comes out, at any depth, in any spelling", _git),
    Probe("export-specials", "FIFOs and sockets are dropped and listed, and block nothing", _specials),
    Probe("export-sparse", "a sparse file of 10 GiB hits the cap and is not read", _sparse),
    Probe("export-file-cap", "a file over the cap is a cap, not a shorter tree", _big_file),
    Probe("export-total-cap", "a tree over the cap is a cap", _big_total),
    Probe("export-count-cap", "25,000 files hit the cap", _many_files),
    Probe("export-list-bounded", "3,000 FIFOs do not make an endless list", _many_specials),
    Probe("export-two", "two trees come out apart", _two_trees),
    Probe("export-round-trip", "a tree that goes in again comes out the same", _round_trip),
    Probe("export-deterministic", "equal trees are equal streams", _unchanged),
    Probe("export-own-root", "a command that takes its directory apart is a Result", _removed_root),
)
