"""A keyset encrypted at rest under a passphrase, written from the format's description alone, for interop tests.

keyset.json = {"sealed": {"v": 1, "passphrase": {"n", "r", "p", "salt", "check"}, "dataKey", "keys"}, "pushcrypt": M, ...}
KEK(32) || check(16) = scrypt(passphrase, salt, n, r, p)
dataKey = nonce(12) || AES-256-GCM(KEK, nonce, aad "pushcrypt/1 data key", data key)
keys    = nonce(12) || AES-256-GCM(data key, nonce, aad "pushcrypt/1 keyset" || 0x00 || bytes of M, {"keys": [JWK, ...]})
"""
from __future__ import annotations

import hashlib
import hmac
import json
import os
from json.decoder import scanstring
from typing import Any, Callable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from pushcrypt_reference import load_key
from strict_json import Refusal, b64, is_integer, parse, unb64

DATA_KEY_AAD, KEYS_AAD = b"pushcrypt/1 data key", b"pushcrypt/1 keyset\0"
SUITES = ("p256", "x25519", "shared", "ed25519")
MEMORY = 2**31 - 1  # more than any allowed parameters need
Random = Callable[[int], bytes]


def members(text: str) -> dict[str, str]:
    """The root object's members, each as its text in the file."""
    result, position, decoder = {}, text.index("{") + 1, json.JSONDecoder()
    while True:
        position = _space(text, position)
        if text[position] in "},":
            if text[position] == "}":
                return result
            position = _space(text, position + 1)
        name, position = scanstring(text, position + 1)
        position = _space(text, _space(text, position) + 1)
        _, end = decoder.raw_decode(text, position)
        result[name] = text[position:end]
        position = end


def _space(text: str, position: int) -> int:
    while text[position] in " \t\r\n":
        position += 1
    return position


def _derive(passphrase: bytes, salt: bytes, parameters: dict[str, Any]) -> tuple[bytes, bytes]:
    n, r, p = (parameters[name] for name in "nrp")
    derived = hashlib.scrypt(passphrase, salt=salt, n=n, r=r, p=p, maxmem=MEMORY, dklen=48)
    return derived[:32], derived[32:]


def _decrypt(key: bytes, sealed: bytes, aad: bytes) -> bytes:
    try:
        return AESGCM(key).decrypt(sealed[:12], sealed[12:], aad)
    except InvalidTag:
        raise Refusal("damaged") from None


def _encrypt(key: bytes, plaintext: bytes, aad: bytes, random: Random) -> str:
    nonce = random(12)
    return b64(nonce + AESGCM(key).encrypt(nonce, plaintext, aad))


def _integer(value: Any, lowest: int, highest: int) -> int:
    if not is_integer(value) or not lowest <= value <= highest:
        raise Refusal("malformed", "integer")
    return value


def _check_lock(sealed: dict[str, Any]) -> dict[str, Any]:
    """Checks the parameters before any work: n a power of two up to 2^20, r up to 32, p up to 16, at most 1 GiB."""
    if not is_integer(sealed.get("v")) or sealed["v"] != 1:
        raise Refusal("malformed", "v")
    lock = sealed.get("passphrase")
    if not isinstance(lock, dict) or "command" in sealed:
        raise Refusal("malformed", "not under a passphrase alone")
    n, r = _integer(lock.get("n"), 2, 2**20), _integer(lock.get("r"), 1, 32)
    _integer(lock.get("p"), 1, 16)
    if n & (n - 1) or 128 * n * r > 2**30:
        raise Refusal("malformed", "scrypt parameters")
    unb64(lock.get("salt"), 16)
    unb64(lock.get("check"), 16)
    unb64(sealed.get("dataKey"), 60)
    if len(unb64(sealed.get("keys"))) < 28:
        raise Refusal("malformed", "keys")
    return lock


def _check_digest(text: str, digest: Any) -> None:
    """digest = SHA-256 of the file up to the comma before "digest"."""
    end = text.rindex(",", 0, text.rindex('"digest"'))
    if digest != b64(hashlib.sha256(text[:end].encode()).digest()):
        raise Refusal("damaged", "digest")


def _check_metadata(metadata: Any) -> dict[str, str]:
    """The suites of the keys that aren't destroyed, by key id."""
    if not isinstance(metadata, dict) or not is_integer(metadata.get("seq")) or not isinstance(metadata.get("keys"), dict):
        raise Refusal("malformed", "pushcrypt")
    for kid, member in metadata["keys"].items():
        unb64(kid, 8)
        if not isinstance(member, dict) or member.get("suite") not in SUITES:
            raise Refusal("malformed", "a key's suite")
    return {kid: member["suite"] for kid, member in metadata["keys"].items() if "destroyedAt" not in member}


def _check_keys(plaintext: bytes, suites: dict[str, str]) -> list[dict[str, str]]:
    """Requires every key that the metadata names, and no other."""
    root, _ = parse(plaintext)
    if not isinstance(root.get("keys"), list):
        raise Refusal("malformed", "keys")
    kids = [load_key(jwk).kid for jwk in root["keys"]]
    if len(set(kids)) < len(kids):
        raise Refusal("duplicateKey")
    if set(kids) != set(suites):
        raise Refusal("malformed", "a key is missing, or there is one too many")
    return [dict(jwk) for jwk in root["keys"]]


def open_keyset(text: str, passphrase: str) -> list[dict[str, str]]:
    """The private JWKs. Refusal: malformed, wrongSecret, damaged, duplicateKey, or the code for an invalid JWK."""
    whole, _ = parse(text.encode())
    if not isinstance(whole.get("sealed"), dict) or "keys" in whole:
        raise Refusal("malformed", "sealed")
    if "digest" in whole:
        _check_digest(text, whole["digest"])
    suites = _check_metadata(whole.get("pushcrypt"))
    root = members(text)
    sealed = whole["sealed"]
    lock = _check_lock(sealed)
    kek, check = _derive(passphrase.encode(), unb64(lock["salt"], 16), lock)
    if not hmac.compare_digest(check, unb64(lock["check"], 16)):
        raise Refusal("wrongSecret")
    data_key = _decrypt(kek, unb64(sealed["dataKey"], 60), DATA_KEY_AAD)
    keys = _decrypt(data_key, unb64(sealed["keys"]), KEYS_AAD + root["pushcrypt"].encode())
    return _check_keys(keys, suites)


def seal_keyset(metadata: str, keys: Any, passphrase: str, n: int, r: int, p: int, random: Random = os.urandom) -> str:
    """The text of a file with `metadata`, unchanged and without the optional digest."""
    salt, data_key = random(16), random(32)
    kek, check = _derive(passphrase.encode(), salt, {"n": n, "r": r, "p": p})
    plaintext = json.dumps({"keys": keys}, indent="\t").encode()
    sealed = {
        "keys": _encrypt(data_key, plaintext, KEYS_AAD + metadata.encode(), random),
        "dataKey": _encrypt(kek, data_key, DATA_KEY_AAD, random),
        "passphrase": {"salt": b64(salt), "check": b64(check), "p": p, "r": r, "n": n},
        "v": 1,
    }
    return f'{{\r\n"pushcrypt"\t: {metadata} , "comment": "\\u00e9", "sealed":{json.dumps(sealed)}}}'
