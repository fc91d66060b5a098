"""X-Wing (draft-connolly-cfrg-xwing-kem), the hybrid of ML-KEM-768 and X25519, over the primitives of pyca/cryptography.

The text above a line is that of the draft's section.
"""
from __future__ import annotations

import hashlib

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from .errors import KeyRecordError

try:
    from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
except ImportError:  # cryptography is too old
    _IS_IMPORTED = False
else:
    _IS_IMPORTED = True

PUBLIC_SIZE, CIPHERTEXT_SIZE = 1_216, 1_120
MLKEM_PUBLIC_SIZE, MLKEM_CIPHERTEXT_SIZE = 1_184, 1_088
LABEL = b"\\.//^\\"  # XWingLabel


def require_mlkem() -> None:
    """Raises KeyRecordError `unsupportedSuite` if cryptography has no ML-KEM-768."""
    try:
        if _IS_IMPORTED:
            MLKEM768PrivateKey.generate()
            return
    except UnsupportedAlgorithm:
        pass
    raise KeyRecordError(
        "unsupportedSuite", "suite 3 needs ML-KEM-768, which the package cryptography has from version 48 on")


# 5.3.  def Combiner(ss_M, ss_X, ct_X, pk_X):
#         return SHA3-256(concat(ss_M, ss_X, ct_X, pk_X, XWingLabel))
def _combine(ss_m: bytes, ss_x: bytes, ct_x: bytes, pk_x: bytes) -> bytes:
    return hashlib.sha3_256(ss_m + ss_x + ct_x + pk_x + LABEL).digest()


class XWingPublicKey:
    """The object of a serialised key, 1,216 bytes. ValueError: ML-KEM's part isn't reduced (FIPS 203 section 7.2)."""

    def __init__(self, serialised: bytes) -> None:
        require_mlkem()
        self.serialised = serialised
        self._mlkem = MLKEM768PublicKey.from_public_bytes(serialised[:MLKEM_PUBLIC_SIZE])
        self._x25519 = X25519PublicKey.from_public_bytes(serialised[MLKEM_PUBLIC_SIZE:])

    # 5.4.  def Encapsulate(pk):
    #         pk_M = pk[0:1184]
    #         pk_X = pk[1184:1216]
    #         ek_X = random(32)
    #         ct_X = X25519(ek_X, X25519_BASE)
    #         ss_X = X25519(ek_X, pk_X)
    #         (ss_M, ct_M) = ML-KEM-768.Encaps(pk_M)
    #         ss = Combiner(ss_M, ss_X, ct_X, pk_X)
    #         ct = concat(ct_M, ct_X)
    #         return (ss, ct)
    def encapsulate(self) -> tuple[bytes, bytes]:
        """(shared secret, ciphertext)"""
        ephemeral = X25519PrivateKey.generate()
        ct_x = ephemeral.public_key().public_bytes_raw()
        ss_x = ephemeral.exchange(self._x25519)
        ss_m, ct_m = self._mlkem.encapsulate()
        return _combine(ss_m, ss_x, ct_x, self.serialised[MLKEM_PUBLIC_SIZE:]), ct_m + ct_x


class XWingPrivateKey:
    """The object of a private key: its seed, 32 bytes."""

    # 5.2.  def expandDecapsulationKey(sk):
    #         expanded = SHAKE256(sk, 96)
    #         (pk_M, sk_M) = ML-KEM-768.KeyGen_internal(expanded[0:32], expanded[32:64])
    #         sk_X = expanded[64:96]
    #         pk_X = X25519(sk_X, X25519_BASE)
    def __init__(self, seed: bytes) -> None:
        require_mlkem()
        expanded = hashlib.shake_256(seed).digest(96)
        self._mlkem = MLKEM768PrivateKey.from_seed_bytes(expanded[:64])
        self._x25519 = X25519PrivateKey.from_private_bytes(expanded[64:])
        self._pk_x = self._x25519.public_key().public_bytes_raw()

    def public_bytes(self) -> bytes:
        """pk_M ‖ pk_X"""
        return self._mlkem.public_key().public_bytes_raw() + self._pk_x

    # 5.5.  def Decapsulate(ct, sk):
    #         ct_M = ct[0:1088]
    #         ct_X = ct[1088:1120]
    #         ss_M = ML-KEM-768.Decapsulate(ct_M, sk_M)
    #         ss_X = X25519(sk_X, ct_X)
    #         return Combiner(ss_M, ss_X, ct_X, pk_X)
    def decapsulate(self, ct: bytes) -> bytes:
        """ValueError for a ciphertext of another length, and if the X25519 secret is all zeros."""
        if len(ct) != CIPHERTEXT_SIZE:
            raise ValueError("an X-Wing ciphertext has 1,120 bytes")
        ct_m, ct_x = ct[:MLKEM_CIPHERTEXT_SIZE], ct[MLKEM_CIPHERTEXT_SIZE:]
        ss_m = self._mlkem.decapsulate(ct_m)
        ss_x = self._x25519.exchange(X25519PublicKey.from_public_bytes(ct_x))
        return _combine(ss_m, ss_x, ct_x, self._pk_x)
