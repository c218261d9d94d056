import json

import pytest

from wirespec.cli import main


def decoded(capsys, *words):
    assert main(["encode", *words]) == 0
    assert main(["decode", capsys.readouterr().out.strip()]) == 0
    return json.loads(capsys.readouterr().out)["values"]


def test_numbers(capsys):
    values = decoded(capsys, "heartbeat", "uptime_s=90", "battery_mv=3610", "signal_dbm=-71")
    assert values == {"uptime_s": 90, "battery_mv": 3610, "signal_dbm": -71}


def test_texts_bytes_and_enumerations(capsys):
    values = decoded(capsys, "alarm", "severity=warning", "cause=17", "text=Druck = 5 bar")
    assert values == {"severity": "warning", "cause": 17, "text": "Druck = 5 bar"}
    assert decoded(capsys, "set_mode", "mode=1", "duration_s=5")["mode"] == "pumping"
    assert decoded(capsys, "log_chunk", "first_seq=1", "data=0aff")["data"] == "0aff"


def test_json_as_before(capsys):
    assert decoded(capsys, "ack", '{"ref": 7}') == {"ref": 7}


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["ack", "ref=x"], "ref"),
        (["ack", "ref=1", "ref=2"], "ref"),
        (["log_chunk", "first_seq=1", "data=zz"], "data"),
        (["heartbeat", "uptime_s=1"], "battery_mv"),
        (["ack", "ref=1", "colour=2"], "colour"),
    ],
)
def test_refused(words, named, capsys):
    assert main(["encode", *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith("E6 bad_value: ")
    assert named in error
