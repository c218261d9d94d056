from tempo.launcher import TAIL, _tail


def test_it_begins_with_a_whole_line():
    lines = [f"line {number:04}\n" for number in range(1000)]
    kept = _tail("".join(lines).encode())
    assert kept == "".join(lines[-200:])
    kept = _tail(("".join(lines) + "end").encode())
    assert kept == "".join(lines[-199:]) + "end"


def test_characters_are_counted_and_not_bytes():
    kept = _tail(("ä" * 500 + "\n" + ("ö" * 99 + "\n") * 20).encode())
    assert kept == ("ö" * 99 + "\n") * 20


def test_an_endless_line_is_cut_as_before():
    assert _tail(b"x" * 3 * TAIL) == "x" * TAIL
    assert _tail(b"x" * 3 * TAIL + b"\n") == "x" * (TAIL - 1) + "\n"


def test_short_output_is_kept():
    assert _tail(b"half a line\nand another") == "half a line\nand another"
    assert _tail(b"\n" + b"x" * (TAIL - 1)) == "\n" + "x" * (TAIL - 1)
    assert _tail(None) == ""
