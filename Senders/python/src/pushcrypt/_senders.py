"""The sender of a message (PROTOCOL section 4). It is never sent."""
from __future__ import annotations

import hashlib

from ._json import b64
from ._keys import lp16

UNNAMED = b"\x00\x00\x00"  # of unsigned messages


def of_set(identifier: bytes) -> bytes:
    """S = 0x01 ‖ set id of 16 bytes"""
    return b"\x01" + identifier


def of_name(name: str) -> bytes:
    """S = 0x00 ‖ lp16(name)"""
    return b"\x00" + lp16(name)


def message_name(sender: bytes, message_id: bytes) -> str:
    """M = SHA-256("pushcrypt/1 message" ‖ 0x00 ‖ S ‖ id), as base64url"""
    return b64(hashlib.sha256(b"pushcrypt/1 message\x00" + sender + message_id).digest())
