"""A keyset encrypted at rest under passphrases (docs/keystore-format.md of pushcrypt's repository).

keyset.json = {"sealed": {"v": 1, LOCK, "dataKey", "keys"} | {"v": 2, "locks": [ENTRY, ...], "dataKey", "keys"}, "pushcrypt": M, ...}
LOCK  = "passphrase": {"n", "r", "p", "salt", "check"} | "command": true
ENTRY = {"name", LOCK, "key"}
KEK(32) ‖ check(16) = scrypt(passphrase, salt, n, r, p)
ENC(key, aad, text) = nonce(12) ‖ AES-256-GCM(key, nonce, aad, text)
v 1: dataKey = ENC(KEK, "pushcrypt/1 data key", data key)
     keys    = ENC(data key, "pushcrypt/1 keyset" ‖ 0x00 ‖ bytes of M, {"keys": [JWK, ...]})
v 2: key     = ENC(KEK, "pushcrypt/2 keyset key", keyset key)
     dataKey = ENC(keyset key, "pushcrypt/2 data key", data key)
     keys    = ENC(data key, "pushcrypt/2 keyset" ‖ 0x00 ‖ bytes of locks ‖ 0x00 ‖ bytes of M, {"keys": [JWK, ...]})
"""
from __future__ import annotations

import hashlib
import hmac
import re
from typing import Any, Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ._json import Obj, b64, is_integer, parse, unb64
from ._keys import load_key
from .errors import Flaw, KeyRecordError

DATA_KEY_AAD, KEYS_AAD = b"pushcrypt/1 data key", b"pushcrypt/1 keyset\0"
KEYSET_KEY_AAD = b"pushcrypt/2 keyset key"
DATA_KEY_AAD_2, KEYS_AAD_2 = b"pushcrypt/2 data key", b"pushcrypt/2 keyset\0"
NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
SUITES = ("p256", "x25519", "xwing", "shared", "ed25519")
MEMORY = 2**31 - 1  # more than any allowed parameters need


def derive(passphrase: bytes, salt: bytes, parameters: Mapping[str, int]) -> tuple[bytes, bytes]:
    n, r, p = (parameters[name] for name in "nrp")
    derived = hashlib.scrypt(passphrase, salt=salt, n=n, r=r, p=p, maxmem=MEMORY, dklen=48)
    return derived[:32], derived[32:]


def decrypt(key: bytes, sealed: bytes, aad: bytes) -> bytes:
    try:
        return AESGCM(key).decrypt(sealed[:12], sealed[12:], aad)
    except InvalidTag:
        raise KeyRecordError("damaged", "the keyset was changed after it was encrypted") from None


def _integer(lock: Mapping[str, Any], name: str, lowest: int, highest: int) -> int:
    value = lock.get(name)
    if not is_integer(value) or not lowest <= value <= highest:
        raise Flaw(f"the scrypt parameter {name} isn't an integer of {lowest} to {highest}")
    return value


def _check_sealed(sealed: dict[str, Any]) -> None:
    unb64(sealed.get("dataKey"), 60, "dataKey")
    if len(unb64(sealed.get("keys"), name="keys")) < 28:
        raise Flaw("keys of sealed is too short")


def check_lock(owner: dict[str, Any]) -> dict[str, Any]:
    """Checks the parameters before any work: n a power of two up to 2^20, r up to 32, p up to 16, at most 1 GiB."""
    lock = owner.get("passphrase")
    if not isinstance(lock, dict) or "command" in owner:
        raise Flaw("the keyset isn't encrypted under a passphrase alone")
    n, r = _integer(lock, "n", 2, 2**20), _integer(lock, "r", 1, 32)
    _integer(lock, "p", 1, 16)
    if n & (n - 1) or 128 * n * r > 2**30:
        raise Flaw("n isn't a power of two, or scrypt would need more than 1 GiB")
    unb64(lock.get("salt"), 16, "salt")
    unb64(lock.get("check"), 16, "check")
    return lock


def kek_of(lock: dict[str, Any], passphrase: str) -> bytes | None:
    """The key that the passphrase derives; None for another passphrase."""
    kek, check = derive(passphrase.encode("utf-8", "surrogatepass"), unb64(lock["salt"], 16), lock)
    return kek if hmac.compare_digest(check, unb64(lock["check"], 16)) else None


def _wrong_secret() -> KeyRecordError:
    return KeyRecordError("wrongSecret", "the passphrase isn't that of the keyset")


def _check_locks(locks: Any) -> list[tuple[dict[str, Any], bytes]]:
    """The passphrases among the secrets, with the keyset key that each of them encrypts."""
    if not isinstance(locks, list) or not 2 <= len(locks) <= 8:
        raise Flaw("locks of sealed doesn't have 2 to 8 elements")
    names = set()
    passphrases = []
    for entry in locks:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not NAME.fullmatch(entry["name"]):
            raise Flaw("a secret has no valid name")
        names.add(entry["name"])
        if entry.get("command") is True and "passphrase" not in entry:
            if not 1 <= len(unb64(entry.get("key"), name="key")) <= 4096:
                raise Flaw("a wrapped key has no length of 1 to 4096 bytes")
        else:
            passphrases.append((check_lock(entry), unb64(entry.get("key"), 60, "key")))
    if len(names) < len(locks):
        raise Flaw("two secrets have the same name")
    return passphrases


def _data_key(sealed: Obj, passphrase: str, text: str) -> tuple[bytes, bytes]:
    """The data key, and the beginning of the keys' additional data."""
    _check_sealed(sealed)
    data_key = unb64(sealed["dataKey"], 60)
    if is_integer(sealed.get("v")) and sealed["v"] == 2:
        for lock, wrapped in _check_locks(sealed.get("locks")):
            kek = kek_of(lock, passphrase)
            if kek is not None:
                keyset_key = decrypt(kek, wrapped, KEYSET_KEY_AAD)
                _, start, end = sealed.spans["locks"]
                aad = KEYS_AAD_2 + text[start:end].encode() + b"\0"
                return decrypt(keyset_key, data_key, DATA_KEY_AAD_2), aad
        raise _wrong_secret()
    if not is_integer(sealed.get("v")) or sealed["v"] != 1:
        raise Flaw("v of sealed is neither 1 nor 2")
    kek = kek_of(check_lock(sealed), passphrase)
    if kek is None:
        raise _wrong_secret()
    return decrypt(kek, data_key, DATA_KEY_AAD), KEYS_AAD


def _check_digest(whole: Obj, text: str) -> None:
    """digest = SHA-256 of the file up to the comma before "digest"."""
    end = text.rfind(",", 0, whole.spans["digest"][0])
    if whole["digest"] != b64(hashlib.sha256(text[:end].encode()).digest()):
        raise KeyRecordError("damaged", "the keyset's digest isn't that of its text")


def _check_metadata(metadata: Any) -> dict[str, str]:
    """The suites of the keys that aren't destroyed, by key id."""
    if not isinstance(metadata, dict) or not is_integer(metadata.get("seq")) or not isinstance(metadata.get("keys"), dict):
        raise Flaw("pushcrypt has no seq or no keys")
    for kid, member in metadata["keys"].items():
        unb64(kid, 8, "a kid in pushcrypt")
        if not isinstance(member, dict) or member.get("suite") not in SUITES:
            raise Flaw(f"key {kid} has no known suite")
    return {kid: member["suite"] for kid, member in metadata["keys"].items() if "destroyedAt" not in member}


def _check_keys(plaintext: bytes, suites: dict[str, str]) -> list[dict[str, str]]:
    """Requires every key that the metadata names, and no other."""
    root, _ = parse(plaintext)
    if not isinstance(root.get("keys"), list):
        raise Flaw("the encrypted keys aren't an array")
    kids = [load_key(jwk).kid for jwk in root["keys"]]
    if len(set(kids)) < len(kids):
        raise KeyRecordError("duplicateKey", "the keyset has two keys of one kid")
    if set(kids) != set(suites):
        raise Flaw("a key is missing, or there is one too many")
    return [dict(jwk) for jwk in root["keys"]]


def open_keyset(text: str, passphrase: str) -> tuple[list[dict[str, str]], Obj]:
    """The private JWKs, and the metadata.

    Raises KeyRecordError: `malformed`, `wrongSecret`, `damaged`, `duplicateKey`, or the code for a JWK that can't be read.
    """
    try:
        return _open(text, passphrase)
    except Flaw as flaw:
        raise KeyRecordError("malformed", f"the encrypted keyset: {flaw.reason}") from None


def _open(text: str, passphrase: str) -> tuple[list[dict[str, str]], Obj]:
    whole, _ = parse(text.encode("utf-8", "surrogatepass"))  # a lone surrogate becomes invalid UTF-8
    sealed = whole.get("sealed")
    if not isinstance(sealed, Obj) or "keys" in whole:
        raise Flaw("it has no member sealed, or its keys aren't encrypted")
    if "digest" in whole:
        _check_digest(whole, text)
    suites = _check_metadata(whole.get("pushcrypt"))
    data_key, aad = _data_key(sealed, passphrase, text)
    _, start, end = whole.spans["pushcrypt"]
    keys = decrypt(data_key, unb64(sealed["keys"]), aad + text[start:end].encode())
    return _check_keys(keys, suites), whole["pushcrypt"]
