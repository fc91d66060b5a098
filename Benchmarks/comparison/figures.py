"""Ratios by round and their medians. A value below 1 is better than the implementation that follows `over_`."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median, quantiles

from .measure import SUITES, THREADS, Samples
from .runners import PEER_NAMES, REFERENCE_NAMES


@dataclass(frozen=True)
class Figure:
    """A median, and the two values between which half of the rounds lie."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(values: list[float]) -> Figure:
        if len(values) < 2:
            return Figure(values[0], values[0], values[0])
        low, middle, high = quantiles(values, n=4, method="inclusive")
        return Figure(middle, low, high)


def divided(above: list[float] | None, below: list[float] | None) -> Figure | None:
    """The median of the rounds' ratios: an influence that slows a whole round down cancels out."""
    if not above or not below:
        return None
    return Figure.of([left / right for left, right in zip(above, below)])


def over(samples: Samples, job: str, other: str, other_job: str | None = None) -> Figure | None:
    return divided(samples.of("library", job), samples.of(other, other_job or job))


def floor_ratios(samples: Samples) -> dict[str, Figure | None]:
    found: dict[str, Figure | None] = {}
    for suite in SUITES:
        for verb in ("seal", "open"):
            found[f"{verb}.suite{suite}.over_floor"] = over(samples, f"{verb}{suite}", "floor")
        found[f"payload.suite{suite}.over_floor"] = over(samples, f"payload{suite}seal", "floor")
        found[f"payload_open.suite{suite}.over_floor"] = over(samples, f"payload{suite}open", "floor")
    for verb in ("seal", "open"):
        name = "floor.evp.suite1.over_floor" if verb == "seal" else "floor.evp_open.suite1.over_floor"
        found[name] = divided(samples.of("floor", f"{verb}1evp"), samples.of("floor", f"{verb}1"))
    return found


def peer_ratios(samples: Samples) -> dict[str, Figure | None]:
    return {
        f"{verb}.suite{suite}.over_peer.{peer}": over(samples, f"{verb}{suite}", peer)
        for suite in SUITES for verb in ("seal", "open") for peer in PEER_NAMES
    }


def reference_ratios(samples: Samples) -> dict[str, Figure | None]:
    """`reference.NAME` is sealing with the nearest suite. The name of a reference with several suites contains them."""
    found: dict[str, Figure | None] = {}
    for name in REFERENCE_NAMES:
        suites = [suite for suite in SUITES if samples.of(name, f"seal{suite}")]
        for suite in suites:
            key = f"reference.{name}" if len(suites) == 1 else f"reference.{name}.suite{suite}"
            found[key] = over(samples, f"seal{suite}", name)
            found[f"{key}.open"] = over(samples, f"open{suite}", name)
    return found


def speed_ups(samples: Samples, runner: str, job: str) -> list[float] | None:
    """By round, the speed-up: the operations of several threads over those of one thread in the same time."""
    alone, together = samples.of(runner, job), samples.of(runner, job, THREADS)
    if not alone or not together:
        return None
    return [THREADS * one / several for one, several in zip(alone, together)]


def thread_ratios(samples: Samples) -> dict[str, Figure | None]:
    found: dict[str, Figure | None] = {}
    for suite in SUITES:
        job = f"seal{suite}"
        floor, library = speed_ups(samples, "floor", job), speed_ups(samples, "library", job)
        found[f"threads{THREADS}.suite{suite}.over_floor"] = divided(floor, library)
    return found


def all_ratios(samples: Samples) -> dict[str, Figure]:
    found = floor_ratios(samples) | peer_ratios(samples) | reference_ratios(samples) | thread_ratios(samples)
    return {name: figure for name, figure in found.items() if figure is not None}


def median_of(samples: Samples, runner: str, job: str, threads: int = 1) -> float | None:
    values = samples.of(runner, job, threads)
    return median(values) if values else None
