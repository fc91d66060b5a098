"""The recipients' keys as objects, mostly of pyca/cryptography, and the checks of public keys (PROTOCOL section 3)."""
from __future__ import annotations

from typing import Any, Union

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH, SECP256R1, EllipticCurvePrivateKey, EllipticCurvePublicKey, derive_private_key,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ._xwing import MLKEM_PUBLIC_SIZE, XWingPrivateKey, XWingPublicKey

DHPrivateKey = Union[EllipticCurvePrivateKey, X25519PrivateKey]
DHPublicKey = Union[EllipticCurvePublicKey, X25519PublicKey]
PrivateObject = Union[DHPrivateKey, XWingPrivateKey]
PublicObject = Union[DHPublicKey, XWingPublicKey]

P256_CURVE, _ECDH = SECP256R1(), ECDH()
FIELD_25519 = 2**255 - 19
D_25519 = -121665 * pow(121666, -1, FIELD_25519) % FIELD_25519
#: The y coordinate of two of the points of order 8 on edwards25519. Its negative is that of the other two.
ORDER_8_Y = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")


def dh_public(kind: str, public: bytes) -> DHPublicKey:
    """The object of a serialised P-256 (65 bytes, uncompressed) or X25519 (32 bytes) key. ValueError: off the curve."""
    if kind == "x25519":
        return X25519PublicKey.from_public_bytes(public)
    if public[:1] != b"\x04":  # pyca would also read the compressed form
        raise ValueError("not an uncompressed point")
    return EllipticCurvePublicKey.from_encoded_point(P256_CURVE, public)


def dh_private(kind: str, secret: bytes) -> DHPrivateKey:
    """The object of a private P-256 or X25519 key. ValueError: a P-256 scalar out of range."""
    if kind == "x25519":
        return X25519PrivateKey.from_private_bytes(secret)
    return derive_private_key(int.from_bytes(secret, "big"), P256_CURVE)


def serialised(kind: str, key: Any) -> bytes:
    """Of a public object of the kind. P-256: uncompressed, 65 bytes. X25519: 32 bytes."""
    found: bytes = key.public_bytes_raw() if kind == "x25519" else key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return found


def exchanged(kind: str, private: Any, public: Any) -> bytes:
    """DH of two objects of the kind. ValueError: an X25519 secret of zeros."""
    found: bytes = private.exchange(public) if kind == "x25519" else private.exchange(_ECDH, public)
    return found


def public_object(kind: str, public: bytes) -> PublicObject:
    """The object of a serialised key to seal to. ValueError: not a valid key."""
    return XWingPublicKey(public) if kind == "xwing" else dh_public(kind, public)


def private_object(kind: str, secret: bytes) -> PrivateObject:
    """The object of a private key to open with. ValueError: not a valid key."""
    return XWingPrivateKey(secret) if kind == "xwing" else dh_private(kind, secret)


def public_of(kind: str, secret: bytes) -> bytes:
    """The serialised public key of a private P-256, X25519, X-Wing or Ed25519 key."""
    if kind == "xwing":
        return XWingPrivateKey(secret).public_bytes()
    if kind == "ed25519":
        return Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
    return serialised(kind, dh_private(kind, secret).public_key())


def check_public(kind: str, public: bytes) -> None:
    """Refuses (ValueError) points off the curve, coordinates that aren't canonical, and points of small order; for X-Wing
    also an ML-KEM key that isn't reduced."""
    if kind == "xwing":
        XWingPublicKey(public)
        check_public("x25519", public[MLKEM_PUBLIC_SIZE:])
    elif kind == "p256":
        dh_public(kind, public)
    elif kind == "x25519":
        if int.from_bytes(public, "little") >= FIELD_25519:
            raise ValueError("x >= p")
        # With a point of small order the shared secret is zero, which the library refuses with ValueError.
        X25519PrivateKey.from_private_bytes(b"\x01" * 32).exchange(X25519PublicKey.from_public_bytes(public))
    else:
        _check_ed25519(public)


def _check_ed25519(public: bytes) -> None:
    y = int.from_bytes(public, "little") & (2**255 - 1)
    if y >= FIELD_25519 or y in (0, 1, FIELD_25519 - 1, ORDER_8_Y, FIELD_25519 - ORDER_8_Y):
        raise ValueError("not canonical, or of small order")
    square = (y * y - 1) * (D_25519 * y * y + 1) % FIELD_25519  # x^2 = (y^2 - 1) / (d y^2 + 1) must be a square
    if pow(square, (FIELD_25519 - 1) // 2, FIELD_25519) != 1:
        raise ValueError("off the curve")
