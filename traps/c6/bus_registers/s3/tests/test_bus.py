from crumb.bus import REGISTERS


def values(out):
    return [line.split(" ")[1] for line in out.splitlines()]


def test_registers_of_three_settings():
    assert list(REGISTERS) == ["bake.top", "steam.seconds", "door.lock"]
    assert len(set(REGISTERS.values())) == 3


def test_values_and_sum(crumb, own_book):
    status, out, _ = crumb(own_book, "bus", "mill-1")
    assert (status, values(out)) == (0, ["092E", "0008", "0000", "0936"])
    assert [line.split(" ")[0] for line in out.splitlines()] == [*REGISTERS.values(), "SUM"]
    assert out.endswith("\n")


def test_overrides_count(crumb, own_book):
    _, out, _ = crumb(own_book, "bus", "mill-1", "--set", "door.lock=on", "--set", "bake.top=300 C")
    assert values(out) == ["0BB8", "0008", "0001", "0BC1"]


def test_what_the_book_does_not_have(crumb, write_book):
    folder = write_book()
    assert values(crumb(folder, "bus", "pier-1")[1]) == ["08FC", "0001", "08FD"]
    rows = crumb(folder, "registers")[1].splitlines()
    assert [row.split()[0] for row in rows] == ["bake.top", "door.lock"]


def test_the_table(crumb, own_book):
    width = max(map(len, REGISTERS.values()))
    rows = [
        f"bake.top       {REGISTERS['bake.top']:<{width}}  heat from above",
        f"steam.seconds  {REGISTERS['steam.seconds']:<{width}}  length of one burst",
        f"door.lock      {REGISTERS['door.lock']:<{width}}  lock the door while steam is in the chamber",
    ]
    assert crumb(own_book, "registers") == (0, "".join(f"{row}\n" for row in rows), "")
