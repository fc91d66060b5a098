"""The keys of a keyset's file: the public ones in its log, the private ones in its last row (docs/keyset-log.md).

LAST   = {"v": 1, "keys": [JWK, ...], "digest": B64(32)} | {"v": 1, "sealed": SEALED, "mac": B64(32)}
digest = SHA-256(bytes of all rows before, with each LF || bytes of the value of "keys")
mac    = HMAC-SHA-256(history key, bytes of all rows before, with each LF)
SEALED = {"locks": [ENTRY, ... 1 to 8], "dataKey": B64(60), "keys": B64(sealed keys)}
ENTRY  = {"name": NAME, LOCK, "key": B64(wrapped)}
LOCK   = "passphrase": {"n": N, "r": r, "p": p, "salt": B64(16), "check": B64(16)}  |  "command": true

ENC(key, aad, text)   = nonce(12) || AES-256-GCM(key, nonce, aad, text)
KEK(32) || check(16)  = scrypt(passphrase, salt, N, r, p, 48)
wrapped               = ENC(KEK, "pushcrypt/1 keyset key", keyset key), 60 bytes
                      | the command's output, 1 to 4,096 bytes
dataKey               = ENC(keyset key, "pushcrypt/1 data key", data key)
sealed keys           = ENC(data key, "pushcrypt/1 keyset" || 0x00 || bytes of the value of "locks" || 0x00
                            || bytes of all rows before, with each LF,
                            {"keys": [JWK, ...], "history": B64(history key)})
"""
from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field, replace
from typing import Any, Mapping, Sequence, Union

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ._json import Obj, Spans, is_integer, parse, spans, unb64
from ._keys import Key, key_id, load_key
from ._log_line import NAME, Fault, KeyChange, members
from ._wrap_command import unwrap
from ._xwing import PUBLIC_SIZE
from .errors import Flaw, KeyRecordError
from .keysets import kind_of

VERSION = 1
KEYSET_KEY_AAD, DATA_KEY_AAD = b"pushcrypt/1 keyset key", b"pushcrypt/1 data key"
KEYS_AAD = b"pushcrypt/1 keyset\0"
MAX_LOCKS, MAX_WRAPPED, ENC_OVERHEAD = 8, 4_096, 28
MEMORY = 2**31 - 1  # more than any allowed parameters of scrypt need

Secret = Union[bytes, tuple[str, ...]]
"""A passphrase, or a command with its arguments."""


@dataclass(frozen=True)
class LoggedKey:
    """A key of a log. `jwk` is its public record, None for a shared key. `times` are its moments in Unix seconds."""

    kid: str
    algorithm: str
    """`p256`, `x25519`, `xwing`, `shared`, `ed25519`, or `ed25519-publisher`."""
    jwk: Mapping[str, str] | None
    times: Mapping[str, int]
    psk: bool
    """Whether messages to the key are sealed with a psk."""
    lost: bool
    """Whether no file has the key's material."""

    @property
    def has_material(self) -> bool:
        return "destroyedAt" not in self.times and not self.lost


@dataclass(frozen=True)
class Lock:
    """A secret of an encrypted keyset. `passphrase` has the parameters of scrypt; it is None for a command."""

    name: str
    passphrase: Mapping[str, Any] | None = field(repr=False)
    wrapped: bytes = field(repr=False)


# --- The keys of a log -------------------------------------------------------------------------------------------


def logged_key(kid: str, change: KeyChange, kind: str) -> LoggedKey:
    """A key that a line names for the first time, without its times."""
    if change.psk and kind != "recipient":
        raise Fault("misplaced", "only a recipient's key has a psk")
    key = None if change.jwk is None else _public_key(change.jwk)
    if (key is None) != (kind == "shared"):
        raise Fault("misplaced", f"key {kid} is new and has no jwk, or it is shared and has one")
    if key is None:
        return LoggedKey(kid, "shared", None, {}, False, False)
    if kind_of(key) != kind:
        raise Fault("wrongKind", f"key {kid} isn't a {kind}'s")
    if key.kid != kid:
        raise Fault("kidMismatch", f"the jwk of key {kid} has the kid {key.kid}")
    algorithm = f"{key.kind}-publisher" if key.role else key.kind
    return LoggedKey(kid, algorithm, key.record(), {}, change.psk, False)


def _public_key(jwk: Obj) -> Key:
    """Reads a record without members that key records don't have. That its key is a point of its curve isn't checked."""
    try:
        key = load_key(jwk)
    except KeyRecordError as error:
        if error.code == "kidMismatch":
            raise Fault("kidMismatch", error.reason) from None
        if error.code not in ("unsupportedSuite", "invalidKey"):
            raise Flaw(error.reason) from None
        key = _unchecked(jwk)
    if key.secret is not None or key.psk is not None:
        raise Flaw(f"the jwk of key {key.kid} has a secret")
    return _without_other_members(jwk, key)


def _unchecked(jwk: Obj) -> Key:
    """A public key that this host can't check, or that is no point of its curve."""
    if jwk["kty"] == "AKP":
        kind, public = "xwing", unb64(jwk.get("pub"), PUBLIC_SIZE, "pub")
    elif jwk["kty"] == "EC":
        kind, public = "p256", b"\4" + unb64(jwk.get("x"), 32, "x") + unb64(jwk.get("y"), 32, "y")
    else:
        kind, public = jwk["crv"].lower(), unb64(jwk.get("x"), 32, "x")
    kid = key_id(kind, public)
    if jwk["kid"] != kid:
        raise Fault("kidMismatch", f"the record's kid isn't that of its key, {kid}")
    return Key(kind, kid, public, role=jwk.get("role"))


def _without_other_members(jwk: Obj, key: Key) -> Key:
    if jwk.keys() != key.record().keys():  # the values were checked
        raise Flaw(f"the JWK of key {key.kid} has a member that key records don't have")
    return key


# --- The last row ------------------------------------------------------------------------------------------------


def check_version(last: Obj) -> None:
    if not is_integer(last.get("v")):
        raise Flaw("v isn't an integer")
    if last["v"] != VERSION:
        raise Fault("unsupportedVersion", f"the file has version {last['v']}")


def check_plain(last: Obj, text: str, history: bytes) -> None:
    """The form of a last row with keys in clear, and its digest."""
    members(last, {"v", "keys", "digest"})
    if not isinstance(last["keys"], list):
        raise Flaw("keys isn't an array")
    if unb64(last["digest"], 32, "digest") != hashlib.sha256(history + _value(last.spans, "keys", text)).digest():
        raise Fault("wrongDigest", "the digest isn't that of the rows and the keys")


def read_locks(last: Obj) -> tuple[Lock, ...]:
    """The form of a last row with encrypted keys. Returns its secrets."""
    members(last, {"v", "sealed", "mac"})
    unb64(last["mac"], 32, "mac")
    sealed = members(last["sealed"], {"locks", "dataKey", "keys"})
    unb64(sealed["dataKey"], 60, "dataKey")
    if len(unb64(sealed["keys"], name="keys")) < ENC_OVERHEAD:
        raise Flaw("keys of sealed is too short")
    if not isinstance(sealed["locks"], list) or not 1 <= len(sealed["locks"]) <= MAX_LOCKS:
        raise Flaw(f"locks doesn't have 1 to {MAX_LOCKS} elements")
    locks = tuple(_lock(entry) for entry in sealed["locks"])
    if len({lock.name for lock in locks}) < len(locks):
        raise Flaw("two of the secrets have the same name")
    return locks


def _lock(value: Any) -> Lock:
    entry = members(value, {"name", "key"}, {"passphrase", "command"})
    if not isinstance(entry["name"], str) or not NAME.fullmatch(entry["name"]):
        raise Flaw("a secret has no valid name")
    if "command" in entry:
        wrapped = unb64(entry["key"], name="key")
        if entry["command"] is not True or "passphrase" in entry or len(wrapped) > MAX_WRAPPED:
            raise Flaw("a secret isn't a passphrase or a command alone, or its key is too long")
        return Lock(entry["name"], None, wrapped)
    return Lock(entry["name"], _scrypt_lock(entry), unb64(entry["key"], 60, "key"))


def _scrypt_lock(entry: Obj) -> Obj:
    """Checks the parameters before any work: n a power of two up to 2^20 and below 2^(16 r), r up to 32, p up to 16, at most
    1 GiB (RFC 7914 section 2)."""
    if "passphrase" not in entry:
        raise Flaw("a secret is neither a passphrase nor a command")
    lock = members(entry["passphrase"], {"n", "r", "p", "salt", "check"})
    n, r = _integer(lock, "n", 2, 2**20), _integer(lock, "r", 1, 32)
    _integer(lock, "p", 1, 16)
    if n & (n - 1) or n >= 2**(16 * r) or 128 * n * r > 2**30:
        raise Flaw("n isn't a power of two below 2^(16 r), or scrypt would need more than 1 GiB")
    unb64(lock["salt"], 16, "salt")
    unb64(lock["check"], 16, "check")
    return lock


def _integer(lock: Obj, name: str, lowest: int, highest: int) -> int:
    value = lock[name]
    if not is_integer(value) or not lowest <= value <= highest:
        raise Flaw(f"the scrypt parameter {name} isn't an integer of {lowest} to {highest}")
    found: int = value
    return found


def described(locks: tuple[Lock, ...]) -> str:
    """The secrets, for a message."""
    return " or ".join(f"the {'command' if lock.passphrase is None else 'passphrase'} {lock.name}" for lock in locks)


def unlock(last: Obj, text: str, locks: tuple[Lock, ...], history: bytes, secret: Secret) -> list[Any]:
    """The private JWKs, after the rows before were authenticated."""
    sealed = last["sealed"]
    aad = KEYS_AAD + _value(spans(text, last.spans["sealed"][1]), "locks", text) + b"\0" + history
    data_key = _open(_keyset_key(locks, secret), unb64(sealed["dataKey"], 60), DATA_KEY_AAD)
    root, _ = parse(_open(data_key, unb64(sealed["keys"]), aad))
    members(root, {"keys", "history"})
    if not isinstance(root["keys"], list):
        raise Flaw("the encrypted keys aren't an array")
    mac = hmac.digest(unb64(root["history"], 32, "history"), history, "sha256")
    if not hmac.compare_digest(mac, unb64(last["mac"], 32)):
        raise Fault("notAuthentic", "the mac isn't that of the rows")
    return root["keys"]


def check_names(locks: tuple[Lock, ...], logged: tuple[str, ...]) -> None:
    """The secrets are those of the log: else one who has a secret could add another one that no line shows."""
    if {lock.name for lock in locks} != set(logged):
        raise Fault("otherSecrets", "the names of the secrets aren't those of the log")


def secret_of(passphrase: str | None, command: Sequence[str] | None) -> Secret | None:
    if passphrase is not None and (command is not None or not isinstance(passphrase, str)):
        raise TypeError("passphrase isn't a string, or a command was given too")
    if command is not None and (isinstance(command, (str, bytes)) or not command):
        raise TypeError("command isn't a sequence of a program and its arguments")
    if command is not None:
        return tuple(command)
    return None if passphrase is None else passphrase.encode("utf-8", "surrogatepass")


def _keyset_key(locks: tuple[Lock, ...], secret: Secret) -> bytes:
    """The keyset key, of the first entry that the secret opens."""
    given = "passphrase" if isinstance(secret, bytes) else "command"
    failure = Fault("secretNeeded", f"a {given} was given, and the keyset needs {described(locks)}")
    for lock in locks:
        try:
            if isinstance(secret, bytes) and lock.passphrase is not None:
                return _open(_kek(lock.passphrase, secret), lock.wrapped, KEYSET_KEY_AAD)
            if not isinstance(secret, bytes) and lock.passphrase is None:
                return unwrap(secret, lock.wrapped)
        except Fault as fault:
            if fault.code not in ("wrongSecret", "wrapCommandFailed"):
                raise
            failure = fault
    raise failure


def _kek(lock: Mapping[str, Any], passphrase: bytes) -> bytes:
    derived = hashlib.scrypt(
        passphrase, salt=unb64(lock["salt"], 16), n=lock["n"], r=lock["r"], p=lock["p"], maxmem=MEMORY, dklen=48)
    if not hmac.compare_digest(derived[32:], unb64(lock["check"], 16)):
        raise Fault("wrongSecret", "the passphrase isn't one of the keyset's")
    return derived[:32]


def _open(key: bytes, sealed: bytes, aad: bytes) -> bytes:
    try:
        return AESGCM(key).decrypt(sealed[:12], sealed[12:], aad)
    except InvalidTag:
        raise Fault("notAuthentic", "the keyset was changed after it was encrypted") from None


def _value(found: Spans, name: str, text: str) -> bytes:
    """The bytes of a member's value."""
    _, start, end = found[name]
    return text[start:end].encode()


# --- Material ----------------------------------------------------------------------------------------------------


def read_material(jwks: list[Any], logged: Mapping[str, LoggedKey]) -> tuple[Key, ...]:
    """The private key of every logged key that has material, and no other."""
    keys = tuple(_private_key(jwk) for jwk in jwks)
    if sorted(key.kid for key in keys) != sorted(kid for kid, one in logged.items() if one.has_material):
        raise Fault("otherKeys", "a key is missing, or there is one too many")
    for key in keys:
        _compare(key, logged[key.kid])
    return keys


def _private_key(jwk: Any) -> Key:
    if not isinstance(jwk, Obj):
        raise Flaw("a JWK isn't an object")
    try:
        return _without_other_members(jwk, load_key(jwk))
    except KeyRecordError as error:
        if error.code == "unsupportedSuite":
            raise
        raise Flaw(error.reason) from None


def _compare(key: Key, logged: LoggedKey) -> None:
    if key.device is not None:
        raise Flaw(f"key {key.kid} is that of a device")
    public = None if key.kind == "oct" else replace(key, secret=None, psk=None).record()
    if public != logged.jwk:
        raise Fault("otherKeys", f"key {key.kid} is another one than that of the log")
    if key.secret is None or (key.psk is not None) != logged.psk:
        raise Fault("otherKeys", f"key {key.kid} lacks its private part or its psk, or it has a psk that it can't have")
