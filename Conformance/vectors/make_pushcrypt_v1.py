"""Writes pushcrypt-v1.json with the Python package: keys, payloads that open, and payloads that are refused.

Run with an interpreter that has the package of Senders/python: python make_pushcrypt_v1.py > pushcrypt-v1.json
Every run draws new salts and ephemeral keys, so the file differs; the one in the repository was made once.
"""
from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
from typing import Any, Optional

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tests", "Interop", "python"))
sys.dont_write_bytecode = True

import annotate  # noqa: E402
import support  # noqa: E402
from pushcrypt import PushCryptError, _envelope  # noqa: E402
from pushcrypt._json import b64, unb64  # noqa: E402
from pushcrypt._keys import Key, device_key, key_id, load_key  # noqa: E402
from pushcrypt._points import public_of  # noqa: E402

TOPIC, AT, DAY = "com.example.app", 1_800_000_000, 86_400
INNER = '{ "aps" : {"alert":{"title":"Zoë \\u00e9 \U0001f600","body":"Build 1.10 is ready"}, "badge": 1.50e0 ,' \
        '"sound":"chime.caf"},\t"x":[1, 9007199254740993, {"y":null}]\n}'
PLACEHOLDER = {"title": "New message"}
DEVICE = "phone-1_A"


def made(kind: str, label: str, psk: bool = False) -> Key:
    """A key from SHA-256 of its label (P-256: taken as it is, which is in 1..<n for these labels)."""
    def material(part: str) -> bytes:
        return hashlib.sha256(f"pushcrypt test key: {label}{part}".encode()).digest()
    secret = material("")
    public = b"" if kind == "oct" else public_of(kind, secret)
    return Key(kind, key_id(kind, public, secret), public, secret, material(" psk") if psk else None)


KEYS = {
    "p256": made("p256", "p256"), "p256 psk": made("p256", "p256 psk", True),
    "x25519": made("x25519", "x25519"), "x25519 psk": made("x25519", "x25519 psk", True),
    "shared": made("oct", "shared"), "sender": made("ed25519", "sender"),
    "other p256": made("p256", "other p256"), "other x25519": made("x25519", "other x25519"),
    "other shared": made("oct", "other shared"), "other sender": made("ed25519", "other sender"),
}
KEYS["device"] = device_key(KEYS["shared"], DEVICE)
KEYS["other device"] = device_key(KEYS["shared"], "tablet-2")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "xwing-keys.json"), encoding="utf-8") as xwing_file:
    XWING_FILE = json.load(xwing_file)
#: The keys of suite 3, which aren't in pushcrypt-v1.json, and for each public key an `enc` that was made for it once.
XWING_KEYS = {**{name: load_key(record) for name, record in XWING_FILE["keys"].items()}, "other xwing": made("xwing", "other xwing")}
XWING_ENCS = {XWING_KEYS[name].public: unb64(enc) for name, enc in XWING_FILE["enc"].items()}
RECIPIENTS = ("p256", "p256 psk", "x25519", "x25519 psk", "shared", "device")


def sealed(to: Key, signer: Optional[Key] = None, inner: str = INNER, **options: Any) -> bytes:
    return support.seal(to, TOPIC, inner, PLACEHOLDER, AT, sign_with=signer, **options)


def plain(to: Key, message: bytes, signer: Optional[Key] = None, context_of: Optional[Key] = None) -> bytes:
    """An outer payload around any message whatever; its signature names `context_of`, by default the recipient."""
    info = _envelope.context(to, signer.kid if signer else None, TOPIC)
    if signer is not None:
        message = signer.sign(_envelope.signed_bytes(context_of or to, info, message)) + message
    skid = f',"skid":"{signer.kid}"' if signer is not None else ""
    return (f'{{"aps":{{"alert":{json.dumps(PLACEHOLDER)},"mutable-content":1}},"pushcrypt":{{"v":1,"kid":"{to.kid}",'
            f'"sealed":"{b64(_envelope.encrypt(to, info, message))}"{skid}}}}}').encode()


def valid_payloads() -> list[dict[str, Any]]:
    found = []
    for name in RECIPIENTS:
        for signer in (None, KEYS["sender"]):
            payload = sealed(KEYS[name], signer)
            opened = support.open_payload(payload, [KEYS[name]], TOPIC, AT, [signer] if signer else None)
            assert opened.json == INNER
            found.append({
                "name": f"{name}, {'signed' if signer else 'unsigned'}", "key": name,
                "trust": ["sender"] if signer else None, "at": AT, "payload": payload.decode(), "id": opened.id,
                "iat": opened.issued_at, "exp": opened.expires_at})
    return found


class Refused:
    """Collects payloads with the class that they must fail with, checked against the package."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, name: str, failure: str, payload: bytes, key: str = "p256", trust: Optional[list[str]] = None,
            topic: str = TOPIC, at: int = AT) -> None:
        try:
            support.open_payload(payload, [KEYS[key]], topic, at, None if trust is None else [KEYS[t] for t in trust])
        except PushCryptError as refusal:
            assert refusal.code == failure, (name, refusal)
        else:
            raise AssertionError(name)
        self.found.append({"name": name, "failure": failure, "key": key, "trust": trust, "topic": topic, "at": at,
                           "payload": payload.decode()})


def change(payload: bytes, aps: Any = (), **members: Any) -> bytes:
    """The payload with members of `pushcrypt` (None: removed) and of `aps` replaced."""
    outer = json.loads(payload)
    for name, value in members.items():
        outer["pushcrypt"][name] = value
        if value is None:
            del outer["pushcrypt"][name]
    outer["aps"].update(aps)
    return json.dumps(outer, separators=(",", ":"), ensure_ascii=False).encode()


def refuse_outer(refused: Refused) -> None:
    payload = sealed(KEYS["p256"], inner='{"aps":{"alert":"x"}}', pad="none")
    field = json.loads(payload)["pushcrypt"]
    kid, body = field["kid"], field["sealed"]
    add = refused.add
    add("no pushcrypt member", "notSealed", b'{"aps":{"alert":"x","mutable-content":1}}')
    for name, changed in (
        ("cut short", payload[:-1]), ("bytes behind the end", payload + b"x"),
        ("byte order mark", b"\xef\xbb\xbf" + payload), ("an array", b"[" + payload + b"]"),
        ("duplicate kid", payload.replace(b'"kid":', b'"kid":"AAAAAAAAAAA","kid":')),
        ("duplicate aps, escaped", payload[:-1] + b',"\\u0061ps":{}}'),
        ("lone surrogate", payload[:-1] + b',"x":"\\ud800"}'),
        ("too deep", payload[:-1] + b',"x":' + b"[" * 64 + b"]" * 64 + b"}"),
        ("v missing", change(payload, v=None)), ("v 1.0", payload.replace(b'"v":1', b'"v":1.0')),
        ("v true", change(payload, v=True)), ("v in quotes", change(payload, v="1")),
        ("v -1", change(payload, v=-1)), ("v 2^53", change(payload, v=2**53)),
        ("kid missing", change(payload, kid=None)), ("kid null", payload.replace(f'"{kid}"'.encode(), b"null")),
        ("kid of 10 characters", change(payload, kid=kid[:10])),
        ("kid with trailing bits", change(payload, kid=kid[:10] + "B")),
        ("sealed missing", change(payload, sealed=None)), ("sealed empty", change(payload, sealed="")),
        ("sealed padded", change(payload, sealed=b64(unb64(body) + b"\0" * (-len(unb64(body)) % 3 + 1)) + "==")),
        ("sealed in base64", change(payload, sealed=body[:-1] + "+")),
        ("sealed with trailing bits", change(payload, sealed=b64(unb64(body)[:16])[:-1] + "B")),
        ("skid null", payload[:-2] + b',"skid":null}}'), ("skid empty", change(payload, skid="")),
        ("aps missing", payload.replace(b'"aps":', b'"apx":')), ("alert empty", change(payload, {"alert": ""})),
        ("alert without text", change(payload, {"alert": {"title": "", "sound": "x"}})),
        ("mutable-content true", change(payload, {"mutable-content": True})),
        ("mutable-content 0", change(payload, {"mutable-content": 0})),
    ):
        add(name, "malformed", changed)
    add("v 0", "unsupportedVersion", change(payload, v=0))
    add("v 2", "unsupportedVersion", change(payload, v=2, kid=None))
    add("another kid", "unknownKey", change(payload, kid=KEYS["other p256"].kid))
    add("one byte sealed", "undecryptable", change(payload, sealed="AA"))
    add("another topic", "undecryptable", payload, topic="com.example.app.other")


def refuse_sealed(refused: Refused) -> None:
    short, pins = '{"aps":{"alert":"x"}}', ["sender"]
    forger = dataclasses.replace(KEYS["sender"], secret=KEYS["other sender"].secret)
    for name in ("p256", "x25519", "shared"):
        payload = sealed(KEYS[name], inner=short, pad="none")
        body = unb64(json.loads(payload)["pushcrypt"]["sealed"])
        for what, changed in (
            ("first bit of enc or salt", bytes([body[0] ^ 1]) + body[1:]),
            ("one bit in the middle", body[:90] + bytes([body[90] ^ 0x10]) + body[91:]),
            ("last bit of the tag", body[:-1] + bytes([body[-1] ^ 1])),
            ("cut short", body[:-1]), ("extended", body + b"\0"),
        ):
            refused.add(f"{name}: {what}", "undecryptable", change(payload, sealed=b64(changed)), name)
        refused.add(f"{name}: unsigned, senders pinned", "undecryptable", payload, name, pins)
        refused.add(f"{name}: skid added", "undecryptable", change(payload, skid=forger.kid), name, pins)
        signed = sealed(KEYS[name], KEYS["sender"], inner=short, pad="none")
        refused.add(f"{name}: skid taken away", "undecryptable", change(signed, skid=None), name)
        refused.add(f"{name}: skid, no senders pinned", "unknownKey", signed, name)
        refused.add(f"{name}: skid of a sender that isn't pinned", "unknownKey", signed, name, ["other sender"])
        forged = sealed(KEYS[name], forger, inner=short, pad="none")
        refused.add(f"{name}: another sender's signature", "undecryptable", forged, name, pins)
    refused.add("kid of a key of another suite", "undecryptable",
                change(sealed(KEYS["p256"], inner=short), kid=KEYS["x25519"].kid), "x25519")
    without = dataclasses.replace(KEYS["p256 psk"], psk=None)
    refused.add("sealed without the psk", "undecryptable", sealed(without, inner=short), "p256 psk")
    refused.add("x25519: enc of small order", "undecryptable",
                change(sealed(KEYS["x25519"], inner=short), sealed=b64(bytes(32) + bytes(60))), "x25519")
    for name in ("shared", "other device"):
        payload = sealed(KEYS[name], inner=short, pad="none")
        refused.add(f"sealed to {name}, opened by a device", "undecryptable", payload, "device")
    message = b'{"aps":{"alert":"x"},"pushcrypt":{"id":"AAAAAAAAAAAAAAAAAAAAAA","iat":%d,"exp":%d}}' % (AT, AT + DAY)
    refused.add("signed for another device, sealed again by a thief of the master", "undecryptable",
                plain(KEYS["device"], message, KEYS["sender"], KEYS["other device"]), "device", ["sender"])


def refuse_message(refused: Refused) -> None:
    key = KEYS["shared"]

    def add(name: str, message: str, failure: str = "malformed", at: int = AT) -> None:
        refused.add(f"inside: {name}", failure, plain(key, message.encode()), "shared", at=at)

    def header(iat: Any = AT, exp: Any = AT + DAY, id: str = '"AAAAAAAAAAAAAAAAAAAAAA"') -> str:
        return f'{{"aps":{{"alert":"x"}},"pushcrypt":{{"id":{id},"iat":{iat},"exp":{exp}}}}}'

    for name, message in (
        ("empty", ""), ("spaces", "   "), ("array", "[]"), ("no header", '{"aps":{"alert":"x"}}'),
        ("duplicate name", header()[:-1] + ',"\\u0061ps":1}'), ("bytes behind the end", header() + "\0"),
        ("no alert", header().replace('"alert"', '"badge"')), ("empty alert", header().replace('"x"', '{"title":""}')),
        ("no id", header().replace('"id"', '"jd"')), ("id of 15 bytes", header(id='"AAAAAAAAAAAAAAAAAAAA"')),
        ("id with trailing bits", header(id='"AAAAAAAAAAAAAAAAAAAAAB"')), ("id null", header(id="null")),
        ("iat true", header(iat="true")), ("iat 1.0", header(iat=f"{AT}.0")), ("iat in quotes", header(iat=f'"{AT}"')),
        ("iat with exponent", header(iat="18e8")), ("exp missing", header().replace('"exp"', '"fxp"')),
        ("exp = iat", header(exp=AT)), ("exp past the window", header(exp=AT + 30 * DAY + 1)),
        ("exp 2^53", header(iat=2**53 - 1, exp=2**53)),
    ):
        add(name, message)
    add("exp is now", header(iat=AT - 60, exp=AT), "expired")
    add("expired yesterday", header(), "expired", AT + 2 * DAY)
    add("601 seconds ahead", header(iat=AT + 601), "notYetValid")


def main() -> None:
    refused = Refused()
    refuse_outer(refused)
    refuse_sealed(refused)
    refuse_message(refused)
    known = _envelope.context(KEYS["p256 psk"], KEYS["sender"].kid, TOPIC)
    annotate.printed("pushcrypt-v1", {
        "topic": TOPIC, "inner": INNER, "device": DEVICE, "keys": {name: key.record() for name, key in KEYS.items()},
        "contextInfo": {"key": "p256 psk", "signer": "sender", "hex": known.hex()},
        "opened": valid_payloads(), "refused": refused.found,
    }, ensure_ascii=False)


if __name__ == "__main__":
    main()
