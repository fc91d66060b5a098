"""Functions for tests and for the generators of test vectors, with randomness that the caller chooses.

Never import this module in a program. With a fixed ephemeral key or salt, two messages have one AEAD key and nonce, which
reveals both messages. The API of this package always makes the randomness itself.
"""
from __future__ import annotations

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from . import _envelope, _hpke
from ._keys import Key
from ._points import dh_private


def encrypt_with(key: Key, info: bytes, plaintext: bytes, material: bytes, psk_id: bytes | None = None) -> bytes:
    """The sealed bytes with an ephemeral private key (suites 1 and 2, 32 bytes), `enc` (suite 3) or a salt (suite 4) from
    `material`.

    `psk_id` replaces the kid's 11 bytes. Suite 3 needs the private key: pyca/cryptography has no encapsulation with chosen
    randomness.
    """
    if key.suite == 4:
        return _envelope.encrypt_with_salt(key, info, plaintext, material[:_envelope.SALT_SIZE])
    psk, own_id = _envelope._psk(key)
    if key.suite == 3:
        secret = _hpke.decap(_envelope.HPKE_SUITES[3], material, key.private_object, key.public)
        return material + encrypt_under(key, secret, info, plaintext, own_id if psk_id is None else psk_id)
    return _hpke.seal(
        _envelope.HPKE_SUITES[key.suite], key.public_object, key.public, info, plaintext, psk,
        own_id if psk_id is None else psk_id, ephemeral=dh_private(key.kind, material))


def encrypt_under(key: Key, shared_secret: bytes, info: bytes, plaintext: bytes, psk_id: bytes | None = None) -> bytes:
    """The ciphertext under a shared secret of the KEM, in suites 1 to 3."""
    psk, own_id = _envelope._psk(key)
    suite = _envelope.HPKE_SUITES[key.suite]
    aead_key, nonce = _hpke.key_schedule(suite, shared_secret, info, psk, own_id if psk_id is None else psk_id)
    return AESGCM(aead_key).encrypt(nonce, plaintext, None)
