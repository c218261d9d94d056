import hashlib
import json

import pytest


@pytest.fixture
def publish(crumb, tmp_path):
    def run(folder):
        status, out, err = crumb(folder, "publish", str(tmp_path / "out" / "panels"))
        return status, out.splitlines(), err

    return run


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out" / "panels"


def test_files_and_index(publish, out, own_book):
    assert publish(own_book) == (0, ["mill-1 written", "pier-1 written", "pier-2 written"], "")
    index = json.loads((out / "index.json").read_text(encoding="utf-8"))
    assert index["format"] == 1
    assert [entry["oven"] for entry in index["ovens"]] == ["mill-1", "pier-1", "pier-2"]
    for entry in index["ovens"]:
        data = (out / f"{entry['oven']}.json").read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
        assert entry["target"].endswith(f"/{entry['oven']}.json")
        assert json.loads(data)["oven"] == entry["oven"]


def test_only_what_changed_is_written(publish, out, write_book):
    publish(write_book())
    folder = write_book({"ovens/pier-2.toml": 'of = "pier"\n[door]\nlock = false\n'})
    assert publish(folder)[1] == ["pier-1 unchanged", "pier-2 written"]


def test_ovens_that_are_gone(publish, out, write_book):
    folder = write_book()
    publish(folder)
    (out / "notes.json").write_text("{}")
    (folder / "ovens" / "pier-1.toml").unlink()
    assert publish(folder)[1] == ["pier-2 unchanged", "pier-1 removed"]
    assert sorted(path.name for path in out.iterdir()) == ["index.json", "notes.json", "pier-2.json"]


def test_a_book_with_an_error(publish, out, write_book):
    folder = write_book({"company.toml": '[bake]\ntop = "999 C"\n[door]\nlabel = "Oven"\n'})
    message = "company.toml:2: error: bake.top: 999 C is above 300 C\n"
    assert publish(folder) == (1, [], message)
    assert not out.exists()


def test_overrides_do_not_count(publish, out, write_book, monkeypatch):
    monkeypatch.setenv("CRUMB_SET_DOOR_LABEL", "Test")
    publish(write_book())
    assert json.loads((out / "pier-1.json").read_text())["settings"]["door.label"] == "Oven"
