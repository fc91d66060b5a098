"""Encrypted blobs and references to them, written from the protocol page alone (sections 6 and 7), for interop tests.

blob  = "PCB1" chunk+
chunk = AES-256-GCM(key, nonce, aad, 65,536 bytes of plaintext; the last 1-65,536, empty only for an empty plaintext)
nonce = u88 big-endian counter from 0, below 2^32, then 0x00, or 0x01 on the last chunk
aad   = "PCB1" u8(purpose)
"""
from __future__ import annotations

import hashlib
import hmac
import json
import re
from typing import Any, Optional

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from strict_json import MAX_PAYLOAD, Obj, Refusal, b64, is_integer, unb64

MAGIC, CHUNK, TAG = b"PCB1", 65_536, 16
PURPOSES = {"attachment": 1, "payload": 2}
MAX_SIZE, MAX_OFFLOAD, PAGE = 2**48, MAX_PAYLOAD, 4096
MAX_ATTACHMENTS, MAX_URL = 8, 2048

_HOST = r"[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?"
_URL = re.compile(r"https://" + _HOST + r"(?:[/?](?:[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?", re.ASCII)
_NAME = r"[a-z0-9][a-z0-9.+_-]{0,63}"
_TYPE = re.compile(_NAME + "/" + _NAME, re.ASCII)
_ID = re.compile("[A-Za-z0-9_-]{1,64}", re.ASCII)


def _nonce(counter: int, last: bool) -> bytes:
    return counter.to_bytes(11, "big") + (b"\x01" if last else b"\x00")


def _aad(purpose: str) -> bytes:
    return MAGIC + bytes([PURPOSES[purpose]])


def seal_blob(key: bytes, purpose: str, plaintext: bytes) -> bytes:
    """The blob. The caller must pass a fresh key."""
    pieces = [plaintext[at:at + CHUNK] for at in range(0, len(plaintext), CHUNK)] or [b""]
    chunks = [AESGCM(key).encrypt(_nonce(counter, counter == len(pieces) - 1), piece, _aad(purpose))
              for counter, piece in enumerate(pieces)]
    return MAGIC + b"".join(chunks)


def reference(key: bytes, plaintext: bytes, blob: bytes) -> dict[str, Any]:
    """The members of a reference that the blob itself determines."""
    return {"key": b64(key), "size": len(plaintext), "sha256": b64(hashlib.sha256(blob).digest())}


def open_blob(ref: dict[str, Any], purpose: str, blob: bytes) -> bytes:
    """The plaintext. Requires the last chunk's flag at the end of the bytes, then verifies size and digest."""
    key = unb64(ref["key"], 32)
    body = blob[len(MAGIC):]
    chunks = [body[at:at + CHUNK + TAG] for at in range(0, len(body), CHUNK + TAG)]
    if blob[:len(MAGIC)] != MAGIC or not chunks:
        raise Refusal("undecryptable")
    plaintext = b""
    for counter, chunk in enumerate(chunks):
        last = counter == len(chunks) - 1
        if len(chunk) < TAG or (len(chunk) == TAG and len(chunks) > 1):
            raise Refusal("undecryptable")
        try:
            plaintext += AESGCM(key).decrypt(_nonce(counter, last), chunk, _aad(purpose))
        except InvalidTag:
            raise Refusal("undecryptable") from None
    digest = hashlib.sha256(blob).digest()
    if len(plaintext) != ref["size"] or not hmac.compare_digest(digest, unb64(ref["sha256"], 32)):
        raise Refusal("undecryptable")
    return plaintext


def pad_payload(payload: bytes) -> bytes:
    """Pads an offloaded payload with spaces to a multiple of 4 KiB."""
    return payload + b" " * (-len(payload) % PAGE)


# --- References in the message header --------------------------------------------------------------------------------

def _string(value: Any, grammar: re.Pattern[str], what: str) -> str:
    if not isinstance(value, str) or not grammar.fullmatch(value):
        raise Refusal("malformed", what)
    return value


def _check_reference(value: Any, limit: int) -> None:
    if not isinstance(value, dict):
        raise Refusal("malformed", "reference")
    if len(_string(value.get("url"), _URL, "url")) > MAX_URL:
        raise Refusal("malformed", "url")
    unb64(value.get("key"), 32)
    unb64(value.get("sha256"), 32)
    if not is_integer(value.get("size")) or value["size"] > limit:
        raise Refusal("malformed", "size")


def check_extras(header: Obj) -> dict[str, Any]:
    """Checks attachments (1 to 8, distinct ids), offload, test (only true); a wrong one makes the message malformed."""
    found: dict[str, Any] = {}
    if "attachments" in header:
        attachments = header["attachments"]
        if not isinstance(attachments, list) or not 1 <= len(attachments) <= MAX_ATTACHMENTS:
            raise Refusal("malformed", "attachments")
        for attachment in attachments:
            _check_reference(attachment, MAX_SIZE)
            _string(attachment.get("type"), _TYPE, "type")
            if "id" in attachment:
                _string(attachment["id"], _ID, "id")
        ids = [attachment["id"] for attachment in attachments if "id" in attachment]
        if len(set(ids)) != len(ids):
            raise Refusal("malformed", "two ids are the same")
        found["attachments"] = attachments
    if "offload" in header:
        _check_reference(header["offload"], MAX_OFFLOAD)
        found["offload"] = header["offload"]
    if "test" in header:
        if header["test"] is not True:
            raise Refusal("malformed", "test")
        found["test"] = True
    return found


def extras_text(extras: Optional[dict[str, Any]]) -> str:
    """The members after `exp`, each with a comma before it."""
    parts = [f',"{name}":' + json.dumps(value, separators=(",", ":")) for name, value in (extras or {}).items()]
    return "".join(parts)
