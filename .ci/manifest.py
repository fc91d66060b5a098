"""The package's manifest as SwiftPM evaluates it on Apple's systems."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def write_apple_manifest(package):
    """Writes Package.swift to a folder, with the branch for Apple's systems only, and links the folders of its targets."""
    manifest = (ROOT / "Package.swift").read_text()
    condition = "#if os(Linux)"
    if condition not in manifest:
        raise SystemExit("Package.swift has no branch for Linux: this check is out of date")
    package.mkdir(parents=True, exist_ok=True)
    (package / "Package.swift").write_text(manifest.replace(condition, "#if false"))
    for name in ["Sources", "Tests", "Examples"]:
        (package / name).symlink_to(ROOT / name)


def dump(package):
    command = ["swift", "package", "--package-path", package, "dump-package"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def build_plan(package):
    """Returns the targets in the build plan of SwiftPM's new engine, which Xcode uses, by their identifiers, and its warnings.

    It is made as on a Mac without Homebrew: pkg-config finds nothing.
    """
    command = ["swift", "package", "--package-path", package, "--build-system", "swiftbuild", "dump-pif"]
    (package / "pkg-config").symlink_to("/bin/false")
    environment = {**os.environ, "PATH": f"{package}:{os.environ['PATH']}"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    targets = {entry["contents"]["guid"]: entry["contents"] for entry in json.loads(done.stdout) if entry["type"] == "target"}
    return targets, {line for line in done.stderr.splitlines() if line.startswith("warning")}


def dependencies(target, platform=None):
    """Yields (kind, name) for each dependency of a target; on one platform only, if it is given.

    The kind is "product" for a product of another package.
    """
    for dependency in target["dependencies"]:
        kind, values = next(iter(dependency.items()))
        condition = next((value for value in values if isinstance(value, dict)), None) or {}
        platforms = condition.get("platformNames") or [platform]
        if platform is None or platform in platforms:
            yield kind, values[1] if kind == "product" else values[0]
