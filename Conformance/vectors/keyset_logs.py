"""What the parts of make_keyset_log.py share: keys, lines, encrypted rows, and the collected vectors."""
from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import os
import sys
from typing import Any, Iterable, Optional

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tests", "Interop", "python"))
sys.dont_write_bytecode = True

import support  # noqa: E402
from make_pushcrypt_v1 import KEYS, XWING_KEYS, made  # noqa: E402
from pushcrypt._json import b64, unb64  # noqa: E402
from pushcrypt._keys import Key  # noqa: E402
from pushcrypt.errors import KeysetFileError  # noqa: E402
from pushcrypt.keyset_log import KeysetFile, KeysetLog, Point  # noqa: E402

PASSPHRASE, OTHER = "correct horse, \u00e9\u0301", "battery staple"
A, B, C, X = KEYS["x25519"], KEYS["p256 psk"], KEYS["p256"], XWING_KEYS["xwing psk"]
S, M, N = KEYS["sender"], KEYS["shared"], KEYS["other shared"]
P, Q = (dataclasses.replace(made("ed25519", label), role="publisher") for label in ("publisher", "other publisher"))
POLICY = {"rotateEvery": "P90D", "publishLead": "P7D", "overlap": "P30D", "keep": 3}
PUBLICATION = {"topics": ["com.example.app"], "validFor": "P60D"}
OVER: dict[str, Any] = {"n": 9, "hash": b64(bytes(range(32)))}
Lines = list[Any]  # of members, or of members with a change of the row: see support.chained


def fixed(label: str, count: int = 16) -> bytes:
    return hashlib.sha256(f"pushcrypt test log: {label}".encode()).digest()[:count]


def random(label: str) -> support.Random:
    """Bytes from a label and a counter."""
    calls: list[int] = []

    def draw(count: int) -> bytes:
        calls.append(count)
        return fixed(f"{label} {len(calls)}", count)
    return draw


ID, PUBLISHER_ID, NEXT_ID, R = (b64(fixed(label)) for label in ("id", "publisher id", "next publisher id", "r"))
assert not any(one.startswith("-") for one in (ID, PUBLISHER_ID, NEXT_ID))
PUBLISHER = {"id": PUBLISHER_ID, "n": 4, "hash": b64(fixed("publisher's head", 32))}
SECRETS: dict[str, Any] = {"first": PASSPHRASE, "kms": fixed("a command's output", 32), "third": OTHER}


def day(number: int, time: str = "09:00:00Z") -> str:
    """A day of March 2026."""
    return f"2026-03-{number:02}T{time}"


def line(what: str, at: str, **members: Any) -> dict[str, Any]:
    return {"at": at, "who": "alice", "what": what, **members}


def created(kind: str = "recipient", **members: Any) -> dict[str, Any]:
    return line("created", day(1), id=ID, kind=kind, **members)


def public(key: Key) -> dict[str, str]:
    """The JWK of a line: a psk isn't in it."""
    return dataclasses.replace(key, secret=None, psk=None).record()


def added(key: Key, **members: Any) -> dict[str, Any]:
    """A key's first entry. A shared key has no jwk."""
    jwk = {} if key.kind == "oct" else {"jwk": public(key)}
    psk = {} if key.psk is None else {"psk": True}
    return {**jwk, **psk, "createdAt": day(1), "activatesAt": day(1), **members}


def life(algorithm: str, **members: Any) -> dict[str, Any]:
    """A key in the state of a log. A value of None takes a moment out."""
    every = {"createdAt": day(1), "activatesAt": day(1), "algorithm": algorithm, **members}
    return {name: value for name, value in every.items() if value is not None}


VALUES: dict[str, Any] = {"null": None, "true": True, "a number": 1, "a string": "x", "an array": [], "an object": {}}
NO_NAMES = {"empty": "", "of 65 characters": "n" * 65, "with a space": "a b", "with a slash": "a/b",
            "with an accent": "\u00e9", "with a line feed": "a\n"}
KEYED = [created(keys={A.kid: added(A)}), line("rotated", day(2), keys={A.kid: {"retiresAt": day(9)}})]
ENCRYPTED = [created(keys={A.kid: added(A), B.kid: added(B)}, secrets=["first"]),
             line("rotated", day(2), keys={A.kid: {"retiresAt": day(9)}})]


def records(*keys: Key) -> list[dict[str, str]]:
    return [key.record() for key in keys]


def at(members: Any, path: str) -> Any:
    """The value at a path, whose parts are separated by spaces."""
    for part in path.split():
        members = members[int(part) if isinstance(members, list) else part]
    return members


def changed(members: Any, path: str, value: Any) -> Any:
    """With another value at `path`; `...` takes the member out."""
    result = copy.deepcopy(members)
    *parents, name = path.split()
    parent = at(result, " ".join(parents))
    parent[name] = value
    if value is ... and parents:
        del parent[name]
    return result


def without(members: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name not in names}


def flipped(data: bytes) -> Iterable[tuple[str, bytes]]:
    """A bit at the start and one at the end."""
    return (("at its start", bytes([data[0] ^ 1]) + data[1:]), ("at its end", data[:-1] + bytes([data[-1] ^ 1])))


def sealed(lines: Lines, keys: list[Any], secrets: Optional[dict[str, Any]] = None, label: str = "sealed",
           **options: Any) -> tuple[bytes, dict[str, Any]]:
    """The rows of a log and the members of its last row, with encrypted keys."""
    rows = support.chained(lines)
    chosen = {"first": PASSPHRASE} if secrets is None else secrets
    return rows, support.sealed_members(rows, keys, chosen, random(label), **options)


def points(rows: bytes) -> list[dict[str, Any]]:
    """Each line's point, and those that it gives up."""
    found = []
    for row in rows[:-1].split(b"\n"):
        found += [support.head(row + b"\n"), *json.loads(row).get("over", [])]
    return found


class Vectors:
    """Collects vectors, each checked against the package."""

    def __init__(self) -> None:
        self.found: dict[str, list[dict[str, Any]]] = {"accepted": [], "refused": [], "extends": []}

    def _add(self, part: str, name: str, **members: Any) -> None:
        assert all(entry["name"] != name for entry in self.found[part]), name
        self.found[part].append({"name": name, **{key: value for key, value in members.items() if value is not None}})

    def accept(self, name: str, rows: bytes, last: bytes, state: dict[str, Any],
               passphrase: Optional[str] = None) -> None:
        """`state` is what the log says. Every log has epochs, so a state without them has none."""
        first, head, expected = json.loads(rows.split(b"\n")[0]), support.head(rows), {"epochs": {}, **state}
        file = KeysetFile.from_bytes(rows + last, passphrase)
        log = file.log
        assert support.log_state(log) == expected, (name, support.log_state(log), expected)
        assert (log.id, log.kind, support.point(log.head)) == (first["id"], first["kind"], head), name
        assert [support.point(one) for one in log.points] == points(rows), name
        if file.material is not None:
            material = {kid for kid, key in expected["keys"].items() if "destroyedAt" not in key and "lost" not in key}
            assert {entry.key.kid for entry in file.keyset().entries} == material, name
        self._add("accepted", name, keyset=(rows + last).decode(), passphrase=passphrase, id=first["id"],
                  kind=first["kind"], head=head, state=expected, points=points(rows))

    def plain(self, name: str, lines: Lines, material: list[Any], **state: Any) -> None:
        """A file with keys in clear."""
        rows = support.chained(lines)
        self.accept(name, rows, support.plain_row(rows, material), state)

    def refuse(self, name: str, code: str, row: int, text: bytes, passphrase: Optional[str] = None) -> None:
        try:
            KeysetFile.from_bytes(text, passphrase)
        except KeysetFileError as refusal:
            assert (refusal.code, refusal.row) == (code, row), (name, refusal, refusal.row)
        else:
            raise AssertionError(name)
        self._add("refused", name, keyset=text.decode(), passphrase=passphrase, code=code, row=row)

    def wrong(self, name: str, code: str, row: int, lines: Lines, *keys: Key) -> None:
        """Refuses a log. The last row is right, with the material of `keys`."""
        rows = support.chained(lines)
        self.refuse(name, code, row, rows + support.plain_row(rows, records(*keys)))

    def finish(self, name: str, code: str, row: int, rows: list[bytes]) -> None:
        """Refuses rows that aren't chained again. The last row is right, without material."""
        text = b"\n".join(rows)
        self.refuse(name, code, row, text + support.plain_row(text, []))

    @staticmethod
    def check(lines: Lines, *keys: Key) -> None:
        """The log is accepted before something in it is changed."""
        rows = support.chained(lines)
        KeysetFile.from_bytes(rows + support.plain_row(rows, records(*keys)))

    def extend_point(self, name: str, log: bytes, expected: bool, point: dict[str, Any]) -> None:
        assert KeysetLog.from_bytes(log).extends(Point(point["n"], unb64(point["hash"]))) is expected, name
        self._add("extends", name, log=log.decode(), point=point, extends=expected)

    def extend_log(self, name: str, log: bytes, expected: bool, other: bytes) -> None:
        assert KeysetLog.from_bytes(log).extends_log(KeysetLog.from_bytes(other)) is expected, name
        self._add("extends", name, log=log.decode(), other=other.decode(), extends=expected)
