import pytest

from wirespec import routes


def test_follows_the_line_of_fallbacks():
    assert routes.resolve("alarm", ["alarms.desk"]) == "units.presence"
    assert routes.resolve("alarm", ["alarms.desk", "units.presence"]) == "telemetry.bulk"


def test_urgent_starts_at_the_pager():
    down = {"alarms.page", "alarms.desk"}
    assert routes.resolve("reading", down, urgent=True) == "units.presence"


def test_nothing_is_up():
    with pytest.raises(routes.NoRoute, match="set_mode"):
        routes.resolve("set_mode", ["commands.out"])


def test_circle_ends(monkeypatch):
    monkeypatch.setitem(routes.FALLBACKS, "telemetry.bulk", "telemetry.live")
    with pytest.raises(routes.NoRoute, match="reading"):
        routes.resolve("reading", ["telemetry.live", "telemetry.bulk"])
