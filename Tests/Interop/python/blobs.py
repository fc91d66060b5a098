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
MAX_RETRACTED, MAX_INCREMENT = 16, 999

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


def _check_attachments(attachments: Any, authenticated: bool) -> list[Any]:
    """1 to 8 attachments, distinct ids, at most one avatar. Those of another use are left out, unread."""
    if not isinstance(attachments, list) or not 1 <= len(attachments) <= MAX_ATTACHMENTS:
        raise Refusal("malformed", "attachments")
    found = []
    for attachment in attachments:
        if not isinstance(attachment, dict):
            raise Refusal("malformed", "an attachment is not an object")
        if "use" in attachment:
            if not authenticated:
                continue
            if not isinstance(attachment["use"], str):
                raise Refusal("malformed", "use")
            if attachment["use"] != "avatar":
                continue
        _check_reference(attachment, MAX_SIZE)
        _string(attachment.get("type"), _TYPE, "type")
        if "id" in attachment:
            _string(attachment["id"], _ID, "id")
        found.append(attachment)
    ids = [attachment["id"] for attachment in found if "id" in attachment]
    if len(set(ids)) != len(ids):
        raise Refusal("malformed", "two ids are the same")
    if sum("use" in attachment for attachment in found) > 1:
        raise Refusal("malformed", "two avatars")
    return found


def _check_instructions(header: Obj, has_badge: bool) -> dict[str, Any]:
    """retract (1 to 16 distinct ids of other messages), quiet (only true, nothing to fetch), badge ({"add": n} alone)."""
    found: dict[str, Any] = {}
    if "retract" in header:
        retracted = header["retract"]
        if not isinstance(retracted, list) or not 1 <= len(retracted) <= MAX_RETRACTED:
            raise Refusal("malformed", "retract")
        for message in retracted:
            unb64(message, 16)
        if len(set(retracted)) != len(retracted) or header.get("id") in retracted:
            raise Refusal("malformed", "an id twice, or the message's own")
        found["retract"] = retracted
    if "quiet" in header:
        if header["quiet"] is not True or "attachments" in header or "offload" in header:
            raise Refusal("malformed", "quiet")
        found["quiet"] = True
    if "badge" in header:
        badge = header["badge"]
        if not isinstance(badge, dict) or list(badge) != ["add"] or type(badge["add"]) is not int \
                or not -MAX_INCREMENT <= badge["add"] <= MAX_INCREMENT or has_badge:
            raise Refusal("malformed", "badge")
        found["badge"] = badge
    return found


def check_extras(header: Obj, authenticated: bool = True, has_badge: bool = False) -> dict[str, Any]:
    """Checks the optional members; a wrong one makes the message malformed. Returns those that have an effect.

    `authenticated`: the message is signed, or sealed with a psk or a shared key. Otherwise instructions are ignored.
    `has_badge`: the payload has aps.badge.
    """
    found: dict[str, Any] = {}
    if "attachments" in header:
        attachments = _check_attachments(header["attachments"], authenticated)
        if attachments:
            found["attachments"] = attachments
    if "offload" in header:
        _check_reference(header["offload"], MAX_OFFLOAD)
        found["offload"] = header["offload"]
    if "test" in header:
        if header["test"] is not True:
            raise Refusal("malformed", "test")
        found["test"] = True
    return {**found, **_check_instructions(header, has_badge)} if authenticated else found


def has_instructions(extras: dict[str, Any]) -> bool:
    """Whether a member needs a message that is signed, or sealed with a psk or a shared key."""
    return any(name in extras for name in ("retract", "quiet", "badge")) or any(
        "use" in attachment for attachment in extras.get("attachments", []))


def extras_text(extras: Optional[dict[str, Any]]) -> str:
    """The members after `exp`, each with a comma before it."""
    parts = [f',"{name}":' + json.dumps(value, separators=(",", ":")) for name, value in (extras or {}).items()]
    return "".join(parts)
