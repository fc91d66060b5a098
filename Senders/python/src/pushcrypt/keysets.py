"""Published key sets and key lifecycles (PROTOCOL sections 3 and 9)."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Union

from ._json import Obj, is_integer, json_bytes, parse
from ._keys import Key, load_key
from ._times import seconds
from .errors import Flaw, KeyRecordError

#: A JWK or a JWK set: its JSON, or the object.
RecordText = Union[Mapping[str, Any], str, bytes]

MAX_SIZE = 4 * 2**20  # bytes of a set, and of a keyset's file
MAX_TOPICS, LONGEST_VALIDITY_IN_SECONDS = 16, 90 * 86_400  # of a signed set (PROTOCOL section 10)
MOMENTS = ("createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt", "destroyedAt")
_KIND = {"p256": "recipient", "x25519": "recipient", "xwing": "recipient", "oct": "shared", "ed25519": "sender"}


def kind_of(key: Key) -> str:
    """The kind of a key: recipient, shared, sender, or publisher for a sender's record with that role."""
    return key.role or _KIND[key.kind]


@dataclass(frozen=True)
class Entry:
    """One key of a set, with its times in Unix seconds."""

    key: Key
    times: Mapping[str, int] = field(default_factory=dict)
    demands_psk: bool = False

    def has_come(self, moment: str, now: int) -> bool:
        return moment in self.times and self.times[moment] <= now

    def seals(self, now: int) -> bool:
        """Whether activatesAt <= now < retiresAt, and the key is neither revoked, expired nor destroyed."""
        ended = "destroyedAt" in self.times or any(
            self.has_come(moment, now) for moment in ("retiresAt", "revokedAt", "expiresAt"))
        return self.has_come("activatesAt", now) and not ended

    def state(self, now: int) -> str:
        """The state, except `primary`."""
        if "destroyedAt" in self.times:
            return "destroyed"
        for moment, state in (("revokedAt", "revoked"), ("expiresAt", "expired"), ("activatesAt", "retiring"),
                              ("retiresAt", "retiring")):
            if self.has_come(moment, now):
                return state
        return "pending"

    @property
    def rank(self) -> tuple[int, int, str]:
        """(activatesAt, createdAt, kid bytes)"""
        return self.times["activatesAt"], self.times.get("createdAt", -2**63), self.key.kid


@dataclass(frozen=True)
class Keyset:
    """Keys of one kind with their times: `recipient`, `shared`, `sender` or `publisher`.

    `sequence` grows with every change of a published set. Store the last one, and pass it as `minimum_sequence`.
    """

    entries: tuple[Entry, ...] = field(repr=False)
    kind: str
    sequence: int | None = None
    updated_at: int | None = None

    @classmethod
    def from_json(cls, text: RecordText, *, minimum_sequence: int = 0) -> Keyset:
        """Reads one JWK, whose key always seals and opens, or a JWK set.

        Raises KeyRecordError: `malformed`, `unsupportedKey`, `invalidKey`, `kidMismatch`, `duplicateKey`, `wrongKind`,
        `invalidDeviceID`, `tooLarge` for more than 4 MiB, or `rolledBack` if the set is older than one that you have seen.
        """
        keyset = read(text)
        if keyset.sequence is not None and keyset.sequence < minimum_sequence:
            raise KeyRecordError("rolledBack", f"the set has the seq {keyset.sequence}, and you have seen {minimum_sequence}: "
                                 "someone serves an old set")
        return keyset

    def effective(self, at: int) -> int:
        """The time of evaluation: the later of the clock and the last write."""
        return at if self.updated_at is None else max(at, self.updated_at)

    def primary(self, at: int) -> Entry | None:
        """Of the keys that seal, the one with the greatest (activatesAt, createdAt, kid bytes)."""
        now = self.effective(at)
        return max((entry for entry in self.entries if entry.seals(now)), key=lambda entry: entry.rank, default=None)

    def states(self, at: int) -> dict[str, str]:
        """`pending`, `primary`, `retiring`, `expired`, `revoked` or `destroyed` by kid, at a Unix time."""
        primary = self.primary(at)
        return {entry.key.kid: "primary" if entry is primary else entry.state(self.effective(at))
                for entry in self.entries}

    def entry(self, kid: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.key.kid == kid), None)

    def opening(self, kid: str, at: int) -> Key | None:
        """The key to open or verify with. Raises KeyRecordError `keyExpired` or `keyRevoked`."""
        found, now = self.entry(kid), self.effective(at)
        if found is None:
            return None
        if found.has_come("revokedAt", now):
            raise KeyRecordError("keyRevoked", f"key {kid} was revoked")
        if found.state(now) in ("expired", "destroyed"):
            raise KeyRecordError("keyExpired", f"key {kid} has expired")
        return found.key

    def verification_key(self, skid: str, at: int) -> Key | None:
        """The pinned sender key. A revoked one verifies nothing, whatever its time of revocation."""
        found = self.entry(skid)
        if found is not None and "revokedAt" in found.times:
            raise KeyRecordError("keyRevoked", f"sender key {skid} was revoked")
        return self.opening(skid, at)


def record_bytes(text: RecordText) -> bytes:
    found = json_bytes(text)
    if len(found) > MAX_SIZE:
        raise KeyRecordError("tooLarge", "the key record or set has more than 4 MiB")
    return found


def always(keys: Iterable[Key], kind: str) -> Keyset:
    """Keys without an end."""
    return _checked([Entry(key, {"activatesAt": 0}, key.psk is not None) for key in keys], kind)


def read(text: RecordText) -> Keyset:
    """See `Keyset.from_json`."""
    try:
        root, _ = parse(record_bytes(text))
        return _read(root)
    except Flaw as flaw:
        raise KeyRecordError("malformed", f"the key record or set: {flaw.reason}") from None


def _read(root: Obj) -> Keyset:
    records = root.get("keys")
    if "keys" in root and not isinstance(records, list):
        raise Flaw("keys isn't an array")
    keys = [load_key(jwk) for jwk in ([root] if records is None else records)]
    if not keys:
        raise Flaw("it has no keys")
    if "keys" not in root or "pushcrypt" not in root:
        if len(keys) != 1:
            raise Flaw("it has several keys and no times: it isn't a set that pushcrypt published")
        return always(keys, kind_of(keys[0]))
    member = root["pushcrypt"]
    if not isinstance(member, Obj) or not is_integer(member.get("seq")) or not isinstance(member.get("keys"), Obj):
        raise Flaw("its member pushcrypt has no seq or no keys")
    updated_at = seconds(member["updatedAt"], "updatedAt") if "updatedAt" in member else None
    return _checked([_entry(key, member["keys"].get(key.kid)) for key in keys], kind_of(keys[0]), member["seq"], updated_at)


def _entry(key: Key, member: Any) -> Entry:
    if not isinstance(member, Obj):
        raise Flaw(f"it has no times of key {key.kid}")
    times = {moment: seconds(member[moment], moment) for moment in MOMENTS if moment in member}
    if "psk" in member and (member["psk"] is not True or kind_of(key) != "recipient"):
        raise Flaw(f"psk of key {key.kid} isn't true, or the key can't have one")
    return Entry(key, times, "psk" in member or key.psk is not None)


def _checked(entries: list[Entry], kind: str, sequence: int | None = None, updated_at: int | None = None) -> Keyset:
    if any(kind_of(entry.key) != kind for entry in entries):
        raise KeyRecordError("wrongKind", "the set has keys of several kinds")
    if len({entry.key.kid for entry in entries}) < len(entries):
        raise KeyRecordError("duplicateKey", "the set has two keys of one kid")
    return Keyset(tuple(entries), kind, sequence, updated_at)
