"""The vectors, and the keys in them."""
from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any, Iterator

from pushcrypt._keys import Key, load_key

TOPIC, AT, DAY = "com.example.app", 1_800_000_000, 86_400
HOST = "push.example.com"
DEVICE = "phone-1_A"


VERSION = 1


class OtherVersion(Exception):
    """The vectors have another form than this kit reads."""


class Vectors:
    """A folder of vectors. Files are read when a case needs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, Any] = {}

    def load(self, name: str) -> Any:
        """Raises OtherVersion."""
        if name not in self._files:
            path = self.folder / f"{name}.json"
            file = self._files[name] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
            if file.get("version") != VERSION:
                raise OtherVersion(f"{path} isn't there, or has another version than {VERSION}: the kit and the vectors belong together")
        return self._files[name]

    @cached_property
    def keys(self) -> dict[str, Key]:
        """Private keys by name."""
        records = {**self.load("pushcrypt-v1")["keys"], **self.load("xwing-keys")["keys"]}
        return {name: load_key(record) for name, record in records.items()}

    @cached_property
    def digest(self) -> str:
        """It names the version of the vectors: 8 characters of a digest of all files."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.glob("*.json")):
            digest.update(hashlib.sha256(path.name.encode() + b"\0" + path.read_bytes()).digest())
        return digest.hexdigest()[:8]

    def record(self, name: str) -> str:
        """What a sender gets of a key: without the private part."""
        return json.dumps(self.keys[name].record(private=False))

    def private(self, name: str) -> str:
        return json.dumps(self.keys[name].record())


def found(given: str | None, start: Path) -> Path | None:
    """The folder of the vectors: the given one, else `Conformance/vectors` around this package or `start`."""
    if given is not None:
        folder = Path(given)
        return folder if _has_vectors(folder) else None
    for root in _around(Path(__file__).resolve(), start.resolve()):
        folder = root / "Conformance" / "vectors"
        if _has_vectors(folder):
            return folder
    return None


def _around(*paths: Path) -> Iterator[Path]:
    for path in paths:
        yield from (path, *path.parents)


def _has_vectors(folder: Path) -> bool:
    return (folder / "envelopes-v1.json").is_file()
