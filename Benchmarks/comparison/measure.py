"""Runs the jobs of all runners interleaved, in many short rounds: a disturbance affects neighbouring jobs, too."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .runners import Runner

SUITES = (1, 2, 3, 4)
RAW_JOBS = [f"{verb}{suite}" for suite in SUITES for verb in ("seal", "open")]
PAYLOAD_JOBS = [f"payload{suite}{verb}" for suite in SUITES for verb in ("seal", "open")]
EVP_JOBS = ["seal1evp", "open1evp"]
THREADS = 2
OWN = ("floor", "library")


@dataclass(frozen=True)
class Cell:
    """One runner's job on some threads."""

    runner: str
    job: str
    threads: int = 1


@dataclass
class Samples:
    """Nanoseconds per operation by round. All lists have the same round at the same index."""

    rounds: dict[Cell, list[float]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def suites(self) -> list[int]:
        """The suites that the library has here. Suite 3 needs OpenSSL 3.5."""
        return [suite for suite in SUITES if self.of("library", f"seal{suite}")]

    def of(self, runner: str, job: str, threads: int = 1) -> list[float] | None:
        return self.rounds.get(Cell(runner, job, threads))


@dataclass(frozen=True)
class Plan:
    rounds: int
    # The duration of one measurement of one round.
    milliseconds: float


def wanted_cells(runners: list[Runner]) -> list[Cell]:
    cells = [Cell(runner.name, job) for job in RAW_JOBS for runner in runners]
    for own in OWN:
        cells += [Cell(own, job) for job in PAYLOAD_JOBS]
        cells += [Cell(own, f"seal{suite}", THREADS) for suite in SUITES]
    return cells + [Cell("floor", job) for job in EVP_JOBS]


def calibrated_count(runner: Runner, cell: Cell, milliseconds: float) -> int | None:
    """The number of operations that take about `milliseconds`; None if the runner doesn't have the job."""
    count = 1
    while True:
        taken = runner.nanoseconds(cell.job, count, cell.threads)
        if taken is None:
            return None
        if taken > milliseconds * 250_000 or count >= 1 << 20:
            return max(1, round(count * milliseconds * 1_000_000 / max(taken, 1)))
        count *= 4


def calibrate(runners: dict[str, Runner], plan: Plan) -> dict[Cell, int]:
    counts = {}
    for cell in wanted_cells(list(runners.values())):
        # A stretch begins with waking the threads and finding cores. A long stretch makes this part of the time small.
        milliseconds = plan.milliseconds * (30 if cell.threads > 1 else 1)
        count = calibrated_count(runners[cell.runner], cell, milliseconds)
        if count is not None:
            counts[cell] = count
    return counts


def shuffled(cells: list[Cell], order: random.Random) -> list[Cell]:
    """Changes the order each time. The floor and the library stay neighbours, since their ratios are the smallest."""
    own = [cell for cell in cells if cell.runner in OWN]
    others = [cell for cell in cells if cell.runner not in OWN]
    order.shuffle(own)
    order.shuffle(others)
    place = order.randint(0, len(others))
    return others[:place] + own + others[place:]


def measure(started: list[Runner], plan: Plan, progress) -> Samples:
    """Each round runs every job once on all runners, job after job, so that the runs of one job are close together in
    time. The order changes from round to round."""
    runners = {runner.name: runner for runner in started}
    counts = calibrate(runners, plan)
    samples = Samples({cell: [] for cell in counts}, {runner.name: runner.versions for runner in started})
    order = random.Random(1)
    jobs = sorted({cell.job for cell in counts})
    for number in range(plan.rounds):
        order.shuffle(jobs)
        for job in jobs:
            for cell in shuffled([cell for cell in counts if cell.job == job], order):
                taken = runners[cell.runner].nanoseconds(job, counts[cell], cell.threads)
                assert taken is not None
                samples.rounds[cell].append(taken / counts[cell])
        progress(number + 1, plan.rounds)
    return samples
