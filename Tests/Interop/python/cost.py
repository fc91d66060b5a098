"""What sealing costs beside the bare primitives of cryptography that the protocol asks for: python cost.py [ROUNDS]

Both run in turns. The best of the rounds counts, in processor time of the thread.
"""
from __future__ import annotations

import hashlib
import os
import sys
import time
from typing import Any, Callable

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pushcrypt import KeyRecordError, Placeholder, Recipient, RecipientKey, Sealer, SenderKey, _keys

CALLS = 60  # in a round
PAYLOAD = '{"aps":{"alert":{"title":"Dr. Amara Osei","body":"Your results are in."},"sound":"default"},"case":"2041"}'
PLACEHOLDER = Placeholder(title="New message", body="Open the app to read it")
MESSAGE, INFO, SECRET, ZEROS = b" " * 256, os.urandom(60), os.urandom(32), bytes(32)
SIGNER = Ed25519PrivateKey.generate()


def extract(salt: bytes, text: bytes) -> bytes:
    mac = HMAC(salt, SHA256())
    mac.update(text)
    return mac.finalize()


def expand(prk: bytes, info: bytes, size: int) -> bytes:
    return HKDFExpand(SHA256(), size, info).derive(prk)


def finish(key: bytes, nonce: bytes, is_signed: bool) -> None:
    """R, the signature, and AES-GCM."""
    text = MESSAGE
    if is_signed:
        hashlib.sha256(SECRET).digest()
        text = SIGNER.sign(MESSAGE) + MESSAGE
    AESGCM(key).encrypt(nonce, text, None)


def schedule(shared: bytes, key_size: int, is_signed: bool) -> None:
    """The key schedule of RFC 9180."""
    context = extract(ZEROS, b"") + extract(ZEROS, INFO)
    secret = extract(shared, SECRET)
    finish(expand(secret, context, key_size), expand(secret, context, 12), is_signed)


def floor(suite: int) -> Callable[[bool], None]:
    p256, x25519 = ec.generate_private_key(ec.SECP256R1()).public_key(), X25519PrivateKey.generate().public_key()
    mlkem: Any = _keys.generate("xwing").public_object._mlkem if suite == 3 else None  # type: ignore[union-attr]

    def suite_1(is_signed: bool) -> None:
        os.urandom(16)
        own = ec.generate_private_key(ec.SECP256R1())
        enc = own.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        schedule(expand(extract(ZEROS, own.exchange(ec.ECDH(), p256)), enc, 32), 32, is_signed)

    def suite_2(is_signed: bool) -> None:
        os.urandom(16)
        own = X25519PrivateKey.generate()
        schedule(expand(extract(ZEROS, own.exchange(x25519)), own.public_key().public_bytes_raw(), 32), 16, is_signed)

    def suite_3(is_signed: bool) -> None:
        os.urandom(16)
        own = X25519PrivateKey.generate()
        parts = own.public_key().public_bytes_raw(), own.exchange(x25519), mlkem.encapsulate()[0]
        schedule(hashlib.sha3_256(b"".join(parts)).digest(), 32, is_signed)

    def suite_4(is_signed: bool) -> None:
        os.urandom(16)
        okm = HKDF(SHA256(), 44, os.urandom(16), INFO).derive(SECRET)
        finish(okm[:32], okm[32:], is_signed)

    return [suite_1, suite_2, suite_3, suite_4][suite - 1]


def microseconds(call: Callable[[], Any]) -> float:
    start = time.thread_time()
    for _ in range(CALLS):
        call()
    return (time.thread_time() - start) * 1e6 / CALLS


def measure(suite: int, has_psk: bool, is_signed: bool, rounds: int) -> None:
    phone = RecipientKey.generate(suite, psk=has_psk)
    phone = phone.for_device("phone-1") if suite == 4 else phone
    to, sealer = Recipient.from_jwk(phone.registration_record()), Sealer("com.example.app", signer=SenderKey.generate() if is_signed else None)
    bare = floor(suite)
    times = [(microseconds(lambda: sealer.seal(PAYLOAD, to=to, placeholder=PLACEHOLDER)), microseconds(lambda: bare(is_signed)))
             for _ in range(rounds)]
    own, least = map(min, zip(*times))
    names = f"suite {suite}{', psk' if has_psk else ''}{', signed' if is_signed else ''}"
    print(f"{names:22}: seal {own:6.1f} us, primitives {least:6.1f} us, {own / least:.2f}", flush=True)


if __name__ == "__main__":
    for suite in (1, 2, 3, 4):
        try:
            for has_psk in (False, True)[:1 if suite == 4 else 2]:
                for is_signed in (False, True):
                    measure(suite, has_psk, is_signed, int(sys.argv[1]) if len(sys.argv) > 1 else 60)
        except KeyRecordError as error:
            print(f"suite {suite}: {error.reason}")
