"""HPKE (RFC 9180, draft-ietf-hpke-pq), single-shot, modes Base and PSK, over the primitives of pyca/cryptography.

The text above a line is that of the RFC's section.
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_p256
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from ._points import P256_CURVE, DHPrivateKey, PrivateObject, PublicObject, dh_public, exchanged, serialised
from ._xwing import CIPHERTEXT_SIZE, XWingPrivateKey, XWingPublicKey

HASH_SIZE, NONCE_SIZE = 32, 12  # Nh of HKDF-SHA256, Nn of AES-GCM
MODE_BASE, MODE_PSK = 0, 1


@dataclass(frozen=True)
class Suite:
    """The algorithms of one suite. The KDF is HKDF-SHA256, 0x0001."""

    kind: str  # "p256", "x25519" or "xwing"
    kem_id: int
    aead_id: int
    key_size: int  # Nk
    enc_size: int  # Nenc

    @cached_property
    def kem_suite_id(self) -> bytes:
        # 4.1.  suite_id = concat("KEM", I2OSP(kem_id, 2))
        return b"KEM" + self.kem_id.to_bytes(2, "big")

    @cached_property
    def suite_id(self) -> bytes:
        # 5.1.  suite_id = concat("HPKE", I2OSP(kem_id, 2), I2OSP(kdf_id, 2), I2OSP(aead_id, 2))
        return b"HPKE" + self.kem_id.to_bytes(2, "big") + b"\x00\x01" + self.aead_id.to_bytes(2, "big")


P256_AES256 = Suite("p256", 0x0010, 0x0002, 32, 65)
X25519_AES128 = Suite("x25519", 0x0020, 0x0001, 16, 32)
XWING_AES256 = Suite("xwing", 0x647A, 0x0002, 32, CIPHERTEXT_SIZE)


# 4.  def LabeledExtract(salt, label, ikm):
#       labeled_ikm = concat("HPKE-v1", suite_id, label, ikm)
#       return Extract(salt, labeled_ikm)
# RFC 5869 2.2.  Extract(salt, IKM) = HMAC-Hash(salt, IKM). An empty salt is HashLen zeros.
def labeled_extract(suite_id: bytes, salt: bytes, label: bytes, ikm: bytes) -> bytes:
    mac = HMAC(salt or bytes(HASH_SIZE), SHA256())
    mac.update(b"HPKE-v1" + suite_id + label + ikm)
    return mac.finalize()


# 4.  def LabeledExpand(prk, label, info, L):
#       labeled_info = concat(I2OSP(L, 2), "HPKE-v1", suite_id, label, info)
#       return Expand(prk, labeled_info, L)
def labeled_expand(suite_id: bytes, prk: bytes, label: bytes, info: bytes, length: int) -> bytes:
    labeled_info = length.to_bytes(2, "big") + b"HPKE-v1" + suite_id + label + info
    return HKDFExpand(SHA256(), length, labeled_info).derive(prk)


# 4.1.  def ExtractAndExpand(dh, kem_context):
#         eae_prk = LabeledExtract("", "eae_prk", dh)
#         shared_secret = LabeledExpand(eae_prk, "shared_secret", kem_context, Nsecret)
def _extract_and_expand(suite: Suite, dh: bytes, kem_context: bytes) -> bytes:
    eae_prk = labeled_extract(suite.kem_suite_id, b"", b"eae_prk", dh)
    return labeled_expand(suite.kem_suite_id, eae_prk, b"shared_secret", kem_context, HASH_SIZE)


# 4.1.  def Encap(pkR):
#         skE, pkE = GenerateKeyPair()
#         dh = DH(skE, pkR)
#         enc = SerializePublicKey(pkE)
#         pkRm = SerializePublicKey(pkR)
#         kem_context = concat(enc, pkRm)
#         shared_secret = ExtractAndExpand(dh, kem_context)
#         return shared_secret, enc
def encap(
    suite: Suite, recipient: PublicObject, recipient_bytes: bytes, ephemeral: DHPrivateKey | None = None
) -> tuple[bytes, bytes]:
    """Only tests pass an `ephemeral` key that isn't fresh: with it, two messages would have one key and nonce. X-Wing makes
    its own (draft-ietf-hpke-pq: X-Wing's Encapsulate is Encap)."""
    if isinstance(recipient, XWingPublicKey):
        return recipient.encapsulate()
    ephemeral = ephemeral or generate(suite.kind)
    enc = serialised(suite.kind, ephemeral.public_key())
    return _extract_and_expand(suite, exchanged(suite.kind, ephemeral, recipient), enc + recipient_bytes), enc


# 4.1.  def Decap(enc, skR):
#         pkE = DeserializePublicKey(enc)
#         dh = DH(skR, pkE)
#         pkRm = SerializePublicKey(pk(skR))
#         kem_context = concat(enc, pkRm)
#         shared_secret = ExtractAndExpand(dh, kem_context)
def decap(suite: Suite, enc: bytes, private: PrivateObject, public_bytes: bytes) -> bytes:
    if isinstance(private, XWingPrivateKey):
        return private.decapsulate(enc)
    return _extract_and_expand(suite, exchanged(suite.kind, private, dh_public(suite.kind, enc)), enc + public_bytes)


# 5.1.  def KeySchedule<ROLE>(mode, shared_secret, info, psk, psk_id):
#         psk_id_hash = LabeledExtract("", "psk_id_hash", psk_id)
#         info_hash = LabeledExtract("", "info_hash", info)
#         key_schedule_context = concat(mode, psk_id_hash, info_hash)
#         secret = LabeledExtract(shared_secret, "secret", psk)
#         key = LabeledExpand(secret, "key", key_schedule_context, Nk)
#         base_nonce = LabeledExpand(secret, "base_nonce", key_schedule_context, Nn)
def key_schedule(suite: Suite, shared_secret: bytes, info: bytes, psk: bytes, psk_id: bytes) -> tuple[bytes, bytes]:
    """The AEAD's key, and the nonce of the first message."""
    # 5.1.  VerifyPSKInputs: "Inconsistent PSK inputs" unless both psk and psk_id are empty, or neither is.
    if bool(psk) != bool(psk_id):
        raise ValueError("a psk needs a psk_id, and the reverse")
    mode, suite_id = MODE_PSK if psk else MODE_BASE, suite.suite_id
    psk_id_hash = labeled_extract(suite_id, b"", b"psk_id_hash", psk_id)
    info_hash = labeled_extract(suite_id, b"", b"info_hash", info)
    context = bytes([mode]) + psk_id_hash + info_hash
    secret = labeled_extract(suite_id, shared_secret, b"secret", psk)
    key = labeled_expand(suite_id, secret, b"key", context, suite.key_size)
    return key, labeled_expand(suite_id, secret, b"base_nonce", context, NONCE_SIZE)


def generate(kind: str) -> DHPrivateKey:
    """A fresh P-256 or X25519 key from the library's own source of random bytes."""
    return generate_p256(P256_CURVE) if kind == "p256" else X25519PrivateKey.generate()


# 6.1.  def Seal<MODE>(pkR, info, aad, pt, ...):
#         enc, ctx = Setup<MODE>S(pkR, info, ...)
#         ct = ctx.Seal(aad, pt)
# 5.2.  The nonce of sequence number 0 is base_nonce.
def seal(
    suite: Suite, recipient: PublicObject, recipient_bytes: bytes, info: bytes, plaintext: bytes,
    psk: bytes = b"", psk_id: bytes = b"", aad: bytes = b"", ephemeral: DHPrivateKey | None = None,
) -> bytes:
    """enc ‖ ct. Only tests pass an `ephemeral` key."""
    shared_secret, enc = encap(suite, recipient, recipient_bytes, ephemeral)
    key, nonce = key_schedule(suite, shared_secret, info, psk, psk_id)
    return enc + AESGCM(key).encrypt(nonce, plaintext, aad)


# 6.1.  def Open<MODE>(enc, skR, info, aad, ct, ...):
#         ctx = Setup<MODE>R(enc, skR, info, ...)
#         return ctx.Open(aad, ct)
def open_(
    suite: Suite, private: PrivateObject, public_bytes: bytes, info: bytes, sealed: bytes,
    psk: bytes = b"", psk_id: bytes = b"", aad: bytes = b"",
) -> bytes:
    """The plaintext of enc ‖ ct. ValueError or InvalidTag if it can't be decrypted."""
    enc, ct = sealed[:suite.enc_size], sealed[suite.enc_size:]
    key, nonce = key_schedule(suite, decap(suite, enc, private, public_bytes), info, psk, psk_id)
    return AESGCM(key).decrypt(nonce, ct, aad)
