"""The table for the terminal."""

from __future__ import annotations

from .figures import Figure, divided, median_of
from .measure import SUITES, THREADS, Samples

SUITE_NAMES = {
    1: "suite 1: HPKE P-256, AES-256-GCM", 2: "suite 2: HPKE X25519, AES-128-GCM",
    3: "suite 3: HPKE X-Wing, AES-256-GCM", 4: "suite 4: shared secret, HKDF, AES-256-GCM",
}


def ratio_text(figure: Figure | None) -> str:
    return f"{figure.median:7.3f}  ({figure.low:.3f} – {figure.high:.3f})" if figure else ""


def row(samples: Samples, runner: str, job: str, compared_to: str) -> str:
    values = samples.of(runner, job)
    assert values is not None
    own = Figure.of(values)
    spread = f"{own.low / 1000:.2f} – {own.high / 1000:.2f}"
    ratio = None if runner == "library" else divided(samples.of("library", compared_to), values)
    name = f"{runner}, EVP" if job.endswith("evp") else runner
    return f"    {name:<14}{own.median / 1000:>10.2f}  {spread:>19}   {ratio_text(ratio)}"


def job_rows(samples: Samples, job: str) -> list[str]:
    """Rows: the library first, then from fast to slow."""
    runners = [cell.runner for cell in samples.rounds if cell.job == job and cell.threads == 1]
    runners.sort(key=lambda runner: (runner != "library", median_of(samples, runner, job)))
    rows = [row(samples, runner, job, job) for runner in runners]
    return rows + ([row(samples, "floor", f"{job}evp", job)] if samples.of("floor", f"{job}evp") else [])


def times(samples: Samples) -> list[str]:
    lines = [f"{'':18}{'median µs':>10}  {'half of the rounds':>19}     library ÷ it (half of the rounds)"]
    for suite in SUITES:
        lines += ["", SUITE_NAMES[suite]]
        if suite not in samples.suites:
            lines.append("  not measured: it needs OpenSSL 3.5")
            continue
        titles = {
            f"seal{suite}": "seal, 256 bytes", f"open{suite}": "open, 256 bytes",
            f"payload{suite}seal": "seal, JSON in to JSON out", f"payload{suite}open": "open, JSON in to JSON out",
        }
        for job, title in titles.items():
            lines += [f"  {title}", *job_rows(samples, job)]
    return lines


def section(title: str, rows: dict[str, tuple[Figure, float, float]], unit: str, per: float) -> list[str]:
    lines = ["", title]
    for name, (ratio, own, other) in rows.items():
        lines.append(f"    {name:<30}{ratio_text(ratio)}   {own / per:.2f} and {other / per:.2f} {unit}")
    return lines


def threads(ratios: dict[str, Figure]) -> list[str]:
    names = [name for name in ratios if name.startswith("threads")]
    if not names:
        return []
    title = f"{THREADS} threads: speed-up of the floor ÷ speed-up of the library, sealing"
    return ["", title] + [f"    {name:<30}{ratio_text(ratios[name])}" for name in names]


def instructions(counter: str, found: dict[str, tuple[float, float]]) -> list[str]:
    lines = ["", f"Instructions of an operation, by {counter}: library, floor, ratio"]
    for job, (library, floor) in found.items():
        lines.append(f"    {job:<16}{library:>12,.0f}{floor:>12,.0f}{library / floor:>9.3f}")
    return lines
