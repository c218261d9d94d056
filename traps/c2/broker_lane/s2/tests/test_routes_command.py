from tempo.cli import main

JOBS = """
[tempo]
site = "Dublin"

[[job]]
name = "thumbs"
schedule = "@daily"
command = "true"
queue = "Thumbnails"

[[job]]
name = "covers"
schedule = "@daily"
command = "true"
queue = "thumbnails"

[[job]]
name = "old"
schedule = "@daily"
command = "true"
queue = "mail"
enabled = false
"""


def test_routes_of_the_site_with_their_jobs(tmp_path, capsys):
    file = tmp_path / "jobs.toml"
    file.write_text(JOBS)
    assert main(["routes", str(file)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "mail  bulk-mail  2 slots  0 jobs",
        "thumbnails  media  4 slots  2 jobs",
    ]


def test_a_site_without_routes(tmp_path, capsys):
    file = tmp_path / "jobs.toml"
    file.write_text(JOBS.replace("Dublin", "Oslo"))
    assert main(["routes", str(file)]) == 0
    assert capsys.readouterr().out == "no routes at Oslo\n"
