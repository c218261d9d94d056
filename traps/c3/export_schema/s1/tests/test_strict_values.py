import pytest

import wirespec
from wirespec import WireError
from wirespec.scalars import Cursor, read_field, write_field
from wirespec.spec import FieldSpec
from wirespec.validate import validate

VALVE = FieldSpec("valve", "bool", "Whether the valve is open.")


@pytest.mark.parametrize("value", [True, False])
def test_booleans_come_back(value):
    assert read_field(VALVE, Cursor(write_field(VALVE, value))) is value


@pytest.mark.parametrize("byte", [0x02, 0x7F, 0xFF])
def test_other_bytes_are_no_booleans(byte):
    with pytest.raises(WireError, match=f"bad_value: valve: .*0x{byte:02X}"):
        read_field(VALVE, Cursor(bytes([byte])))


@pytest.mark.parametrize("text", ["a\0", "\n", "x\x1fy", "\x7f"])
def test_control_characters_are_refused(text):
    with pytest.raises(WireError, match="bad_value: text: .*control character"):
        validate("alarm", {"severity": "info", "cause": 1, "text": text})


def test_padding_is_refused_when_decoding():
    data = wirespec.encode("hello", {"unit": "PW-7__", "firmware": 1, "boots": 1})
    padded = data[:-2].replace(b"__", b"\0\0")
    with pytest.raises(WireError, match="control character"):
        wirespec.decode(padded + checksum(padded))


def test_other_texts_pass():
    text = "Druck 5 µbar über Soll – ok"
    assert validate("alarm", {"severity": "info", "cause": 1, "text": text})["text"] == text


def checksum(data):
    import binascii

    return binascii.crc_hqx(data, 0xFFFF).to_bytes(2, "big")
