"""Builds the compared programs. Only the floor and the library are required; a missing part is reported and skipped."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from .places import BENCHMARKS, BUILD, FLOOR, REPOSITORY, VENV


class Missing(Exception):
    """A part is missing, and the reason."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(command: list[str], what: str, folder: Path = REPOSITORY, input: str | None = None) -> str:
    """Standard output of a command. Its standard error is shown only if it fails."""
    try:
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, input=input)
    except OSError as error:
        raise Missing(f"{what}: {error}") from error
    if result.returncode != 0:
        said = (result.stdout + result.stderr).strip().splitlines()[-12:]
        raise Missing("\n    ".join([f"{what}: exit code {result.returncode}", *said]))
    return result.stdout


# Whether to use the programs that an earlier run built.
skip = False


def floor() -> Path:
    if skip:
        return found(FLOOR)
    run(["make", "-C", str(BENCHMARKS / "floor"), f"OUT={BUILD}"], "building the floor")
    return FLOOR


def found(program: Path) -> Path:
    if not program.exists():
        raise Missing(f"{program.name}: not built; run this without --skip-build first")
    return program


def swift_product(product: str, package: Path = BENCHMARKS) -> Path:
    """The release build of a product, of a package or of those that it depends on."""
    if skip:
        return found(package / ".build" / "release" / product)
    command = ["swift", "build", "-c", "release", "--package-path", str(package)]
    run([*command, "--product", product], f"building {product}")
    return Path(run([*command, "--show-bin-path"], f"building {product}").strip()) / product


def python_of_peers() -> Path:
    """A virtual environment with the peers that are Python packages."""
    python, done = VENV / "bin" / "python", VENV / "requirements.txt"
    requirements = BENCHMARKS / "requirements.txt"
    if not done.exists() or done.read_text() != requirements.read_text():
        run([sys.executable, "-m", "venv", str(VENV)], "making the peers' virtual environment")
        run([str(python), "-m", "pip", "install", "-q", "-r", str(requirements)], "installing the peers")
        shutil.copy(requirements, done)
    return python


def crosscheck(floor: Path, library: Path, others: list[list[str]]) -> None:
    """Verifies that the floor and the programs written here do the library's job: each opens the other's messages."""
    for check in [[str(floor), "check"], *others]:
        sealed = subprocess.run([str(library), "sealed"], capture_output=True, text=True, check=True)
        answered = subprocess.run(check, input=sealed.stdout, capture_output=True, text=True)
        opened = subprocess.run([str(library), "open"], input=answered.stdout, capture_output=True, text=True)
        if answered.returncode != 0 or opened.returncode != 0:
            raise SystemExit(f"{' '.join(check)} and the library differ:\n{answered.stderr}{opened.stderr}")
