import json


def test_an_existing_file_is_kept(crumb, own_book, tmp_path):
    path = tmp_path / "panel.json"
    path.write_text("by hand")
    words = ("export", "panel", "pier-1", "--output", str(path))
    message = f"crumb: {path} is there already; --force replaces it\n"
    assert crumb(own_book, *words) == (1, "", message)
    assert path.read_text() == "by hand"
    assert crumb(own_book, *words, "--force") == (0, f"pier-1 in {path}\n", "")
    assert json.loads(path.read_text())["oven"] == "pier-1"


def test_missing_folders_are_made(crumb, own_book, tmp_path):
    path = tmp_path / "out" / "coast" / "pier-1.plc"
    assert crumb(own_book, "export", "plc", "pier-1", "--output", str(path))[0] == 0
    assert path.read_bytes().startswith(b"OVEN=pier-1\r\n")


def test_force_does_no_harm_without_a_file(crumb, own_book):
    assert crumb(own_book, "export", "plc", "pier-1", "--force")[1].startswith("OVEN=pier-1")
