"""A peer with X-Wing (KEM 0x647a), HKDF-SHA256 and AES-256-GCM of the package cryptography: a request per line, a response per line.

    {"seed": HEX, "info": HEX, "plaintext": HEX}     the response: {"sealed": HEX} for the public key of the seed
    {"seed": HEX, "info": HEX, "sealed": HEX}        the response: {"plaintext": HEX}, null if it doesn't open
"""
from __future__ import annotations

import functools
import hashlib
import json
import sys
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric import mlkem, x25519

SUITE = hpke.Suite(hpke.KEM.MLKEM768_X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_256_GCM)


@functools.lru_cache(maxsize=None)
def keys(seed: str) -> tuple[hpke.MLKEM768X25519PrivateKey, hpke.MLKEM768X25519PublicKey]:
    """draft-connolly-cfrg-xwing-kem section 5.2: SHAKE256 expands the seed to that of ML-KEM and an X25519 scalar."""
    expanded = hashlib.shake_256(bytes.fromhex(seed)).digest(96)
    first = mlkem.MLKEM768PrivateKey.from_seed_bytes(expanded[:64])
    second = x25519.X25519PrivateKey.from_private_bytes(expanded[64:])
    return (hpke.MLKEM768X25519PrivateKey(first, second),
            hpke.MLKEM768X25519PublicKey(first.public_key(), second.public_key()))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    private, public = keys(request["seed"])
    info = bytes.fromhex(request["info"])
    if "plaintext" in request:
        return {"sealed": SUITE.encrypt(bytes.fromhex(request["plaintext"]), public, info=info).hex()}
    try:
        return {"plaintext": SUITE.decrypt(bytes.fromhex(request["sealed"]), private, info=info).hex()}
    except (InvalidTag, ValueError):
        return {"plaintext": None}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line)), separators=(",", ":")))
