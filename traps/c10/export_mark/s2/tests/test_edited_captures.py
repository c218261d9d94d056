import pytest

from wirespec.capture import CaptureError, Entry, parse_capture

ENTRY = Entry(7, "up", b"\x01")


def parsed(*lines):
    return list(parse_capture(lines))


def test_remarks_and_blank_lines_are_skipped():
    assert parsed("# Gråberget, pump 2\n", "\n", "  # öppen ventil\n", "7 > 01\n", " \n") == [ENTRY]


def test_line_ends_do_not_matter():
    assert parsed("7 > 01\r\n", "7 > 01  \n") == [ENTRY, ENTRY]


def test_byte_order_mark():
    assert parsed("\ufeff7 > 01\n") == [ENTRY]
    assert parsed("\ufeff# mätning\r\n", "7 > 01\r\n") == [ENTRY]


def test_skipped_lines_are_counted():
    with pytest.raises(CaptureError, match="line 4 "):
        parsed("# a", "", "7 > 01", "7 > # 01")
