"""Published key sets and registration records, written from the protocol page alone (sections 3 and 9)."""
from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import Any, Optional

import pushcrypt_reference as pc
from strict_json import Obj, Refusal, is_integer, parse, unb64

MOMENTS = ("createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt", "destroyedAt")
YEARS_0_TO_9999 = range(-62_167_219_200, 253_402_300_800)  # Unix seconds
FOUR_CENTURIES = 146_097  # days
_KIND = {"p256": "recipient", "x25519": "recipient", "oct": "shared", "ed25519": "sender"}
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII)


def kind_of(key: pc.Key) -> str:
    """The kind of a key: recipient, shared, sender, or publisher for a sender's record with that role."""
    return key.role or _KIND[key.kind]


@dataclass(frozen=True)
class Entry:
    """One key of a set, with its times in Unix seconds."""

    key: pc.Key
    times: dict[str, int] = field(default_factory=dict)
    demands_psk: bool = False

    def has_come(self, moment: str, now: int) -> bool:
        return moment in self.times and self.times[moment] <= now

    def seals(self, now: int) -> bool:
        """Whether activatesAt <= t < retiresAt, and the key is neither revoked, expired nor destroyed."""
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


@dataclass(frozen=True)
class Keyset:
    """Keys of one kind."""

    entries: list[Entry]
    kind: str
    updated_at: Optional[int] = None

    def effective(self, at: int) -> int:
        """The time of evaluation: the later of the clock and the last write."""
        return at if self.updated_at is None else max(at, self.updated_at)

    def primary(self, at: int) -> Optional[Entry]:
        """Of the keys that seal, the one with the greatest (activatesAt, createdAt, kid bytes)."""
        now = self.effective(at)
        sealing = [entry for entry in self.entries if entry.seals(now)]
        order = lambda entry: (entry.times["activatesAt"], entry.times.get("createdAt", -2**63), entry.key.kid)
        return max(sealing, key=order, default=None)

    def states(self, at: int) -> dict[str, str]:
        primary = self.primary(at)
        return {entry.key.kid: "primary" if entry is primary else entry.state(self.effective(at))
                for entry in self.entries}

    def opening(self, kid: str, at: int) -> Optional[Entry]:
        """The key to open or verify with, or None. Refusal: keyExpired, keyRevoked."""
        found = next((entry for entry in self.entries if entry.key.kid == kid), None)
        now = self.effective(at)
        if found and found.has_come("revokedAt", now):
            raise Refusal("keyRevoked")
        if found and found.state(now) in ("expired", "destroyed"):
            raise Refusal("keyExpired")
        return found


def seconds(text: Any) -> int:
    """RFC 3339, to the second, of the years 0 to 9999 in UTC; a leap second counts as the second after it."""
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if not match:
        raise Refusal("malformed", "time")
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    sign, hours, minutes = match.group(7), int(match.group(8) or 0), int(match.group(9) or 0)
    if hour > 23 or minute > 59 or second > 60 or hours > 23 or minutes > 59:
        raise Refusal("malformed", "time")
    try:  # datetime begins with the year 1, and the calendar repeats after 400 years
        later = datetime.date(year or 400, month, day) - datetime.date(1970, 1, 1)
    except ValueError:
        raise Refusal("malformed", "time") from None
    days = later.days - (0 if year else FOUR_CENTURIES)
    offset = (hours * 3600 + minutes * 60) * (-1 if sign == "-" else 1)
    found = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    if found not in YEARS_0_TO_9999:
        raise Refusal("malformed", "time")
    return found


def read(text: bytes) -> Keyset:
    """One JWK, which always seals, or a JWK set.

    Refusal: `malformed`, `unsupportedKey`, `invalidKey`, `kidMismatch`, `duplicateKey`, `wrongKind`, `invalidDeviceID`.
    """
    root, _ = parse(text)
    if "keys" not in root:
        return _keyset([Entry(pc.load_key(root), {"activatesAt": 0}, "psk" in root)])
    if not isinstance(root["keys"], list):
        raise Refusal("malformed", "keys")
    keys = [pc.load_key(jwk) for jwk in root["keys"]]
    if "pushcrypt" not in root:
        if len(keys) != 1:
            raise Refusal("malformed", "several keys without times")
        return _keyset([Entry(keys[0], {"activatesAt": 0}, keys[0].psk is not None)])
    member = root["pushcrypt"]
    if not isinstance(member, Obj) or not is_integer(member.get("seq")) or not isinstance(member.get("keys"), Obj):
        raise Refusal("malformed", "seq or keys")
    entries = [_entry(key, member["keys"].get(key.kid)) for key in keys]
    return _keyset(entries, seconds(member["updatedAt"]) if "updatedAt" in member else None)


def _entry(key: pc.Key, member: Any) -> Entry:
    if not isinstance(member, Obj):
        raise Refusal("malformed", "a key's times")
    times = {moment: seconds(member[moment]) for moment in MOMENTS if moment in member}
    if "psk" in member and (member["psk"] is not True or kind_of(key) != "recipient"):
        raise Refusal("malformed", "psk")
    return Entry(key, times, "psk" in member or key.psk is not None)


def _keyset(entries: list[Entry], updated_at: Optional[int] = None) -> Keyset:
    kinds = {kind_of(entry.key) for entry in entries}
    if not entries:
        raise Refusal("malformed", "no keys")
    if len(kinds) > 1:
        raise Refusal("wrongKind", "several kinds of keys")
    if len({entry.key.kid for entry in entries}) < len(entries):
        raise Refusal("duplicateKey")
    return Keyset(entries, kinds.pop(), updated_at)


def _only(keyset: Keyset) -> Entry:
    """The only key of a set. It must have no retiresAt, expiresAt or revokedAt, so that its use needs no clock."""
    entry = keyset.entries[0]
    if len(keyset.entries) > 1 or any(name in entry.times for name in ("retiresAt", "expiresAt", "revokedAt")):
        raise Refusal("malformed", "choose a key by time")
    return entry


def recipient(text: bytes) -> pc.Key:
    """Reads a registration record, a device's key or a shared key as a sender does. Refusal: also `pskMissing`."""
    entry = _only(read(text))
    if entry.key.kind == "ed25519" or (entry.key.kind != "oct" and entry.key.secret is not None):
        raise Refusal("wrongKind", "a sender's key, or a private one")
    if entry.demands_psk and entry.key.psk is None:
        raise Refusal("pskMissing")
    return entry.key


def signer(text: bytes) -> pc.Key:
    """A sender's private key."""
    key = _only(read(text)).key
    if kind_of(key) != "sender" or key.secret is None:
        raise Refusal("wrongKind", "not a sender's private key")
    return key


def senders(text: bytes) -> Keyset:
    """The sender keys that a recipient pins."""
    keyset = read(text)
    if keyset.kind != "sender":
        raise Refusal("wrongKind", "not sender keys")
    return keyset


READERS = {"keyset": lambda text: [entry.key.kid for entry in read(text).entries],
           "recipient": lambda text: [recipient(text).kid], "signer": lambda text: [signer(text).kid],
           "senders": lambda text: [entry.key.kid for entry in senders(text).entries]}


def open_payload(payload: bytes, keyset: bytes, pinned: Optional[bytes], topic: str, at: int) -> pc.Opened:
    """`pc.open_payload` with key sets. A revoked or expired key opens and verifies nothing."""
    recipients = read(keyset)
    trusted = senders(pinned) if pinned is not None else None
    root, _ = parse(payload)
    envelope = root.get("pushcrypt")
    if isinstance(envelope, Obj) and envelope.get("v") == 1:
        for keys, name in ((recipients, "kid"), (trusted, "skid")):
            if keys is not None and name in envelope:
                unb64(envelope[name], 8)
                # Regardless of the message, a revoked sender key verifies nothing as soon as its set is read.
                for entry in keys.entries if name == "skid" else ():
                    if entry.key.kid == envelope[name] and "revokedAt" in entry.times:
                        raise Refusal("keyRevoked")
                keys.opening(envelope[name], at)
    own = [entry.key for entry in recipients.entries if entry.key.secret is not None]
    return pc.open_payload(payload, own, topic, at, [entry.key for entry in trusted.entries] if trusted else None)
