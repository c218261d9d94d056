import pytest

from tempo.cli import main
from tempo.routing import find_route, lane_for, routes_at

JOBS = """
[tempo]
site = "Dublin "

[[job]]
name = "thumbs"
schedule = "@daily"
command = "true"
queue = "Thumbnails"

[[job]]
name = "invoices"
schedule = "@daily"
command = "true"
queue = "invoices"

[[job]]
name = "dunning"
schedule = "@weekly"
command = "true"
queue = "invoices"

[[job]]
name = "old"
schedule = "@weekly"
command = "true"
queue = "retired"
enabled = false

[[job]]
name = "tidy"
schedule = "@weekly"
command = "true"
"""


@pytest.mark.parametrize(("queue", "site"), [("Mail", "FRANKFURT"), (" mail", "frankfurt ")])
def test_names_are_folded(queue, site):
    assert lane_for(queue, site) == "bulk-mail"
    assert find_route(queue, site).slots == 2


def test_sites_are_folded_in_the_list():
    assert [route.queue for route in routes_at(" Dublin")] == ["mail", "thumbnails"]


def test_check_names_the_queues_without_a_route(tmp_path, capsys):
    file = tmp_path / "jobs.toml"
    file.write_text(JOBS)
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "queue 'invoices' has no route at dublin; its runs share the common lane"
    ]
