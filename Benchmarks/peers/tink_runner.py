"""Google's Tink, suite 2 without its prefix. It has no template for HPKE with P-256."""

import tink
from tink import hybrid

from runner import MESSAGE, Operation, info, serve

TEMPLATE = hybrid.hybrid_key_templates.DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_128_GCM_RAW
hybrid.register()


def private_keys() -> tink.KeysetHandle:
    return tink.new_keyset_handle(TEMPLATE)


def seal() -> Operation:
    sender, context = private_keys().public_keyset_handle().primitive(hybrid.HybridEncrypt), info(2)
    return lambda: sender.encrypt(MESSAGE, context)


def unseal() -> Operation:
    keys, context = private_keys(), info(2)
    sealed = keys.public_keyset_handle().primitive(hybrid.HybridEncrypt).encrypt(MESSAGE, context)
    recipient = keys.primitive(hybrid.HybridDecrypt)
    return lambda: recipient.decrypt(sealed, context)


serve("tink", ["tink"], {"seal2": seal, "open2": unseal})
