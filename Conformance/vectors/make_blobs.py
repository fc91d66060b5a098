"""Writes blobs-v1.json with the Python package: blobs under fixed keys, blobs that are refused, and message headers.

Run with an interpreter that has the package of Senders/python: python make_blobs.py > blobs-v1.json
Nothing in it is random: every run makes the same file.
"""
from __future__ import annotations

import hashlib
import json
import os
import sys
from typing import Any, Optional

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tests", "Interop", "python"))
sys.dont_write_bytecode = True

import annotate  # noqa: E402
import support  # noqa: E402
from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: E402
from pushcrypt import OpenError, blobs  # noqa: E402
from pushcrypt._json import b64, parse, unb64  # noqa: E402
from pushcrypt._message import MAX_PAYLOAD, MAX_VALUES, check_extras  # noqa: E402
from pushcrypt.errors import Flaw  # noqa: E402

SIZES = (0, 1, 100, 65_535, 65_536, 65_537, 131_072, 200_000)
PURPOSES = {"attachment": blobs.ATTACHMENT, "payload": blobs.PAYLOAD}


def key_of(label: str) -> bytes:
    return hashlib.sha256(f"pushcrypt test blob: {label}".encode()).digest()


def pattern(count: int) -> bytes:
    """Byte i of n is 167 i + 13 (i >> 8) + n, modulo 256."""
    return bytes((i * 167 + (i >> 8) * 13 + count) & 255 for i in range(count))


def valid_blobs() -> list[dict[str, Any]]:
    found = []
    for purpose in PURPOSES:
        for size in SIZES:
            key, plaintext = key_of(f"{purpose} {size}"), pattern(size)
            blob = blobs.seal_blob(key, PURPOSES[purpose], plaintext)
            ref = support.reference(key, plaintext, blob)
            assert blobs.open_blob(ref, PURPOSES[purpose], blob) == plaintext
            members = {name: value for name, value in ref.members().items() if name != "url"}
            entry = {"name": f"{purpose} of {size} bytes", "purpose": purpose, **members}
            found.append({**entry, "blob": b64(blob)} if size <= 100 else entry)
    return found


def refused_blobs() -> list[dict[str, Any]]:
    """Small ones; `own` takes the digest of the changed blob, so that it is not the digest that refuses it."""
    key, plaintext = key_of("refused"), pattern(20)
    aad, found = b"PCB1\x01", []
    blob = blobs.seal_blob(key, blobs.ATTACHMENT, plaintext)
    empty = blobs.seal_blob(key, blobs.ATTACHMENT, b"")

    def made(nonce: str, text: bytes = plaintext, data: bytes = aad) -> bytes:
        return b"PCB1" + AESGCM(key).encrypt(bytes.fromhex(nonce), text, data)

    def add(name: str, changed: bytes, own: bool = True, purpose: str = "attachment", size: int = 20,
            digest: Optional[bytes] = None) -> None:
        sha256 = digest or hashlib.sha256(changed if own else blob).digest()
        entry = {"name": name, "purpose": purpose, "key": b64(key), "size": size, "sha256": b64(sha256),
                 "blob": b64(changed)}
        try:
            blobs.open_blob(blobs.Offload.from_members(entry), PURPOSES[purpose], changed)
        except OpenError as refusal:
            assert refusal.code == "undecryptable", name
        else:
            raise AssertionError(name)
        found.append(entry)

    assert made("000000000000000000000001") == blob
    add("another digest", blob, digest=bytes(32))
    add("a bit of the digest", blob, digest=bytes([hashlib.sha256(blob).digest()[0] ^ 1])
        + hashlib.sha256(blob).digest()[1:])
    add("another purpose", blob, purpose="payload")
    for size in (0, 19, 21, 65_556, 2**48):
        add(f"size {size}", blob, size=size)
    add("cut short by a byte", blob[:-1])
    add("cut short by a byte, and said so", blob[:-1], size=19)
    add("the magic alone", blob[:4], size=0)
    add("nothing", b"", size=0)
    add("a byte more", blob + b"\0")
    add("a byte more, and said so", blob + b"\0", size=21)
    add("an empty last chunk more", blob + AESGCM(key).encrypt(bytes(10) + b"\1\1", b"", aad))
    add("the blob twice", blob + blob[4:], size=40)
    add("a bit of the ciphertext", blob[:10] + bytes([blob[10] ^ 4]) + blob[11:])
    add("a bit of the tag", blob[:-1] + bytes([blob[-1] ^ 1]))
    add("a bit of the magic", bytes([blob[0] ^ 1]) + blob[1:])
    add("PCB2", b"PCB2" + blob[4:])
    add("no magic", blob[4:], size=16)
    add("not the last chunk", made("000000000000000000000000"))
    add("flag 2", made("000000000000000000000002"))
    add("flag ff", made("0000000000000000000000ff"))
    add("counter 1", made("000000000000000000000101"))
    add("counter 2^32", made("000000000001000000000001"))
    add("little-endian counter", made("010000000000000000000001"))
    add("no aad", made("000000000000000000000001", data=b""))
    add("purpose 0", made("000000000000000000000001", data=b"PCB1\x00"))
    add("sealed as a payload", made("000000000000000000000001", data=b"PCB1\x02"))
    add("empty, and more said", empty, size=1)
    add("empty, not the last chunk", made("000000000000000000000000", b""), size=0)
    return found


def told(value: Any) -> str:
    """A value in a name: its JSON text, or its beginning and its length."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:40]}... of {len(value)} characters"


def headers() -> list[dict[str, Any]]:
    """The `pushcrypt` member of an inner payload: right and wrong optional members behind right required ones."""
    found: list[dict[str, Any]] = []
    key, digest = b64(key_of("header")), b64(key_of("header digest"))
    ref = {"url": "https://cdn.example.com/a", "key": key, "size": 5, "sha256": digest}
    picture = {**ref, "type": "image/png"}

    def add(name: str, valid: bool, *members: tuple[str, Any]) -> None:
        texts = ['"id":"AAECAwQFBgcICQoLDA0ODw"', '"iat":1800000000', '"exp":1800000060']
        texts += [f'"{member}":{json.dumps(value, separators=(",", ":"))}' for member, value in members]
        text = "{" + ",".join(texts) + "}"
        try:
            check_extras(parse(text.encode())[0])
            assert valid, name
        except Flaw as flaw:
            assert not valid, (name, flaw)
        found.append({"name": name, "valid": valid, "header": text})

    def one(name: str, valid: bool, **members: Any) -> None:
        changed = {**picture, **members}
        add(name, valid, ("attachments", [{k: v for k, v in changed.items() if v is not ...}]))

    add("none", True)
    add("an attachment", True, ("attachments", [picture]))
    add("eight", True, ("attachments", [{**picture, "id": f"a-{i}_Z"} for i in range(8)]))
    add("eight without ids", True, ("attachments", [picture] * 8))
    add("an offload", True, ("offload", ref))
    add("a self-test", True, ("test", True))
    add("all", True, ("attachments", [picture]), ("offload", ref), ("test", True))
    add("in another order", True, ("test", True), ("offload", ref), ("attachments", [picture]))
    add("an unknown member", True, ("more", [1]), ("attachments", [{**picture, "more": None}]))
    add("nine", False, ("attachments", [picture] * 9))
    for name, value in (("null", None), ("empty", []), ("an object", picture), ("a string", "x"), ("true", True)):
        add(f"attachments: {name}", False, ("attachments", value))
    for name, value in (("null", None), ("a number", 1), ("a list", [picture])):
        add(f"attachments: one is {name}", False, ("attachments", [picture, value]))
    add("attachments: two of one id", False,
        ("attachments", [{**picture, "id": "a"}, picture, {**picture, "id": "a"}]))
    for name, value in (("null", None), ("a list", [ref]), ("a string", "x"), ("false", False)):
        add(f"offload: {name}", False, ("offload", value))
    for name, value in (("false", False), ("null", None), ("1", 1), ("a string", "true")):
        add(f"test: {name}", False, ("test", value))
    for name in ("url", "key", "size", "sha256", "type"):
        one(f"{name} missing", False, **{name: ...})
        one(f"{name} null", False, **{name: None})
        if name != "type":
            add(f"offload: {name} missing", False, ("offload", {k: v for k, v in ref.items() if k != name}))
    for name in ("key", "sha256"):
        for what, value in (("31 bytes", b64(bytes(31))), ("33 bytes", b64(bytes(33))), ("empty", ""), ("padded", key + "="),
                            ("trailing bits", b64(bytes(32))[:-1] + "B"), ("base64", "+" + key[1:]), ("a number", 1)):
            one(f"{name}: {what}", False, **{name: value})
    for size, valid in ((0, True), (1, True), (2**48, True), (2**48 + 1, False), (2**53, False), (-1, False),
                        ("5", False), (True, False), (5.0, False)):
        one(f"size {told(size)}", valid, size=size)
    for size, valid in ((0, True), (4096, True), (MAX_PAYLOAD, True), (MAX_PAYLOAD + 1, False)):
        add(f"offload: size {size}", valid, ("offload", {**ref, "size": size}))
    longest = "https://a.b/" + "x" * (2048 - 12)
    for url, valid in (
        ("https://a", True), ("https://a.b:8443/c", True), ("https://A-1.b/?q=%2f&r=[1]", True), ("https://a.b?c", True),
        ("https://a.b/c%20d/~e;f=g,h!$'()*+@:", True), (longest, True), (longest + "x", False),
        ("http://a.b/c", False), ("HTTPS://a.b/c", False), ("https:/a.b", False), ("https://", False),
        ("https:///c", False), ("https://?c", False), ("ftp://a.b", False), ("file:///etc/passwd", False),
        ("//a.b/c", False), ("a.b/c", False), ("", False), ("https://a.b/c#d", False), ("https://u:p@a.b/c", False),
        ("https://u@a.b/c", False), ("https://a.b:/c", False), ("https://a.b:123456/c", False),
        ("https://a.b:x/c", False), ("https://[::1]/c", False), ("https://a b/c", False), ("https://a.b/c d", False),
        ("https://a.b/c\n", False), ("https://a.b/%", False), ("https://a.b/%2", False), ("https://a.b/%zz", False),
        ("https://a.b/\u00e9", False), ("https://\u00e9.b/", False), ("https://a.b/\"", False), ("https://a.b/\\c", False),
        ("https://a.b\\c", False), ("https://a.b/<c>", False), ("https://a_b/c", False),
        ("https://a.b:1", True), ("https://a.b:00443/c", True), ("https://a.b:65535?c", True), ("https://a.b:0/c", False),
        ("https://a.b:00000", False), ("https://a.b:65536/c", False), ("https://a.b:99999/c", False),
        ("https://a..b/c", False), ("https://.a/c", False), ("https://a./c", False), ("https://.", False),
        ("https://a.:443", False), ("https://-/c", True), ("https://a:1:2/c", False),
        ("https://" + "a" * 253, True), ("https://" + "a" * 254, False), ("https://a.b/c\u0000", False), (1, False),
    ):
        one(f"url {told(url)}", valid, url=url)
    for value, valid in (
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", True), ("a/b", True),
        ("image/svg+xml", True), ("1/2", True), ("x/" + "y" * 64, True), ("x/" + "y" * 65, False),
        ("x" * 65 + "/y", False), ("image/PNG", False), ("image", False), ("image/", False), ("/png", False), ("", False),
        ("image/png; q=1", False), ("image//png", False), ("image/png/x", False), ("*/*", False), ("image/.png", False),
        (" image/png", False), ("image/png\n", False), ("image/p\u00e9", False), (["image/png"], False),
    ):
        one(f"type {told(value)}", valid, type=value)
    for value, valid in (("a", True), ("A-z_0", True), ("a" * 64, True), ("a" * 65, False), ("", False), ("a.b", False),
                         ("a/b", False), ("../x", False), ("\u00e9", False), ("a b", False), (None, False), (1, False)):
        one(f"id {told(value)}", valid, id=value)
    return found


def payloads() -> list[dict[str, Any]]:
    """Offloaded payloads at and over their limits: `start`, `count` times `repeated`, `end`."""
    found = []

    def add(name: str, valid: bool, start: str, repeated: str, count: int, end: str) -> None:
        try:
            blobs.offloaded_payload((start + repeated * count + end).encode())
            assert valid, name
        except OpenError as refusal:
            assert not valid and refusal.code == "malformed", name
        found.append({"name": name, "valid": valid, "start": start, "repeated": repeated, "count": count, "end": end})

    alert = '{"aps":{"alert":"x"}'
    # The object, aps, alert and what holds the rest.
    for count in (MAX_VALUES - 5, MAX_VALUES - 4):
        add(f"{count + 5} values in an array", count + 5 <= MAX_VALUES, alert + ',"x":[0', ",0", count, "]}")
    for count in (MAX_VALUES // 2 - 2, MAX_VALUES // 2 - 1):
        add(f"{2 * count + 4} values in arrays of one", 2 * count + 4 <= MAX_VALUES, alert + ',"x":[', "[0],", count - 1,
            "[0]]}")
    body = '{"aps":{"alert":"'
    for count in (MAX_PAYLOAD - len(body) - 3, MAX_PAYLOAD - len(body) - 2):
        add(f"{count + len(body) + 3} bytes", count + len(body) + 3 <= MAX_PAYLOAD, body, "a", count, '"}}')
    for count in (MAX_PAYLOAD - len(alert) - 1, MAX_PAYLOAD - len(alert)):
        add(f"{count + len(alert) + 1} bytes with padding", count + len(alert) + 1 <= MAX_PAYLOAD, alert + "}", " ", count,
            "")
    return found


def main() -> None:
    content = {"blobs": valid_blobs(), "refused": refused_blobs(), "headers": headers(), "payloads": payloads()}
    annotate.printed("blobs-v1", content)


main()
