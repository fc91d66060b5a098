"""http_ece: RFC 8291, the encryption of Web Push (P-256, HKDF-SHA256, AES-128-GCM). Compared with suite 1."""

import os

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from runner import MESSAGE, Operation, serve


def private_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def serialized(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def sealed(recipient: bytes, secret: bytes) -> bytes:
    return http_ece.encrypt(
        MESSAGE, private_key=private_key(), dh=recipient, auth_secret=secret, version="aes128gcm")


def seal() -> Operation:
    recipient, secret = serialized(private_key()), os.urandom(16)
    return lambda: sealed(recipient, secret)


def unseal() -> Operation:
    key, secret = private_key(), os.urandom(16)
    content = sealed(serialized(key), secret)
    return lambda: http_ece.decrypt(content, private_key=key, auth_secret=secret, version="aes128gcm")


serve("rfc8291", ["http_ece", "cryptography"], {"seal1": seal, "open1": unseal})
