"""A document and arms in which every text that could come from a sandbox tries to become markup or script."""

from __future__ import annotations

from analysis.report.figures import Bars, Forest, ForestRow, HeatCell, HeatMap, Point, Scatter
from analysis.report.layout import Document, Section, Table
from analysis.report.source import ArmDetail, Arms, CheckLine, EndingDetail, SessionDetail, Shown

#: Each sets window.__hit, opens a dialog, leaves the page or asks for a file if it is taken for more than text.
ATTACKS = (
    "<script>window.__hit=1;alert(1)</script>",
    "</script><script>window.__hit=2</script>",
    "</style><script>window.__hit=3</script>",
    '"><img src=x onerror="window.__hit=4">',
    "'><svg onload=window.__hit=5></svg>",
    "</title><script>window.__hit=6</script>",
    "</textarea></details></pre><iframe srcdoc='<script>parent.__hit=7</script>'></iframe>",
    "<meta http-equiv=refresh content='0;url=https://example.invalid/'>",
    "<base href=https://example.invalid/><link rel=stylesheet href=x.css>",
    "<style>body{display:none;background:url(https://example.invalid/x)}</style>",
    "<!--<script>",
    "]]><a href=javascript:window.__hit=8 autofocus onfocus=window.__hit=9>x</a>",
    "javascript:window.__hit=10",
    "{{ 7 * 7 }}{% raw %}${window.__hit=11}",
    "\x00\x1b[31m\u2028window.__hit=12//\u202e\ufeff\ud800\uffff",
    "&lt;img src=x onerror=window.__hit=13&gt;",
    '#arm-x" onclick="window.__hit=14',
    "../../../../etc/passwd",
    "constructor __proto__ toString",
)
EVERYTHING = " ".join(ATTACKS)


def name(number: int) -> str:
    """An arm's id; the parts of a trap's or a history's name are hostile too."""
    return f"{ATTACKS[number]}/B{number}/1/{ATTACKS[-1 - number]}"


def document() -> Document:
    cells = tuple((HeatCell(0.5, attack, (name(number),)),) for number, attack in enumerate(ATTACKS))
    figures = (
        Forest(*ATTACKS[:5], tuple(ForestRow(a, a, 0.1, 0.0, 0.2, a) for a in ATTACKS)),
        HeatMap(*ATTACKS[5:8], ATTACKS, ATTACKS, (EVERYTHING,), cells),
        Bars(*ATTACKS[8:11], ATTACKS, tuple((a, (1,) * len(ATTACKS)) for a in ATTACKS)),
        Scatter(*ATTACKS[11:15], tuple(Point(a, float(n), 0.5) for n, a in enumerate(ATTACKS))),
    )
    table = Table(EVERYTHING, ATTACKS, (ATTACKS, tuple(reversed(ATTACKS))), ATTACKS)
    sections = tuple(Section(attack, ATTACKS, (table,)) for attack in ATTACKS[:3])
    return Document(EVERYTHING, ATTACKS, (Section(EVERYTHING, ATTACKS, (table,), figures), *sections))


def arms() -> Arms:
    texts = {str(number): f"{attack}\n+{attack}\n-{attack}\n@@ {attack}" for number, attack in enumerate(ATTACKS)}
    return Arms(tuple(_detail(number, attack) for number, attack in enumerate(ATTACKS)), texts)


def _detail(number: int, attack: str) -> ArmDetail:
    key = str(number)
    items = (Shown(key, attack, attack, attack, attack, attack), Shown(key, why=attack))
    session = SessionDetail(3, attack, key, items, items, 2, 1, key, attack, ((attack, 1, attack),), (attack,), key)
    checks = tuple(CheckLine(mark, attack, attack) for mark in ("ok", "missed", "seen", attack))
    ending = EndingDetail(attack, attack, attack, attack, checks, (attack,), ((attack, attack),))
    return ArmDetail(name(number), ATTACKS[number], attack, f"B{number}", 1, attack, attack, 1, (session,), (ending,))
