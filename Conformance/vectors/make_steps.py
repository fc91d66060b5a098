"""Writes steps-v1.json with the Python package: one push of each suite with every value on the way from the keys to the message.

Run with an interpreter that has the package of Senders/python: python make_steps.py > steps-v1.json
Salts, ephemeral keys and message ids come from labels, so every run makes the same file.
"""
from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import annotate
from make_envelopes import SENDER, Mode, message, published, signature, support
from make_pushcrypt_v1 import AT, TOPIC
from pushcrypt import _envelope, _hpke


def hpke_steps(mode: Mode, sealed: bytes) -> dict[str, bytes]:
    """RFC 9180 sections 4.1 and 5.1. key_schedule_context = mode ‖ psk_id_hash ‖ info_hash."""
    key, suite = mode.key, _envelope.HPKE_SUITES[mode.key.suite]
    psk, psk_id = _envelope._psk(key)
    enc = sealed[:suite.enc_size]
    shared_secret = _hpke.decap(suite, enc, key.private_object, key.public)
    hashes = [_hpke.labeled_extract(suite.suite_id, b"", label, value)
              for label, value in ((b"psk_id_hash", psk_id), (b"info_hash", mode.info))]
    aead_key, base_nonce = _hpke.key_schedule(suite, shared_secret, mode.info, psk, psk_id)
    return {"enc": enc, "psk": psk, "psk_id": psk_id, "shared_secret": shared_secret,
            "key_schedule_context": bytes([1 if psk else 0]) + b"".join(hashes), "key": aead_key, "base_nonce": base_nonce,
            "ct": sealed[suite.enc_size:]}


def shared_steps(mode: Mode, sealed: bytes) -> dict[str, bytes]:
    """PROTOCOL section 3: okm = HKDF-Expand(prk, info, 44)"""
    salt = sealed[:_envelope.SALT_SIZE]
    prk = hmac.digest(salt, mode.key.material, "sha256")
    okm, block = b"", b""
    for number in (1, 2):
        block = hmac.digest(prk, block + mode.info + bytes([number]), "sha256")
        okm += block
    return {"salt": salt, "prk": prk, "key": okm[:32], "nonce": okm[32:44], "ct": sealed[_envelope.SALT_SIZE:]}


def steps(mode: Mode) -> dict[str, Any]:
    sealed, payload = mode.sealed(), mode.payload()
    senders = published([SENDER]) if mode.signed else None
    opened = support.open_with_sets(
        payload.encode(), json.dumps(mode.key.record()).encode(), senders and senders.encode(), TOPIC, AT)
    values = {"info": mode.info}
    if mode.signed:
        values |= {"R": signed_part(mode), "signature": signature(SENDER, mode.key, mode.info, message())}
    values |= {"message": message(), "plaintext": mode.plaintext}
    values |= shared_steps(mode, sealed) if mode.key.suite == 4 else hpke_steps(mode, sealed)
    assert opened.json.encode() == message()[:len(opened.json) - 1] + b"}"
    return {"name": mode.name, "suite": mode.key.suite, "key": mode.key.record(), "sender": SENDER.record() if mode.signed else None,
            "senders": senders, "topic": TOPIC, "at": AT, "payload": payload, "values": {name: value.hex() for name, value in values.items()}}


def signed_part(mode: Mode) -> bytes:
    """R of PROTOCOL section 4."""
    if mode.key.suite == 4:
        return hmac.digest(mode.key.material, b"pushcrypt/1 recipient", "sha256")
    return hashlib.sha256(mode.key.public).digest()


def main() -> None:
    modes = [Mode("p256 psk", True), Mode("x25519", False), Mode("xwing", True), Mode("shared", True)]
    annotate.printed("steps-v1", {"pushes": [steps(mode) for mode in modes]})


if __name__ == "__main__":
    main()
