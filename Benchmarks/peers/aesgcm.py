"""pyca's AES-256-GCM under one key for all messages: no key per message. Compared with suite 4."""

import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from runner import MESSAGE, Operation, serve


def seal() -> Operation:
    cipher = AESGCM(AESGCM.generate_key(256))
    return lambda: cipher.encrypt(os.urandom(12), MESSAGE, None)


def unseal() -> Operation:
    cipher, nonce = AESGCM(AESGCM.generate_key(256)), os.urandom(12)
    sealed = cipher.encrypt(nonce, MESSAGE, None)
    return lambda: cipher.decrypt(nonce, sealed, None)


serve("aesgcm", ["cryptography"], {"seal4": seal, "open4": unseal})
