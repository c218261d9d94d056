import pytest

from wirespec.catalog import describe


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("set_interval", "  channel: u8, at most 15"),
        ("set_interval", "  interval_s: u16, 1 to 3600"),
        ("alarm", "  severity: info|warning|fault"),
        ("alarm", "  text: str, at most 80 bytes"),
        ("log_chunk", "  data: bytes, at most 256 bytes"),
        ("heartbeat", "  signal_dbm: i8, at most 0, since version 3"),
        ("ack", "  ref: u16"),
    ],
)
def test_line_of_a_field(message, line):
    assert line in describe(message).splitlines()
