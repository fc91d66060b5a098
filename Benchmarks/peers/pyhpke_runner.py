"""pyhpke, suites 1 and 2."""

import os

from pyhpke import AEADId, CipherSuite, KDFId, KEMId

from runner import MESSAGE, Operation, info, serve

SUITE_1 = CipherSuite.new(KEMId.DHKEM_P256_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES256_GCM)
SUITE_2 = CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES128_GCM)


def sealed(suite: CipherSuite, public_key, context: bytes) -> tuple[bytes, bytes]:
    enc, sender = suite.create_sender_context(public_key, info=context)
    return enc, sender.seal(MESSAGE)


def seal(suite: CipherSuite, number: int) -> Operation:
    public_key, context = suite.kem.derive_key_pair(os.urandom(32)).public_key, info(number)
    return lambda: sealed(suite, public_key, context)


def unseal(suite: CipherSuite, number: int) -> Operation:
    keys, context = suite.kem.derive_key_pair(os.urandom(32)), info(number)
    enc, ciphertext = sealed(suite, keys.public_key, context)
    return lambda: suite.create_recipient_context(enc, keys.private_key, info=context).open(ciphertext)


serve("pyhpke", ["pyhpke", "cryptography"], {
    "seal1": lambda: seal(SUITE_1, 1),
    "open1": lambda: unseal(SUITE_1, 1),
    "seal2": lambda: seal(SUITE_2, 2),
    "open2": lambda: unseal(SUITE_2, 2),
})
