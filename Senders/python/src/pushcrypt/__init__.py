"""End-to-end encrypted push notifications: a sender of the pushcrypt protocol, version 1.

`Registration` reads what an app uploads, `Sealer` seals pushes, and `Opener` opens them in tests. `pushcrypt.sender_sets` has
signed sets of sender keys, `pushcrypt.keyset_log` the files of keysets, and `pushcrypt.possession` the challenges that let
a device prove that it has the key of its registration record.
"""
from __future__ import annotations

from ._carriers import Carrier
from ._outer import Placeholder
from .blobs import Attachment, Offload, SealedAttachment, SealedOffload, seal_attachment, seal_offload
from .errors import KeyRecordError, OpenError, PossessionError, PushCryptError, SealError
from .keys import PublisherKey, Recipient, RecipientKey, SenderKey, pinned
from .keysets import Keyset
from .opener import NamedSender, OpenedPush, Opener
from .registration import Registration, RegistrationChange, StoredRegistration
from .sealer import Push, Sealer

__all__ = [
    "Attachment", "Carrier", "KeyRecordError", "Keyset", "NamedSender", "Offload", "OpenError", "OpenedPush", "Opener", "Placeholder",
    "PossessionError", "PublisherKey", "Push", "PushCryptError", "Recipient", "RecipientKey", "Registration",
    "RegistrationChange", "SealError", "SealedAttachment", "SealedOffload", "Sealer", "SenderKey", "StoredRegistration", "pinned",
    "seal_attachment", "seal_offload",
]
