"""Key records: JWKs, their ids and checks, and device keys (PROTOCOL section 3)."""
from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Mapping

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from . import _device_set, _hpke
from ._device_set import DeviceSet
from ._json import b64, unb64
from ._points import PrivateObject, PublicObject, check_public, private_object, public_object, public_of, serialised
from ._xwing import PUBLIC_SIZE
from .errors import Flaw, KeyRecordError

KINDS: dict[str, tuple[str, str | None, str, int]] = {  # kind: (kty, crv, alg, suite)
    "p256": ("EC", "P-256", "HPKE-7", 1),
    "x25519": ("OKP", "X25519", "HPKE-3", 2),
    "xwing": ("AKP", None, "pushcrypt-3", 3),
    "oct": ("oct", None, "HKDF-A256GCM", 4),
    "ed25519": ("OKP", "Ed25519", "Ed25519", 0),
}
RECIPIENT_KINDS = ("p256", "x25519", "xwing")
RANK = {1: 0, 2: 0, 3: 1, 4: 1}  # by suite: 3 and 4 keep recorded messages secret from a later quantum computer
MAX_RECORD = 4_096  # bytes of a registration record without its device set
_DEVICE_ID = re.compile("[A-Za-z0-9_-]{1,64}", re.ASCII)
_TOPIC = re.compile("[A-Za-z0-9.-]{1,155}", re.ASCII)


@dataclass(frozen=True, eq=False)
class Secretive:
    """Values that have secrets. They are compared in a time that depends on no secret."""

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, one.name) for one in fields(self) if one.compare)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secretive) or type(other) is not type(self):
            return False
        return all([hmac.compare_digest(mine, its) if isinstance(mine, bytes) and isinstance(its, bytes) else mine == its
                    for mine, its in zip(self._values(), other._values())])

    def __hash__(self) -> int:
        return hash(self._values())


@dataclass(frozen=True, eq=False)
class Key(Secretive):
    """One imported key record. `public` is the serialised public key (oct: empty), `secret` is d or k."""

    kind: str
    kid: str
    public: bytes = field(repr=False)
    secret: bytes | None = field(default=None, repr=False)
    psk: bytes | None = field(default=None, repr=False)
    device: str | None = None
    role: str | None = None  # "publisher": an Ed25519 key that signs sender sets, not messages
    device_set: DeviceSet | None = field(default=None, repr=False, compare=False)  # of a registration record
    record_name: bytes | None = field(default=None, repr=False)  # of a day key: R of its record, 32 bytes

    @cached_property
    def suite(self) -> int:
        return KINDS[self.kind][3]

    @property
    def has_private_part(self) -> bool:
        """Whether it has a `d` or `priv`, which a sender doesn't need. A shared key's `k` is for both sides."""
        return self.kind != "oct" and self.secret is not None

    @cached_property
    def public_object(self) -> PublicObject:
        return public_object(self.kind, self.public)

    @cached_property
    def private_object(self) -> PrivateObject:
        return private_object(self.kind, self.material)

    @cached_property
    def _signing_object(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.material)

    def sign(self, message: bytes) -> bytes:
        """Ed25519, RFC 8032, pure."""
        return self._signing_object.sign(message)

    def verify(self, signature: bytes, message: bytes) -> None:
        """Ed25519, RFC 8032, pure. Raises InvalidSignature."""
        Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)

    def of_day(self, now: int) -> Key | None:
        """The day key for `now`. None without a device set, and on a day that it doesn't have. Raises as `day_key` does."""
        kid = self.device_set.kid_at(now) if self.device_set is not None else None
        return None if kid is None else self.day_key(kid)

    def day_key(self, kid: str) -> Key:
        """A key of the device set, with the record's psk. The last one is kept, so that a day's key is read once.

        Raises KeyRecordError: as for a record, and `wrongKind` for a key of another suite, with a secret or with a device set.
        """
        assert self.device_set is not None
        known: Key | None = next(iter(self.device_set.last), None)
        if known is not None and known.kid == kid:
            return known
        jwk = self.device_set.jwks[kid]
        key = None if "deviceSet" in jwk else load_key(jwk)
        if key is None or (key.kind, key.secret, key.psk) != (self.kind, None, None):
            raise KeyRecordError("wrongKind", f"day key {kid} isn't a public key of suite {self.suite} alone")
        self.device_set.last[:] = [key := self.as_day_key(key)]
        return key

    def as_day_key(self, key: Key) -> Key:
        """A key as a day key of this record: with its psk, and its R, so that no record forwards a signed message to another device."""
        return replace(key, psk=self.psk, record_name=hashlib.sha256(self.public).digest())

    @property
    def material(self) -> bytes:
        """d, priv or k, where the caller has checked that there is one."""
        if self.secret is None:
            raise KeyRecordError("wrongKind", f"key {self.kid} is public, and the private key is needed here")
        return self.secret

    def record(self, private: bool = True) -> dict[str, str]:
        """The JWK. If `private` is False, without `d` and `priv`. A shared key has no public form and keeps `k`."""
        jwk = _thumbprint_members(self.kind, self.public, self.secret)
        jwk.update(alg=KINDS[self.kind][2], kid=self.kid)
        if private and self.kind != "oct" and self.secret is not None:
            jwk[_private_member(self.kind)] = b64(self.secret)
        if self.psk is not None:
            jwk["psk"] = b64(self.psk)
        if self.device_set is not None:
            jwk["deviceSet"] = self.device_set.text
        if self.device is not None:
            jwk["device"] = self.device
        if self.role is not None:
            jwk["role"] = self.role
        return jwk


def _thumbprint_members(kind: str, public: bytes, secret: bytes | None) -> dict[str, str]:
    """The members of the thumbprint (RFC 7638, RFC 8037, RFC 9964), in canonical form."""
    kty, crv, alg, _ = KINDS[kind]
    if kind == "xwing":
        return {"kty": kty, "alg": alg, "pub": b64(public)}
    if crv is None:
        return {"kty": kty, "k": b64(secret or b"")}
    if kind == "p256":
        return {"kty": kty, "crv": crv, "x": b64(public[1:33]), "y": b64(public[33:])}
    return {"kty": kty, "crv": crv, "x": b64(public)}


def _private_member(kind: str) -> str:
    return "priv" if kind == "xwing" else "d"


def thumbprint(kind: str, public: bytes, secret: bytes | None = None) -> bytes:
    """T = the required members, sorted, without white space (RFC 7638); SHA-256(T)"""
    members = _thumbprint_members(kind, public, secret)
    return hashlib.sha256(json.dumps(members, sort_keys=True, separators=(",", ":")).encode()).digest()


def key_id(kind: str, public: bytes, secret: bytes | None = None) -> str:
    """kid = base64url(first 8 bytes of SHA-256(T))"""
    return b64(thumbprint(kind, public, secret)[:8])


def load_key(jwk: Any, require_kid: bool = True) -> Key:
    """Reads a record: the exact alg, coordinates of full length on the curve, the right kid, and a `d` that fits.

    Raises KeyRecordError: `malformed`, `unsupportedKey` (kty, crv, alg), `invalidKey`, `kidMismatch`, `invalidDeviceID`,
    `unsupportedSuite`. Of a device set: `tooLarge`, `pskMissing`, `notAuthentic`, `otherRegistration`, `duplicateKey`.
    """
    try:
        return _load(jwk, require_kid)
    except Flaw as flaw:
        raise KeyRecordError("malformed", f"the key record: {flaw.reason}") from None


def _load(jwk: Any, require_kid: bool) -> Key:
    if not isinstance(jwk, Mapping) or not isinstance(jwk.get("kty"), str):
        raise Flaw("it isn't an object with a string kty")
    if require_kid:
        unb64(jwk.get("kid"), 8, "kid")
    kind = _kind(jwk, require_kid)
    if ("device" in jwk and (kind != "oct" or not require_kid)) or ("psk" in jwk and kind not in RECIPIENT_KINDS):
        raise Flaw("only a recipient's key has a psk, and only a shared key has a device")
    if any(member in jwk for member in {"d", "priv"} - ({_private_member(kind)} if kind != "oct" else set())):
        raise Flaw("it has a private member that a key of its kind doesn't have")
    role = jwk.get("role") if kind == "ed25519" else None
    if kind == "ed25519" and "role" in jwk and role != "publisher":
        raise KeyRecordError("unsupportedKey", "the key record has a role that isn't \"publisher\"")
    public, secret = _material(kind, jwk)
    psk = unb64(jwk["psk"], 32, "psk") if "psk" in jwk else None
    kid, device = key_id(kind, public, secret), None
    if "device" in jwk:  # a device key's record has the kid of its master key
        if not isinstance(jwk["device"], str):
            raise Flaw("device isn't a string")
        device, kid = checked_device(jwk["device"]), jwk["kid"]
    elif require_kid and jwk["kid"] != kid:
        raise KeyRecordError("kidMismatch", f"the record's kid isn't that of its key, {kid}: the record was changed")
    is_record = kind in RECIPIENT_KINDS and secret is None and "deviceSet" in jwk
    device_set = _device_set.read(jwk["deviceSet"], kid, psk) if is_record else None
    return Key(kind, kid, public, secret, psk, device, role, device_set)


def _kind(jwk: Mapping[str, Any], require_alg: bool) -> str:
    for kind, (kty, crv, alg, _) in KINDS.items():
        if jwk["kty"] == kty and crv in (None, jwk.get("crv")):
            if require_alg and jwk.get("alg") != alg:
                raise KeyRecordError("unsupportedKey", f"the key record of kty {kty} needs the alg {alg}")
            return kind
    raise KeyRecordError("unsupportedKey", "the key record's kty and crv aren't those of P-256, X25519, X-Wing, Ed25519 or oct")


def _material(kind: str, jwk: Mapping[str, Any]) -> tuple[bytes, bytes | None]:
    """(serialised public key, d, priv or k)"""
    if kind == "oct":
        return b"", unb64(jwk.get("k"), 32, "k")
    public, member = _public(kind, jwk), _private_member(kind)
    try:
        check_public(kind, public)
        secret = unb64(jwk[member], 32, member) if member in jwk else None
        fits = secret is None or public_of(kind, secret) == public
    except ValueError:
        raise KeyRecordError("invalidKey", f"the key record: its public key or its {member} isn't a valid key") from None
    if not fits:
        raise KeyRecordError("invalidKey", f"the key record: its {member} isn't the private key of its public key")
    return public, secret


def _public(kind: str, jwk: Mapping[str, Any]) -> bytes:
    if kind == "xwing":
        return unb64(jwk.get("pub"), PUBLIC_SIZE, "pub")
    x = unb64(jwk.get("x"), 32, "x")
    return b"\x04" + x + unb64(jwk.get("y"), 32, "y") if kind == "p256" else x


def generate(kind: str, psk: bool = False) -> Key:
    """A fresh key. `psk` adds a fresh secret of 32 bytes (suites 1 to 3)."""
    shared_secret = os.urandom(32) if psk else None
    if kind == "p256":
        private = _hpke.generate(kind)
        secret = private.private_numbers().private_value.to_bytes(32, "big")  # type: ignore[union-attr]
        public = serialised(kind, private.public_key())
    else:
        secret = os.urandom(32)
        public = b"" if kind == "oct" else public_of(kind, secret)
    return Key(kind, key_id(kind, public, secret), public, secret, shared_secret)


def checked_device(device: object) -> str:
    """A device id: 1 to 64 characters of [A-Za-z0-9_-]."""
    if not isinstance(device, str) or not _DEVICE_ID.fullmatch(device):
        raise KeyRecordError("invalidDeviceID", "a device id has 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
    return device


def is_topic(topic: object) -> bool:
    """Whether it is 1 to 155 characters of [A-Za-z0-9.-]."""
    return isinstance(topic, str) and _TOPIC.fullmatch(topic) is not None


def checked_topic(topic: object) -> str:
    if not isinstance(topic, str) or not is_topic(topic):
        raise KeyRecordError("invalidTopic", "the topic isn't a bundle identifier: 1 to 155 characters of A-Z, a-z, 0-9, . and -")
    return topic


def lp16(text: str) -> bytes:
    """lp16(x) = the length of x as an unsigned 16-bit integer, then the UTF-8 bytes of x"""
    data = text.encode("utf-8")
    return len(data).to_bytes(2, "big") + data


def device_key(master: Key, device: str) -> Key:
    """K_device = HKDF-SHA256(K_master, salt: empty, "pushcrypt/1 device" ‖ 0x00 ‖ lp16(kid) ‖ lp16(device id), 32)"""
    if master.kind != "oct" or master.device is not None:
        raise KeyRecordError("wrongKind", "only a shared key that isn't a device's key derives keys of devices")
    info = b"pushcrypt/1 device\x00" + lp16(master.kid) + lp16(checked_device(device))
    secret = HKDF(SHA256(), 32, b"", info).derive(master.material)
    return Key("oct", master.kid, b"", secret, None, device)
