"""PyNaCl's SealedBox: X25519 and XSalsa20-Poly1305, without HKDF. Not HPKE. Compared with suite 2."""

from nacl.public import PrivateKey, SealedBox

from runner import MESSAGE, Operation, serve


def seal() -> Operation:
    box = SealedBox(PrivateKey.generate().public_key)
    return lambda: box.encrypt(MESSAGE)


def unseal() -> Operation:
    key = PrivateKey.generate()
    sealed, box = SealedBox(key.public_key).encrypt(MESSAGE), SealedBox(key)
    return lambda: box.decrypt(sealed)


serve("sealedbox", ["PyNaCl"], {"seal2": seal, "open2": unseal})
