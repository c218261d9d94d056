from wirespec.cli import main
from wirespec.routes import ROUTES, table


def test_one_row_a_message():
    rows = table()
    assert [message for message, _, _ in rows[: len(ROUTES)]] == list(ROUTES)
    assert ("heartbeat", "units.presence", "telemetry.bulk") in rows
    assert ("ack", "units.receipts", "none") in rows


def test_command(capsys):
    assert main(["routes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "hello -> units.presence (else telemetry.bulk)"
    assert "ack -> units.receipts" in lines
