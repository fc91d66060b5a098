"""End-to-end encrypted push notifications: a sender of the pushcrypt protocol, version 1.

`Registration` reads what an app uploads, `challenge` lets a device prove that it has the key of its record, `Sealer` seals pushes,
`Receipt` reads what devices report, and `Opener` opens pushes in tests. `pushcrypt.sender_sets` has signed sets of sender keys,
`pushcrypt.keyset_log` the files of keysets.

seal a push             sealer, blobs, keys, keysets, errors, _carriers, _device_set, _envelope, _hpke, _json, _keys, _message,
                        _outer, _points, _times, _xwing
the rest of a sender    keyset_watcher, keyset_log, _log_line, _keyset_material, _wrap_command, registration, possession, receipts
devices and publishers  opener, sender_sets, _senders, standin, _test_doors
"""
from __future__ import annotations

from ._carriers import Carrier
from ._outer import Placeholder
from .blobs import Attachment, Offload, SealedAttachment, SealedOffload, seal_attachment, seal_offload
from .errors import KeyRecordError, KeysetFileError, OpenError, PossessionError, PushCryptError, ReceiptError, SealError
from .keys import PublisherKey, Recipient, RecipientKey, SenderKey, Signer, pinned
from .keyset_watcher import KeysetWatcher
from .keysets import Keyset
from .opener import NamedSender, OpenedPush, Opener
from .possession import Challenge, Pending, challenge
from .receipts import Receipt
from .registration import Registration, RegistrationChange, StoredRegistration
from .sealer import Push, Sealer

__all__ = [
    "Attachment", "Carrier", "Challenge", "KeyRecordError", "Keyset", "KeysetFileError", "KeysetWatcher", "NamedSender", "Offload",
    "OpenError", "OpenedPush", "Opener", "Pending", "Placeholder", "PossessionError", "PublisherKey", "Push", "PushCryptError",
    "Receipt", "ReceiptError", "Recipient", "RecipientKey", "Registration", "RegistrationChange", "SealError", "SealedAttachment",
    "SealedOffload", "Sealer", "SenderKey", "Signer", "StoredRegistration", "challenge", "pinned", "seal_attachment", "seal_offload",
]
