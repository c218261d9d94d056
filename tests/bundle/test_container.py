"""The bytes of a bundle: what is written is read back, and nothing is read that would not have been written."""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.bundle.container import BLOCK, END, LARGEST, BundleError, Container, header, write
from harness.outcome import UsageFault

PART = st.from_regex(r"[a-z0-9][a-z0-9_.-]{0,10}", fullmatch=True)
NAMES = st.lists(PART, min_size=1, max_size=3).map("/".join)
MEMBERS = st.dictionaries(NAMES, st.binary(max_size=2000), max_size=6)


def stored(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    write(out, members)
    return out.getvalue()


def opened(data: bytes) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.dbf"
        path.write_bytes(data)
        box = Container(path)
        try:
            found = {name: box.read(name) for name in box.members}
            assert {name: b"".join(box.parts(name)) for name in box.members} == found
            return found
        finally:
            box.close()


@given(MEMBERS)
@settings(max_examples=60, deadline=None)
def test_any_members_come_back_and_any_tar_program_reads_them(members: dict[str, bytes]) -> None:
    data = stored(members)
    assert opened(data) == members
    assert stored(dict(reversed(members.items()))) == data
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        listed = {m.name: m for m in tar}
        assert listed.keys() == members.keys()
        assert all(m.isreg() and m.mtime == 0 and m.mode == 0o644 and m.uname == "" for m in listed.values())


@given(MEMBERS.filter(bool), st.data())
@settings(max_examples=60, deadline=None)
def test_any_bit_of_a_header_the_padding_or_the_end_that_is_flipped_is_refused(
    members: dict[str, bytes], data: st.DataObject
) -> None:
    whole = stored(members)
    bodies = bytearray(len(whole))
    at = 0
    for name in sorted(members, key=lambda n: whole.index(header(n, len(members[n])))):
        at += BLOCK
        bodies[at : at + len(members[name])] = b"\1" * len(members[name])
        at += len(members[name]) + (-len(members[name]) % BLOCK)
    place = data.draw(st.sampled_from([i for i, inside in enumerate(bodies) if not inside]))
    edited = bytearray(whole)
    edited[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(BundleError):
        opened(bytes(edited))


@given(MEMBERS, st.integers(0, 10_000), st.binary(min_size=1, max_size=1024))
@settings(max_examples=60, deadline=None)
def test_a_file_that_is_cut_or_goes_on_is_refused(members: dict[str, bytes], cut: int, more: bytes) -> None:
    whole = stored(members)
    for edited in (whole[: cut % len(whole)], whole + more, whole + END):
        with pytest.raises(BundleError):
            opened(edited)


def tar(*infos: tuple[str, bytes, str]) -> bytes:
    """A file as another tar program makes it: (name, type, link)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as file:
        for name, kind, link in infos:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, link
            file.addfile(info)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "kind", "link", "says"),
    [
        ("../evil", tarfile.REGTYPE, "", "'../evil': a name that no member has"),
        ("/etc/passwd", tarfile.REGTYPE, "", "'/etc/passwd': a name that no member has"),
        ("a/../b", tarfile.REGTYPE, "", "'a/../b': a name that no member has"),
        ("a/./b", tarfile.REGTYPE, "", "'a/./b': a name that no member has"),
        ("a//b", tarfile.REGTYPE, "", "'a//b': a name that no member has"),
        ("a/b/c/d", tarfile.REGTYPE, "", "'a/b/c/d': a name that no member has"),
        ("A", tarfile.REGTYPE, "", "'A': a name that no member has"),
        (".a", tarfile.REGTYPE, "", "'.a': a name that no member has"),
        ("link", tarfile.SYMTYPE, "/etc/passwd", "link: is a link"),
        ("hard", tarfile.LNKTYPE, "other", "hard: is a hard link"),
        ("null", tarfile.CHRTYPE, "", "null: is a device"),
        ("disk", tarfile.BLKTYPE, "", "disk: is no plain file"),
        ("pipe", tarfile.FIFOTYPE, "", "pipe: is a pipe"),
        ("folder", tarfile.DIRTYPE, "", "is a folder"),
        ("old", tarfile.AREGTYPE, "", "old: is no plain file"),
        ("long", tarfile.GNUTYPE_LONGNAME, "", "long: is no plain file"),
        ("pax", tarfile.XHDTYPE, "", "pax: is no plain file"),
        ("sparse", tarfile.GNUTYPE_SPARSE, "", "sparse: is no plain file"),
    ],
)
def test_tricks_of_archives_have_no_place(name: str, kind: bytes, link: str, says: str) -> None:
    with pytest.raises(BundleError) as raised:
        opened(tar((name, kind, link)))
    assert says in str(raised.value)


def edited(at: int, new: bytes) -> bytes:
    """A header of the member `a` (5 bytes) with other bytes, and a checksum that fits."""
    head = bytearray(header("a", 5))
    head[at : at + len(new)] = new
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + b"12345" + bytes(BLOCK - 5) + END


@pytest.mark.parametrize(
    ("at", "new", "says"),
    [
        (100, b"0000777", "not the canonical one"),  # mode
        (108, b"0001750", "not the canonical one"),  # owner
        (136, b"14000000000", "not the canonical one"),  # date
        (124, b"0000000005 ", "not the canonical one"),  # the same size, written otherwise
        (124, b"       0005", "not the canonical one"),
        (124, b"-0000000005", "no member of a bundle"),
        (124, b"xxxxxxxxxxx", "no header of a bundle"),
        (124, b"77777777777", "no member of a bundle"),  # 8 GiB
        (124, b"00000010005", "cut off: 4101 bytes are announced"),
        (265, b"root", "not the canonical one"),  # user name
        (345, b"prefix", "not the canonical one"),  # what other programs put before the name
        (500, b"hidden", "not the canonical one"),
        (0, b"\xff", "no header of a bundle"),
    ],
)
def test_a_header_in_another_form_is_refused_with_a_checksum_that_fits(at: int, new: bytes, says: str) -> None:
    with pytest.raises(BundleError, match=says):
        opened(edited(at, new))


def test_doubles_order_and_hidden_bytes() -> None:
    one, two = stored({"a": b"1"})[: -len(END)], stored({"b": b"2"})[: -len(END)]
    told: list[tuple[bytes, str]] = [
        (one + one + END, "a: is there twice"),
        (two + one + END, "a: stands behind b, out of order"),
        (one + bytes(BLOCK) + two + END, "the end is not the one"),
        (one[:-1] + b"x" + END, "a: bytes are hidden behind its end"),
        (one + END + b"x", "1 bytes stand behind the end"),
        (one, "a header is missing"),
        (b"", "a header is missing"),
        (one + bytes(BLOCK), "the end is not the one"),
    ]
    for data, says in told:
        with pytest.raises(BundleError, match=says):
            opened(data)


def test_a_file_of_a_hundred_thousand_members_is_not_listed_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "x.dbf"
    path.write_bytes(b"".join(header(f"m{n:06d}", 0) for n in range(20_001)) + END)
    with pytest.raises(BundleError, match="more than 20000 members"):
        Container(path)


@pytest.mark.parametrize("make", [lambda p: p / "none", lambda p: p])
def test_what_is_no_file_is_a_fault_of_use(make: Callable[[Path], Path], tmp_path: Path) -> None:
    with pytest.raises(UsageFault):
        Container(make(tmp_path))


def test_a_member_larger_than_asked_for_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.dbf"
    path.write_bytes(stored({"a": b"12345"}))
    box = Container(path)
    with pytest.raises(BundleError, match="a: 5 bytes, at most 4 are taken"):
        box.read("a", 4)
    with pytest.raises(BundleError, match="b: is missing"):
        box.read("b")
    box.close()
    with pytest.raises(BundleError):
        header("a", LARGEST + 1)
    with pytest.raises(BundleError):
        write(io.BytesIO(), {"../a": b""})
