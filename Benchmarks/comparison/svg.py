"""The picture: the cost of each runner as a multiple of the floor, a panel for each operation, for light and dark."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape

from .figures import Figure, divided, median_of
from .measure import Samples
from .runners import PEER_NAMES

# Without custom properties: some SVG renderers don't support them.
LIGHT = {
    "ground": "#ffffff", "text": "#1f2328", "quiet": "#59636e", "pushcrypt": "#0969da", "floor": "#8c959f",
    "peer": "#a9bdd2", "reference": "#dfc897",
}
DARK = {
    "ground": "#0d1117", "text": "#e6edf3", "quiet": "#9198a1", "pushcrypt": "#4493f8", "floor": "#6e7681",
    "peer": "#41546b", "reference": "#66572f",
}
SHAPES = """
text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif }
.head { font-weight: 600; font-size: 13px } .own { font-weight: 600 } .title { font-weight: 600; font-size: 16px }
.end { text-anchor: end } .one { stroke-dasharray: 2 3 } .value { paint-order: stroke; stroke-width: 4px }
"""


def colours(palette: dict[str, str]) -> str:
    fills = [f".{name} {{ fill: {colour} }}" for name, colour in palette.items() if name != "text"]
    # Text on the line of the floor gets an outline in the background's colour.
    lines = [f".one {{ stroke: {palette['quiet']} }}", f".value {{ stroke: {palette['ground']} }}"]
    return "\n".join([f"text {{ fill: {palette['text']} }}", *fills, *lines])


def style() -> str:
    return f"{SHAPES}{colours(LIGHT)}\n@media (prefers-color-scheme: dark) {{\n{colours(DARK)}\n}}\n"


WIDTH, MARGIN, TOP = 960, 24, 92
COLUMN, LABEL, VALUE, GAP = 444, 76, 118, 24
BAR, STEP, HEAD, BELOW = 14, 20, 26, 22
SUITE_NAMES = {1: "suite 1 (P-256)", 2: "suite 2 (X25519)", 3: "suite 3 (X-Wing)", 4: "suite 4 (shared secret)"}


@dataclass(frozen=True)
class Bar:
    name: str
    kind: str
    times_floor: float
    microseconds: float


@dataclass(frozen=True)
class Panel:
    title: str
    bars: list[Bar]

    @property
    def height(self) -> int:
        return HEAD + STEP * len(self.bars) + BELOW

    @property
    def longest(self) -> float:
        return max(bar.times_floor for bar in self.bars)


def kind(runner: str) -> str:
    if runner in ("library", "floor"):
        return "pushcrypt" if runner == "library" else runner
    return "peer" if runner in PEER_NAMES else "reference"


def bar(samples: Samples, runner: str, job: str) -> Bar | None:
    ratio: Figure | None = divided(samples.of(runner, job), samples.of("floor", job))
    own = median_of(samples, runner, job)
    if ratio is None or own is None:
        return None
    return Bar("pushcrypt" if runner == "library" else runner, kind(runner), ratio.median, own / 1000)


def panel(samples: Samples, title: str, job: str) -> Panel:
    runners = {cell.runner for cell in samples.rounds if cell.job == job and cell.threads == 1}
    found = [made for runner in runners if (made := bar(samples, runner, job))]
    order = {"floor": 0, "pushcrypt": 1, "peer": 2, "reference": 3}
    return Panel(title, sorted(found, key=lambda bar: (order[bar.kind], bar.times_floor)))


def rows_of_panels(samples: Samples) -> list[tuple[Panel, Panel]]:
    raw = [
        (panel(samples, f"Seal 256 bytes, {SUITE_NAMES[suite]}", f"seal{suite}"),
         panel(samples, f"Open 256 bytes, {SUITE_NAMES[suite]}", f"open{suite}")) for suite in samples.suites
    ]
    payload = [
        (panel(samples, f"Seal, JSON to JSON, {SUITE_NAMES[suite]}", f"payload{suite}seal"),
         panel(samples, f"Open, JSON to JSON, {SUITE_NAMES[suite]}", f"payload{suite}open")) for suite in samples.suites
    ]
    return raw + payload


def time_text(microseconds: float) -> str:
    digits = 0 if microseconds >= 100 else 1 if microseconds >= 10 else 2
    return f"{microseconds:,.{digits}f} µs"


def drawn_bar(bar: Bar, x: int, y: int, scale: float) -> list[str]:
    length = max(bar.times_floor * scale, 1)
    own = " own" if bar.kind == "pushcrypt" else ""
    value = f"{bar.times_floor:.2f} × · {time_text(bar.microseconds)}"
    return [
        f'<text x="{x + LABEL - 8}" y="{y + 11}" class="end{own}">{escape(bar.name)}</text>',
        f'<rect x="{x + LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2" class="{bar.kind}"/>',
        f'<text x="{x + LABEL + length + 6:.1f}" y="{y + 11}" class="value{own}">{value}</text>',
    ]


def drawn_panel(panel: Panel, x: int, y: int) -> list[str]:
    scale = (COLUMN - LABEL - VALUE) / panel.longest
    one = x + LABEL + scale
    bottom = y + HEAD + STEP * len(panel.bars) - 3
    drawn = [
        f'<text x="{x}" y="{y + 12}" class="head">{escape(panel.title)}</text>',
        f'<line x1="{one:.1f}" x2="{one:.1f}" y1="{y + HEAD - 4}" y2="{bottom}" class="one"/>',
    ]
    for index, bar in enumerate(panel.bars):
        drawn += drawn_bar(bar, x, y + HEAD + index * STEP, scale)
    return drawn


def legend(y: int) -> list[str]:
    kinds = [
        ("floor", "the primitives alone, in C"), ("pushcrypt", "pushcrypt"), ("peer", "HPKE of others"),
        ("reference", "another construction, or put together here"),
    ]
    drawn, x = [], MARGIN
    for name, text in kinds:
        drawn += [
            f'<rect x="{x}" y="{y - 10}" width="12" height="12" rx="2" class="{name}"/>',
            f'<text x="{x + 18}" y="{y}" class="quiet">{text}</text>',
        ]
        x += 18 + 7 * len(text) + 24
    return drawn


def drawn(samples: Samples, note: str) -> str:
    body, y = [], TOP
    for row in rows_of_panels(samples):
        for column, panel in enumerate(row):
            body += drawn_panel(panel, MARGIN + column * (COLUMN + GAP), y)
        y += max(panel.height for panel in row)
    title = "What a message costs, as a multiple of its primitives: shorter is better"
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}" role="img">',
        f"<title>{title}</title>", f"<style>{style()}</style>",
        f'<rect width="{WIDTH}" height="{y}" class="ground"/>',
        f'<text x="{MARGIN}" y="32" class="title">{title}</text>',
        f'<text x="{MARGIN}" y="50" class="quiet">{escape(note)}</text>', *legend(72),
    ]
    return "\n".join([*head, *body, "</svg>", ""])
