"""The keys that a program holds. None of them shows key material when it is printed."""
from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import date
from typing import Iterable, Protocol, runtime_checkable

from . import _device_set, _keys
from ._envelope import proof
from ._keys import RANK, RECIPIENT_KINDS, Key
from ._message import WINDOW_IN_SECONDS
from .errors import KeyRecordError
from .keysets import Entry, Keyset, RecordText, always, kind_of

_SUITES = {1: "p256", 2: "x25519", 3: "xwing", 4: "oct"}


@dataclass(frozen=True, repr=False)
class _KeyHolder:
    """A key of one use. It is immutable. Use a class method to make one."""

    _key: Key

    @property
    def kid(self) -> str:
        """The key's id, 11 characters."""
        return self._key.kid

    def __repr__(self) -> str:
        suite = f" suite={self._key.suite}" if self._key.suite else ""
        device = f" device={self._key.device}" if self._key.device is not None else ""
        return f"<{type(self).__name__} {self.kid}{suite}{device}>"


class Recipient(_KeyHolder):
    """The key of one installation of the app, which a sender seals to."""

    @classmethod
    def from_jwk(cls, record: RecordText, *, at: float | None = None) -> Recipient:
        """Reads a registration record, a public key, a shared key or a device key: a JWK, or a set of one JWK, whose key must seal now,
        or at another Unix time.

        Raises KeyRecordError: `wrongKind` for a sender's key or a recipient's private key, `pskMissing`, `noKeySeals`, or a code of
        `Keyset.from_json`.
        """
        return cls(sealing_key(_primary(_only(record), at)))

    @classmethod
    def from_keyset(cls, keyset: Keyset, *, at: float | None = None, allows_lower_suite: bool = False) -> Recipient:
        """Chooses the key of a published set that seals now, or at another Unix time.

        `allows_lower_suite` allows a set whose newest key has a suite that ranks below that of an older one. Pass True only if an
        operator has decided it: someone who can change the set could otherwise make all further pushes easier to open.

        Raises KeyRecordError: `suiteTooLow`, `noKeySeals`, and the codes of `from_jwk`.
        """
        if type(allows_lower_suite) is not bool:
            raise TypeError("allows_lower_suite isn't True or False")
        if not allows_lower_suite:
            _check_newest(keyset)
        return cls(sealing_key(_primary(keyset, at)))

    def for_device(self, device: str) -> Recipient:
        """A device's own key, if this is the shared key of many devices.

        Raises KeyRecordError: `invalidDeviceID`, and `wrongKind` for every other key.
        """
        return Recipient(_keys.device_key(self._key, device))

    @property
    def device(self) -> str | None:
        """The device id, if this is the key of one device."""
        return self._key.device

    @property
    def suite(self) -> int:
        """The suite of messages to the key, 1 to 4."""
        return self._key.suite

    @property
    def proves_sender(self) -> bool:
        """Whether sealing to this key requires a secret: a psk or a shared key."""
        return proof(self._key, signed=False) != 0

    @property
    def longest_lifetime(self) -> int:
        """How many seconds after its sealing a push to this device may expire: 30 days, or the flight of its device set."""
        return WINDOW_IN_SECONDS if self._key.device_set is None else self._key.device_set.flight

    def jwk(self) -> dict[str, str]:
        """The record. It contains the psk or the shared key."""
        return self._key.record(private=False)


class RecipientKey(_KeyHolder):
    """A recipient's private key, or a shared key, to open with. It is for tests: on a device, the app's extension has the key."""

    @classmethod
    def generate(cls, suite: int = 1, *, psk: bool = True) -> RecipientKey:
        """A fresh key: suite 1 is P-256, 2 is X25519, 3 is X-Wing, 4 is a shared secret, which has no psk.

        Raises KeyRecordError: `unsupportedSuite` if the package cryptography has no ML-KEM.
        """
        if type(psk) is not bool:
            raise TypeError("psk isn't True or False")
        if type(suite) is not int or suite not in _SUITES:
            raise KeyRecordError("unsupportedKey", "the suite isn't 1, 2, 3 or 4")
        return cls(_keys.generate(_SUITES[suite], psk and suite != 4))

    @classmethod
    def from_jwk(cls, record: RecordText) -> RecipientKey:
        """Reads a private JWK. Raises KeyRecordError: `wrongKind`, `keyExpired`, or a code of `Keyset.from_json`."""
        key = _opening(record)
        if key.kind == "ed25519":
            raise KeyRecordError("wrongKind", f"key {key.kid} is a sender's: it opens nothing")
        key.material  # raises for a public key
        return cls(key)

    def for_device(self, device: str) -> RecipientKey:
        """A device's own key, if this is the shared key of many devices."""
        return RecipientKey(_keys.device_key(self._key, device))

    def registration_record(self, device_set: str | None = None) -> dict[str, str]:
        """The JWK that the app uploads. It contains the psk or the shared key: it is a secret between app and backend."""
        return {**self._key.record(private=False), **({} if device_set is None else {"deviceSet": device_set})}

    def day_key(self) -> RecipientKey:
        """A fresh day key of this device: it has the suite and the psk of this key, and signatures to it name this key."""
        return RecipientKey(self._key.as_day_key(_keys.generate(self._key.kind)))

    def device_set(
        self, keys: Iterable[tuple[RecipientKey, date, int]], *, sequence: int, flight: int = _device_set.DAY
    ) -> str:
        """The device set that `registration_record` takes: day keys, each with its first day in UTC and its number of days, 1 to 7.

        `sequence` grows with each upload. `flight` is the longest lifetime of a push, 1 to 7 days in seconds. Only readers check this.
        """
        found = []
        for key, first, count in keys:
            start, day = (first - date(1970, 1, 1)).days, _device_set.DAY
            days = _device_set.Days(start * day, (start + count) * day, key.kid)
            found.append((replace(key._key, psk=None).record(private=False), days))
        return _device_set.written(found, sequence, flight, self.kid, self._key.psk or b"")

    def private_jwk(self) -> dict[str, str]:
        """The whole key."""
        return self._key.record()


class _SigningKey(_KeyHolder):
    def public_jwk(self) -> dict[str, str]:
        """The record without the private key."""
        return self._key.record(private=False)

    def private_jwk(self) -> dict[str, str]:
        """The whole key. Write it only to a file that no other user can read."""
        return self._key.record()


@runtime_checkable
class Signer(Protocol):
    """Gives the key that signs a push: a `SenderKey`, or a `pushcrypt.keyset_watcher.KeysetWatcher`, whose key changes."""

    def sender_key(self, at: float | None = None) -> SenderKey:
        """The key that signs now, or at a Unix time. Raises KeyRecordError: `noKeySeals`, `wrongKind`."""


class SenderKey(_SigningKey):
    """A sender's private key, Ed25519, which signs messages."""

    @classmethod
    def generate(cls) -> SenderKey:
        return cls(_keys.generate("ed25519"))

    @classmethod
    def from_jwk(cls, record: RecordText, *, at: float | None = None) -> SenderKey:
        """Reads a private JWK, or a set of one. Raises KeyRecordError: `wrongKind`, `noKeySeals`, or a code of `Keyset.from_json`."""
        return cls.from_keyset(_only(record), at=at)

    @classmethod
    def from_keyset(cls, keyset: Keyset, *, at: float | None = None) -> SenderKey:
        """Chooses the key of a private set that signs now, or at another Unix time. Raises KeyRecordError: also `noKeySeals`."""
        return cls(_signing_key(_primary(keyset, at), "sender"))

    def sender_key(self, at: float | None = None) -> SenderKey:
        """The key itself, at any time."""
        return self


class PublisherKey(_SigningKey):
    """A publisher's private key, Ed25519, which signs sets of sender keys and never messages."""

    @classmethod
    def generate(cls) -> PublisherKey:
        made = _keys.generate("ed25519")
        return cls(Key(made.kind, made.kid, made.public, made.secret, role="publisher"))

    @classmethod
    def from_jwk(cls, record: RecordText, *, at: float | None = None) -> PublisherKey:
        """Reads a private JWK, or a set of one. Raises KeyRecordError: `wrongKind`, `noKeySeals`, or a code of `Keyset.from_json`."""
        return cls(_signing_key(_primary(_only(record), at), "publisher"))


def pinned(*records: RecordText) -> Keyset:
    """A set of sender keys that an app pins without an end, each from its public JWK.

    The sets that `pushcrypt keys export` prints contain times: read them with `Keyset.from_json`. Raises KeyRecordError:
    `wrongKind`, `keyExpired`, `malformed` for a set with times, or a code of `Keyset.from_json`.
    """
    if not records:
        raise TypeError("pinned needs the JWK of at least one sender key")
    return always([_opening(record) for record in records], "sender")


def _only(record: RecordText, advice: str = "choose one with from_keyset") -> Keyset:
    """A set of one key. It must have no retiresAt, expiresAt or revokedAt: the key that is read knows no end."""
    keyset = Keyset.from_json(record)
    if len(keyset.entries) > 1 or not {"retiresAt", "expiresAt", "revokedAt"}.isdisjoint(keyset.entries[0].times):
        raise KeyRecordError("malformed", f"this is a set of keys with times: {advice}")
    return keyset


def _opening(record: RecordText) -> Key:
    """The only key of a set, to open or verify with."""
    entry = _only(record, "read it with Keyset.from_json").entries[0]
    if "destroyedAt" in entry.times:
        raise KeyRecordError("keyExpired", f"key {entry.key.kid} was destroyed")
    return entry.key


def _primary(keyset: Keyset, at: float | None) -> Entry:
    entry = keyset.primary(int(time.time() if at is None else at))
    if entry is None:
        raise KeyRecordError("noKeySeals", "no key of the set is active at this time: fetch the set again, or rotate it")
    return entry


def _check_newest(keyset: Keyset) -> None:
    """The newest key must not rank below an older one (PROTOCOL section 3)."""
    dated = [entry for entry in keyset.entries if "activatesAt" in entry.times and entry.key.suite in RANK]
    newest = max(dated, key=lambda entry: entry.rank, default=None)
    older = next((entry for entry in dated if newest and RANK[newest.key.suite] < RANK[entry.key.suite]), None)
    if newest is not None and older is not None:
        raise KeyRecordError("suiteTooLow", f"the newest key of the set, {newest.key.kid}, has suite {newest.key.suite}, which ranks "
                             f"below suite {older.key.suite} of key {older.key.kid}: a set never goes back unless an operator allows it")


def sealing_key(entry: Entry) -> Key:
    key = entry.key
    if key.kind not in (*RECIPIENT_KINDS, "oct"):
        raise KeyRecordError("wrongKind", f"key {key.kid} is a sender's: nothing is sealed to it")
    if key.has_private_part:
        raise KeyRecordError("wrongKind", f"the record of key {key.kid} has the recipient's private key, which only the device may "
                             "have: export the registration record")
    if entry.demands_psk and key.psk is None:
        raise KeyRecordError("pskMissing", f"key {key.kid} needs a psk, which only the registration record has")
    return key


def _signing_key(entry: Entry, kind: str) -> Key:
    if kind_of(entry.key) != kind or entry.key.secret is None:
        raise KeyRecordError("wrongKind", f"key {entry.key.kid} isn't a {kind}'s private key")
    return entry.key
