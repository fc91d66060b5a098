"""The sealed bytes: context binding, signatures and the suites (PROTOCOL sections 3 and 4)."""
from __future__ import annotations

import hashlib
import hmac
import os

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from . import _hpke
from ._keys import Key, lp16
from .errors import undecryptable

SALT_SIZE, TAG_SIZE, SIGNATURE_SIZE = 16, 16, 64
HPKE_SUITES = {1: _hpke.P256_AES256, 2: _hpke.X25519_AES128, 3: _hpke.XWING_AES256}
PSK_BIT, SIGNED_BIT, CHALLENGE_BIT = 1, 2, 4


def context(key: Key, skid: str | None, topic: str, is_challenge: bool = False) -> bytes:
    """info = "pushcrypt/1" ‖ 0x00 ‖ u8(suite) ‖ u8(profile) ‖ lp16(kid) ‖ lp16(skid or empty) ‖ lp16(topic)

    profile: bit 0 psk, from the recipient's record; bit 1 signed, from the presence of skid; bit 2 challenge, from the caller.
    """
    profile = (PSK_BIT if key.psk is not None else 0) | (SIGNED_BIT if skid is not None else 0)
    profile |= CHALLENGE_BIT if is_challenge else 0
    return b"pushcrypt/1\x00" + bytes([key.suite, profile]) + lp16(key.kid) + lp16(skid or "") + lp16(topic)


def proof(key: Key, signed: bool) -> int:
    """proof = bit 0 if the record has a psk or the suite is 4, bit 1 if the message is signed (PROTOCOL section 11)"""
    return (PSK_BIT if key.suite == 4 or key.psk is not None else 0) | (SIGNED_BIT if signed else 0)


def header_size(key: Key) -> int:
    """The bytes before the ciphertext: enc or salt."""
    return SALT_SIZE if key.suite == 4 else HPKE_SUITES[key.suite].enc_size


def overhead(key: Key, signed: bool) -> int:
    """The bytes that sealing adds to a message."""
    return header_size(key) + TAG_SIZE + (SIGNATURE_SIZE if signed else 0)


def signed_bytes(key: Key, info: bytes, message: bytes) -> bytes:
    """"pushcrypt/1 signature" ‖ 0x00 ‖ info ‖ R ‖ message

    R = SHA-256(serialised public key, of a day key that of its record), or for suite 4 HMAC-SHA256(K as used, "pushcrypt/1 recipient").
    """
    if key.suite == 4:
        recipient = hmac.digest(key.material, b"pushcrypt/1 recipient", "sha256")
    else:
        recipient = key.record_name or hashlib.sha256(key.public).digest()
    return b"pushcrypt/1 signature\x00" + info + recipient + message


def seal(key: Key, signer: Key | None, topic: str, message: bytes, is_challenge: bool = False) -> bytes:
    """The bytes of `sealed`. A signed plaintext is signature(64) ‖ message."""
    info = context(key, signer.kid if signer is not None else None, topic, is_challenge)
    if signer is not None:
        message = signer.sign(signed_bytes(key, info, message)) + message
    return encrypt(key, info, message)


def open_(key: Key, sender: Key | None, topic: str, sealed: bytes, is_challenge: bool = False) -> bytes:
    """The message, or the nonce of a challenge. Every failure has one error."""
    info = context(key, sender.kid if sender is not None else None, topic, is_challenge)
    plaintext = decrypt(key, info, sealed)
    if sender is None:
        return plaintext
    signature, message = plaintext[:SIGNATURE_SIZE], plaintext[SIGNATURE_SIZE:]
    try:
        sender.verify(signature, signed_bytes(key, info, message))
    except InvalidSignature:
        raise undecryptable() from None
    return message


def _suite_4(key: Key, salt: bytes, info: bytes) -> tuple[AESGCM, bytes]:
    """prk = HKDF-Extract(salt, K); okm = HKDF-Expand(prk, info, 44); AES-256-GCM key okm[0..<32], nonce okm[32..<44]"""
    okm = HKDF(SHA256(), 44, salt, info).derive(key.material)
    return AESGCM(okm[:32]), okm[32:]


def _psk(key: Key) -> tuple[bytes, bytes]:
    """psk and psk_id: the 11 bytes of kid. Empty without a psk."""
    return (b"", b"") if key.psk is None else (key.psk, key.kid.encode("ascii"))


def encrypt(key: Key, info: bytes, plaintext: bytes) -> bytes:
    """enc ‖ ct in suites 1 to 3, salt(16) ‖ ct in suite 4. The aad is empty."""
    if key.suite == 4:
        return encrypt_with_salt(key, info, plaintext, os.urandom(SALT_SIZE))
    return _hpke.seal(HPKE_SUITES[key.suite], key.public_object, key.public, info, plaintext, *_psk(key))


def encrypt_with_salt(key: Key, info: bytes, plaintext: bytes, salt: bytes) -> bytes:
    """Suite 4. Only tests pass a salt that isn't fresh: with it, two messages would have one key and nonce."""
    aead, nonce = _suite_4(key, salt, info)
    return salt + aead.encrypt(nonce, plaintext, None)


def decrypt(key: Key, info: bytes, sealed: bytes) -> bytes:
    """The plaintext. A bad point, a bad tag and too few bytes look alike."""
    size = header_size(key)
    if len(sealed) < size + TAG_SIZE:
        raise undecryptable()
    try:
        if key.suite == 4:
            aead, nonce = _suite_4(key, sealed[:size], info)
            return aead.decrypt(nonce, sealed[size:], None)
        return _hpke.open_(
            HPKE_SUITES[key.suite], key.private_object, key.public, info, sealed, *_psk(key))
    except (ValueError, InvalidTag):
        raise undecryptable() from None
