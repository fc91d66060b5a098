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
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from strict_json import Refusal, b64, unb64

DATA_KEY_AAD, KEYS_AAD = b"pushcrypt/1 data key", b"pushcrypt/1 keyset\0"
MEMORY = 2**31 - 1  # more than any parameters that are allowed need


def members(text: str) -> dict[str, str]:
    """The root object's members as they stand in the text."""
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


def _encrypt(key: bytes, plaintext: bytes, aad: bytes) -> str:
    nonce = os.urandom(12)
    return b64(nonce + AESGCM(key).encrypt(nonce, plaintext, aad))


def open_keyset(text: str, passphrase: str) -> list[dict[str, str]]:
    """The private JWKs; Refusal with wrongSecret or damaged."""
    root = members(text)
    sealed = json.loads(root["sealed"])
    if sealed["v"] != 1:
        raise Refusal("unsupportedVersion")
    lock = sealed["passphrase"]
    kek, check = _derive(passphrase.encode(), unb64(lock["salt"], 16), lock)
    if not hmac.compare_digest(check, unb64(lock["check"], 16)):
        raise Refusal("wrongSecret")
    data_key = _decrypt(kek, unb64(sealed["dataKey"], 60), DATA_KEY_AAD)
    keys = _decrypt(data_key, unb64(sealed["keys"]), KEYS_AAD + root["pushcrypt"].encode())
    return json.loads(keys)["keys"]


def seal_keyset(metadata: str, keys: list[dict[str, str]], passphrase: str, n: int, r: int, p: int) -> str:
    """The text of a file around `metadata`, which is taken as it is; without the digest, which is optional."""
    salt, data_key = os.urandom(16), os.urandom(32)
    kek, check = _derive(passphrase.encode(), salt, {"n": n, "r": r, "p": p})
    plaintext = json.dumps({"keys": keys}, indent="\t").encode()
    sealed = {
        "keys": _encrypt(data_key, plaintext, KEYS_AAD + metadata.encode()),
        "dataKey": _encrypt(kek, data_key, DATA_KEY_AAD),
        "passphrase": {"salt": b64(salt), "check": b64(check), "p": p, "r": r, "n": n},
        "v": 1,
    }
    return f'{{\r\n"pushcrypt"\t: {metadata} , "comment": "\\u00e9", "sealed":{json.dumps(sealed)}}}'
