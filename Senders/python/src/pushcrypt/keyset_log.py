"""A keyset's file: a log of all changes, and the keys (docs/keyset-log.md of pushcrypt's repository).

keyset  = *(LINE LF) LAST LF                    at least one LINE; at most 4 MiB
history = *(LINE LF)                            the log alone

`KeysetLog` reads the log and computes what the keyset is. `KeysetFile` also reads the keys.
"""
from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Sequence

from . import _keyset_material
from ._keyset_material import Lock, LoggedKey, logged_key
from ._keys import Key
from ._log_line import Fault, KeyChange, Line, Point, parse_row, read_line
from .errors import Flaw, KeyRecordError, KeysetFileError
from .keysets import LONGEST_VALIDITY_IN_SECONDS, MAX_SIZE, Entry, Keyset

_FINAL = ("revokedAt", "destroyedAt")
#: The members that only lines of these actions have.
_PLACES = {"issued_at": ("published", "restored"), "over": ("restored",), "revoked": ("restored",),
           "epoch": ("published",), "valid_until": ("published",), "publisher": ("published",)}

__all__ = ["KeysetFile", "KeysetLog", "LoggedKey", "Line", "Point"]


@dataclass(frozen=True)
class KeysetLog:
    """What a log says. Times are Unix seconds; what no line says is None."""

    lines: tuple[Line, ...] = field(repr=False)
    id: str
    kind: str
    """`recipient`, `sender`, `shared` or `publisher`."""
    keys: Mapping[str, LoggedKey]
    policy: Mapping[str, Any] | None
    publication: Mapping[str, Any] | None
    epochs: Mapping[int, str]
    """The id of the publisher keyset that signs each epoch."""
    writer: str | None
    secrets: tuple[str, ...] | None
    issued_at: int | None
    revoked_elsewhere: Mapping[str, int]
    """When the keys were revoked that only other logs of this keyset have had."""

    @classmethod
    def from_bytes(cls, history: bytes) -> KeysetLog:
        """Reads the lines of a log without a last row. Raises KeysetFileError."""
        return _read_log(_rows(history))

    @property
    def at(self) -> int:
        """The time of the last line."""
        return self.lines[-1].at

    @property
    def head(self) -> Point:
        """The point of the last line."""
        return self.lines[-1].point

    @property
    def points(self) -> tuple[Point, ...]:
        """The points of its lines, each followed by those that the line gives up."""
        return tuple(point for line in self.lines for point in (line.point, *(line.over or ())))

    def is_revoked(self, kid: str) -> bool:
        """Whether the key was revoked, in this log or in one that a restoration gave up."""
        return kid in self.revoked_elsewhere or (kid in self.keys and "revokedAt" in self.keys[kid].times)

    def extends(self, point: Point) -> bool:
        """Whether the log has the point."""
        return point in self.points

    def extends_log(self, other: KeysetLog) -> bool:
        """Whether the log begins with the other log, or a person has given up the rest of that log."""
        return self.extends(other.head)


@dataclass(frozen=True)
class KeysetFile:
    """A keyset's file whose keys are in clear, or are encrypted."""

    log: KeysetLog
    locks: tuple[Lock, ...] = field(repr=False)
    """The secrets of the encrypted keys; empty if the keys are in clear."""
    material: tuple[Key, ...] | None = field(repr=False)
    """The private keys; None if they are encrypted and no secret was given."""

    @classmethod
    def from_path(
        cls, path: str | os.PathLike[str], passphrase: str | None = None, *, command: Sequence[str] | None = None,
        seen: Point | None = None,
    ) -> KeysetFile:
        """Reads a file that no other user can open (mode 0600), or that root owns (0640). Links are followed.

        `seen` is a point of the log that was seen before, such as the `head` of an earlier run: an older file is refused. The others
        are those of `from_bytes`. Raises KeysetFileError: also `foreignOwner`, `looseMode`, `olderThanHistory`; OSError.
        """
        with open(path, "rb") as file:
            _check_private(path, os.fstat(file.fileno()))
            found = cls.from_bytes(file.read(MAX_SIZE + 1), passphrase, command=command)
        if seen is not None and not found.log.extends(seen):
            raise KeysetFileError("olderThanHistory", f"the log doesn't have line {seen.n} as it was seen before", 0)
        return found

    @classmethod
    def from_bytes(
        cls, data: bytes, passphrase: str | None = None, *, command: Sequence[str] | None = None
    ) -> KeysetFile:
        """Reads a file, and decrypts its keys if a secret is given: a passphrase, or a command that unwraps their key. Then it
        refuses keys in clear.

        `command` is a program and its arguments. It gets one more argument, `unwrap`, and no shell runs it. Without a secret
        the log of encrypted keys is read, and nothing proves that it is genuine. Raises KeysetFileError.
        """
        secret = _keyset_material.secret_of(passphrase, command)
        rows = _rows(data)
        with _row(len(rows)):
            last, text = parse_row(rows[-1])
        if "v" not in last and "prev" in last:
            raise KeysetFileError("incomplete", "the last row is missing", 0)
        with _row(len(rows)):
            _keyset_material.check_version(last)
        log = _read_log(rows[:-1])
        history = b"".join(row + b"\n" for row in rows[:-1])
        with _row(len(rows)):
            if "sealed" not in last:
                _keyset_material.check_plain(last, text, history)
                if secret is not None:
                    raise Fault("notEncrypted", "the keys are in clear, although a secret was given")
                return cls(log, (), _keyset_material.read_material(last["keys"], log.keys))
            locks = _keyset_material.read_locks(last)
            if secret is None:
                return cls(log, locks, None)
            jwks = _keyset_material.unlock(last, text, locks, history, secret)
            _keyset_material.check_names(locks, log.secrets or ())
            return cls(log, locks, _keyset_material.read_material(jwks, log.keys))

    def keyset(self) -> Keyset:
        """The keys with their times, without destroyed and lost ones. Raises KeysetFileError: `secretNeeded`."""
        if self.material is None:
            needed = _keyset_material.described(self.locks)
            raise KeysetFileError("secretNeeded", f"the keys are encrypted: give {needed}", len(self.log.lines) + 1)
        entries = tuple(Entry(key, self._times(key.kid), self.log.keys[key.kid].psk) for key in self.material)
        return Keyset(entries, self.log.kind, self.log.head.n, self.log.at)

    def _times(self, kid: str) -> Mapping[str, int]:
        """The moments of a key. A revocation counts at once, also if its time is to come."""
        times = dict(self.log.keys[kid].times)
        if "revokedAt" in times:
            times["revokedAt"] = min(times["revokedAt"], self.log.at)
        return times


def _check_private(path: str | os.PathLike[str], status: os.stat_result) -> None:
    """docs/keyset-log.md, "Files that are only read". A pipe has no mode."""
    if not hasattr(os, "geteuid") or stat.S_ISFIFO(status.st_mode):
        return
    if status.st_uid not in (os.geteuid(), 0):
        raise KeysetFileError("foreignOwner", f"{os.fspath(path)} belongs to another user", 0)
    if status.st_mode & (0o077 if status.st_uid else 0o037):
        raise KeysetFileError("looseMode", f"other users can open {os.fspath(path)}: chmod 600", 0)


# --- Reading -----------------------------------------------------------------------------------------------------


@contextmanager
def _row(number: int) -> Iterator[None]:
    """Turns a flaw into the refusal of a row."""
    try:
        yield
    except Fault as fault:
        raise KeysetFileError(fault.code, f"row {number}: {fault.reason}", number) from None
    except Flaw as flaw:
        raise KeysetFileError("malformed", f"row {number}: {flaw.reason}", number) from None
    except KeyRecordError as error:
        raise KeysetFileError(error.code, f"row {number}: {error.reason}", number) from None


def _rows(data: bytes) -> list[bytes]:
    if len(data) > MAX_SIZE:
        raise KeysetFileError("tooLarge", "the file has more than 4 MiB", 0)
    if not data.endswith(b"\n"):
        raise KeysetFileError("incomplete", "the file is empty, or its end is missing", 0)
    return data[:-1].split(b"\n")


def _read_log(rows: list[bytes]) -> KeysetLog:
    if not rows:
        raise KeysetFileError("incomplete", "there is no line", 0)
    fold = _Fold()
    for number, row in enumerate(rows, 1):
        with _row(number):
            fold.add(read_line(row))
    return KeysetLog(tuple(fold.lines), fold.id, fold.kind, fold.keys, fold.policy, fold.publication, fold.epochs,
                     fold.writer, fold.secrets, fold.issued_at, fold.revoked_elsewhere)


@dataclass
class _Fold:
    """The lines so far, and what they say."""

    lines: list[Line] = field(default_factory=list)
    id: str = ""
    kind: str = ""
    keys: dict[str, LoggedKey] = field(default_factory=dict)
    policy: Mapping[str, Any] | None = None
    publication: Mapping[str, Any] | None = None
    epochs: dict[int, str] = field(default_factory=dict)
    writer: str | None = None
    secrets: tuple[str, ...] | None = None
    issued_at: int | None = None
    revoked_elsewhere: dict[str, int] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        self._check_order(line)
        self._check_beginning(line)
        self._check_places(line)
        for kid, change in (line.keys or {}).items():
            self._change_key(kid, change)
        for kid, at in (line.revoked or {}).items():
            if kid in self.keys:
                raise Fault("misplaced", f"the log has key {kid}: revoked names only keys that it never had")
            self.revoked_elsewhere.setdefault(kid, at)
        for name in ("policy", "publication", "writer", "secrets"):
            if getattr(line, name) is not None:
                setattr(self, name, getattr(line, name))
        self._change_epochs(line.epochs or {})
        self._check_publication(line)
        self.lines.append(line)

    def _check_order(self, line: Line) -> None:
        last = self.lines[-1] if self.lines else None
        number = last.n if last is not None else 0
        if line.n <= number or (line.n != number + 1 and line.what != "restored"):
            raise Fault("wrongNumber", f"the line has the number {line.n}, and the one before has {number}")
        if line.prev != (last.hash if last is not None else bytes(32)):
            raise Fault("brokenChain", "prev isn't the hash of the line before")
        if last is not None and line.at < last.at and line.what != "clockCorrected":
            raise Fault("timeWentBack", "at is before that of the line before")

    def _check_beginning(self, line: Line) -> None:
        """Line 1, and no other line, is `created` and has `id` and `kind`."""
        if (line.what == "created") == bool(self.lines):
            raise Fault("misplaced", "line 1 isn't created, or another line is")
        if self.lines:
            if line.id is not None or line.kind is not None:
                raise Fault("misplaced", "only line 1 has id and kind")
            return
        if line.id is None or line.kind is None:
            raise Flaw("line 1 has no id or no kind")
        self.id, self.kind = line.id, line.kind

    def _check_places(self, line: Line) -> None:
        """Which members a line of its action, in a keyset of this kind, can have."""
        if any(getattr(line, name) is not None and line.what not in actions for name, actions in _PLACES.items()):
            raise Fault("misplaced", f"a line {line.what} has a member that it can't have")
        if self.kind != "sender" and (line.publication is not None or line.epochs):
            raise Fault("misplaced", "only a sender's keyset has publication and epochs")
        if self.kind == "publisher" and line.policy is not None:
            raise Fault("misplaced", "a publisher's keyset has no policy")

    def _change_key(self, kid: str, change: KeyChange) -> None:
        known = self.keys.get(kid)
        if known is None:
            if kid in self.revoked_elsewhere:
                raise Fault("misplaced", f"key {kid} was revoked before it was added")
            known = logged_key(kid, change, self.kind)
        elif change.jwk is not None or change.psk:
            raise Fault("misplaced", f"key {kid} is known: it gets no jwk and no psk")
        times = dict(known.times)
        for moment, at in change.moments.items():
            if moment in _FINAL and moment in times:
                continue
            if at is None:
                times.pop(moment, None)
            else:
                times[moment] = at
        lost = known.lost if change.lost is None else change.lost
        self.keys[kid] = LoggedKey(kid, known.algorithm, known.jwk, times, known.psk, lost)

    def _change_epochs(self, epochs: Mapping[int, str | None]) -> None:
        for epoch, keyset in epochs.items():
            if keyset is None:
                self.epochs.pop(epoch, None)
            else:
                self.epochs[epoch] = keyset

    def _check_publication(self, line: Line) -> None:
        if line.what == "published" and line.issued_at is None:
            raise Flaw("a line published has no issuedAt")
        if (line.epoch is None) != (line.valid_until is None) or (line.epoch is None and line.publisher is not None):
            raise Flaw("epoch and validUntil aren't together, or publisher is without them")
        if line.issued_at is None:
            return
        if self.issued_at is not None and line.issued_at < self.issued_at:
            raise Fault("timeWentBack", "issuedAt is before an earlier one")
        if line.epoch is not None and line.epoch not in self.epochs:
            raise Fault("unknownEpoch", f"{line.epoch} isn't one of the epochs")
        if line.valid_until is not None and not 0 < line.valid_until - line.issued_at <= LONGEST_VALIDITY_IN_SECONDS:
            raise Flaw("validUntil isn't within 90 days after issuedAt")
        self.issued_at = line.issued_at
