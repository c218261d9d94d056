"""A document with every kind of figure, and arms, for the tests of the HTML page."""

from __future__ import annotations

from analysis.report.figures import Bars, Forest, ForestRow, HeatCell, HeatMap, Point, Scatter
from analysis.report.layout import Document, Section, Table
from analysis.report.source import ArmDetail, Arms, CheckLine, EndingDetail, SessionDetail, Shown

TRAPS = {"c1_return_form": "C1", "c3_late_alerts": "C3"}
CONDITIONS = ("B0", "B5", "B5-SM-LOCAL")
READERS = ("careful", "credulous")


def forest() -> Forest:
    rows = (
        ForestRow("hybrid - B5", "registered", -0.069, -0.139, 0.007, "p = .281, Holm 1: not separated", primary=True),
        ForestRow("typed - B5", "registered", 0.1, 0.02, 0.19, "p = .012, Holm .06: not separated"),
        ForestRow("B5-SM-LOCAL - B0", "registered", None, note="unavailable: p = 1 stays in the family"),
        ForestRow("ALL - B0", "exploratory", 0.5, 0.35, 0.66, "p = .0002: better, exploratory"),
    )
    return Forest("Contrasts", "Share of paired cells by which the first leads.", "difference of Pass@1",
                  "the second passes more", "the first passes more", rows)  # fmt: skip


def heat_map() -> HeatMap:
    cells = tuple(
        tuple(
            HeatCell(None, "-") if condition == "B5-SM-LOCAL" and construct == "C3"
            else HeatCell(number / 3, f"{number}/3", tuple(arm(trap, condition, seed) for seed in (1, 2)))
            for number, condition in enumerate(CONDITIONS, start=1)
        )
        for trap, construct in TRAPS.items()
    )  # fmt: skip
    return HeatMap("Traps by conditions", "Share of seeds that passed.", "trap", tuple(TRAPS), tuple(TRAPS.values()),
                   CONDITIONS, cells)  # fmt: skip


def bars() -> Bars:
    parts = ("used", "admitted only", "not admitted", "gone after sleep", "not written")
    rows = (("B0", (0, 0, 0, 0, 30)), ("B5", (21, 4, 3, 0, 2)), ("none", (0, 0, 0, 0, 0)))
    return Bars("Where facts end", "Facts that govern, by the last stage that they reached.", "condition", parts, rows)


def scatter() -> Scatter:
    points = (
        Point("B0", 0.0, 0.1, 0.05, 0.3, frontier=True),
        Point("B5", 1200.0, 0.7, 0.5, 0.8, frontier=True),
        Point("ALL", 1210.0, 0.69, 0.5, 0.8),
        Point("hosted", None, 0.8, 0.7, 0.9),
        Point("broken", 4000.0, None),
    )
    return Scatter("Cost", "Tokens against Pass@1.", "view tokens", "Pass@1", points)


def document() -> Document:
    table = Table("Pass@1", ("condition", "matched", "95 %", "reading"),
                  (("B0", "0.100", "[0.020, 0.200]", "-"), ("B5", "0.700", "[0.550, 0.820]", "better")),
                  ("A note below.",))  # fmt: skip
    return Document("A run", ("What was run.",), (
        Section("Headline", ("First words.",), (table,), (forest(), heat_map())),
        Section("Headline", (), (), (bars(), scatter())),
    ))  # fmt: skip


def arm(trap: str, condition: str, seed: int) -> str:
    return f"{trap}/{condition}/{seed}/given"


def diff_key(name: str) -> str:
    return f"diff of {name}"


def arms(diff: str = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old = 1\n+new = 2\n") -> Arms:
    texts = {"prompt": "Print the label.\n", "item": "The mark is K7.", "old": "The mark is A1.", "log": "ran\x1b[0m\n"}
    details = []
    for trap, construct in TRAPS.items():
        for condition in CONDITIONS:
            for seed in (1, 2):
                name = arm(trap, condition, seed)
                texts[diff_key(name)] = diff + f"# {name}\n"
                details.append(_detail(name, trap, construct, condition, seed))
    return Arms(tuple(details), texts)


def _detail(name: str, trap: str, construct: str, condition: str, seed: int) -> ArmDetail:
    item = Shown("item", "2024-03-01", "decision", "parcels", "active", "useful")
    old = Shown("old", "2024-01-01", "decision", "parcels", "superseded", "stale", why="superseded")
    carried = (("prompt", 17, "0" * 64),)
    first = [SessionDetail(n, "", "prompt", (), (), 0, 0, "", "passed", carried) for n in (1, 2)]
    last = [
        SessionDetail(3, r, "prompt", (item,), (old,), 2, 15, diff_key(name), "failed", carried, ("timed out",), "log")
        for r in READERS
    ]
    checks = (CheckLine("ok", "the mark is there"), CheckLine("missed", "on every page", "line 3"),
              CheckLine("seen", "an old mark"))  # fmt: skip
    endings = (
        EndingDetail("careful", "pass", "", "", checks[:1], ("mark: used",), (("production", "src/x.py"),)),
        EndingDetail("credulous", "trapped", "an old mark", "oracle", checks, ("mark: used",)),
    )
    return ArmDetail(name, trap, construct, condition, seed, "given", "use", 1, (*first, *last), endings)
