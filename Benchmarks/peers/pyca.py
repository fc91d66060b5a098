"""pyca/cryptography's HPKE, suites 1, 2 and 3."""

from cryptography.hazmat.primitives.asymmetric import ec, mlkem, x25519
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, MLKEM768X25519PrivateKey, Suite

from runner import MESSAGE, Operation, info, serve

SUITE_1 = Suite(KEM.P256, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
SUITE_2 = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
SUITE_3 = Suite(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)


def p256() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def x_wing() -> MLKEM768X25519PrivateKey:
    return MLKEM768X25519PrivateKey(mlkem.MLKEM768PrivateKey.generate(), x25519.X25519PrivateKey.generate())


def seal(suite: Suite, number: int, key) -> Operation:
    public_key, context = key.public_key(), info(number)
    return lambda: suite.encrypt(MESSAGE, public_key, context)


def unseal(suite: Suite, number: int, key) -> Operation:
    context = info(number)
    sealed = suite.encrypt(MESSAGE, key.public_key(), context)
    return lambda: suite.decrypt(sealed, key, context)


serve("pyca", ["cryptography"], {
    "seal1": lambda: seal(SUITE_1, 1, p256()),
    "open1": lambda: unseal(SUITE_1, 1, p256()),
    "seal2": lambda: seal(SUITE_2, 2, x25519.X25519PrivateKey.generate()),
    "open2": lambda: unseal(SUITE_2, 2, x25519.X25519PrivateKey.generate()),
    "seal3": lambda: seal(SUITE_3, 3, x_wing()),
    "open3": lambda: unseal(SUITE_3, 3, x_wing()),
})
