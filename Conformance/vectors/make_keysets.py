"""Writes keysets-v1.json with the Python package: key records, registration records, device keys and key sets.

Run with an interpreter that has the package of Senders/python: python make_keysets.py > keysets-v1.json
Nothing in it is random: every run makes the same file.
"""
from __future__ import annotations

import json
import os
import sys
from typing import Any, Optional

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tests", "Interop", "python"))
sys.dont_write_bytecode = True

import annotate  # noqa: E402
import support  # noqa: E402
from make_pushcrypt_v1 import KEYS, XWING_KEYS, made  # noqa: E402
from pushcrypt import Keyset, PushCryptError  # noqa: E402
from pushcrypt._json import b64, unb64  # noqa: E402
from pushcrypt._keys import Key, key_id  # noqa: E402
from pushcrypt._points import ORDER_8_Y  # noqa: E402
from pushcrypt._times import seconds  # noqa: E402
from pushcrypt.keysets import MOMENTS  # noqa: E402
from pushcrypt.sealer import campaign_id  # noqa: E402

KEYS.update(XWING_KEYS)
P25519, P256 = 2**255 - 19, 2**256 - 2**224 + 2**192 + 2**96 - 1
P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551
ALWAYS = {"activatesAt": "2026-01-01T00:00:00Z"}


class Vectors:
    """Collects texts, each checked against the package."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, use: str, name: str, text: Any, failure: Optional[str] = None) -> None:
        text = text if isinstance(text, str) else json.dumps(text)
        name = name if use == "keyset" else f"{name}, as {use}"
        entry = {"name": name, "as": use, "failure": failure, "text": text}
        try:
            entry["kids"] = support.READERS[use](text.encode())
            assert failure is None, name
        except PushCryptError as refusal:
            assert refusal.code == failure, (name, refusal)
        self.found.append(entry)


def with_kid(record: dict[str, Any], kind: str, public: bytes) -> dict[str, Any]:
    """The record of another public key, with the kid that belongs to it."""
    return {**record, **Key(kind, key_id(kind, public), public).record()}


def add_records(vectors: Vectors, name: str) -> None:
    """One key: every member missing, of another type, changed, too short, too long, and twice."""
    key = KEYS[name]
    record = key.record()
    vectors.add("keyset", f"{name}: private", record)
    if key.kind != "oct":
        vectors.add("keyset", f"{name}: public", key.record(private=False))
    vectors.add("keyset", f"{name}: with members that nobody knows", {**record, "use": "enc", "more": [1]})
    add = lambda what, text, failure: vectors.add("keyset", f"{name}: {what}", text, failure)
    secrets = [member for member in ("x", "y", "pub", "d", "priv", "k", "psk") if member in record]
    for member in record:
        kind_of_key = {"kty": "malformed", "crv": "unsupportedKey", "alg": "unsupportedKey"}
        failure = kind_of_key.get(member, "malformed")
        if member not in ("d", "priv", "psk", "device"):
            add(f"{member} missing", {k: v for k, v in record.items() if k != member}, failure)
        for what, value in (("null", None), ("a number", 1), ("an array", [record[member]])):
            add(f"{member} is {what}", {**record, member: value}, failure)
        text = json.dumps(record)
        add(f"{member} twice", text[:-1] + f', "{member}": {json.dumps(record[member])}}}', "malformed")
    for member in secrets:
        value = unb64(record[member])
        for what, changed in ((f"of {len(value) - 1} bytes", b64(value[:-1])), (f"of {len(value) + 1} bytes", b64(value + b"\0")),
                              ("empty", ""), ("padded", record[member] + "="),
                              ("with trailing bits", b64(bytes(len(value)))[:-1] + "B"),
                              ("in base64's alphabet", "+" + record[member][1:]), ("with white space", " " + record[member])):
            add(f"{member} {what}", {**record, member: changed}, "malformed")
    for what, kid in (("too short", key.kid[:-1]), ("too long", key.kid + "A"), ("padded", key.kid + "="), ("empty", ""),
                      ("with trailing bits", key.kid[:-1] + "B")):
        add(f"kid {what}", {**record, "kid": kid}, "malformed")
    if key.device is None:
        add("kid of another key", {**record, "kid": "AAAAAAAAAAA"}, "kidMismatch")
    add("alg of another kind", {**record, "alg": "HPKE-0"}, "unsupportedKey")
    add("kty unknown", {**record, "kty": "RSA"}, "unsupportedKey")
    for member in ("kty", "alg"):
        # Canonically equivalent in Unicode, but other bytes.
        if "K" in record[member]:
            add(f"{member} with U+212A KELVIN SIGN", {**record, member: record[member].replace("K", "\u212a")}, "unsupportedKey")
    if key.kind in ("oct", "ed25519"):
        add("psk added", {**record, "psk": b64(bytes(32))}, "malformed")
    if key.kind == "oct":
        add("crv added, which such a key doesn't have", {**record, "crv": "P-256"}, None)
    elif key.kind == "xwing":
        add("device added", {**record, "device": "a"}, "malformed")
        add("crv added, which such a key doesn't have", {**record, "crv": "P-256"}, None)
        add("priv of another key", {**record, "priv": b64(made("xwing", "another").secret)}, "invalidKey")
    else:
        add("device added", {**record, "device": "a"}, "malformed")
        add("crv unknown", {**record, "crv": "P-384"}, "unsupportedKey")
        add("d of another key", {**record, "d": b64(made(key.kind, "another").secret)}, "invalidKey")
    for what, text in (("cut short", text[:-1]), ("with bytes behind it", text + "x"), ("an array", f"[{text}]"), ("empty", "")):
        add(what, text, "malformed")


def add_points(vectors: Vectors) -> None:
    """Public keys that aren't, each with the kid that belongs to it."""
    def le(number: int) -> bytes:
        return number.to_bytes(32, "little")

    p256, x25519, sender = KEYS["p256"], KEYS["x25519"], KEYS["sender"]
    x, y = p256.public[1:33], p256.public[33:]
    points = [("p256", "off the curve", b"\x04" + x + y[:-1] + bytes([y[-1] ^ 1])), ("p256", "of zeros", b"\x04" + bytes(64)),
              ("p256", "with x above the field", b"\x04" + (P256 + 5).to_bytes(32, "big") + y)]
    points += [("x25519", f"with x = {name}", le(number)) for name, number in (
        ("0", 0), ("1", 1), ("p - 1", P25519 - 1), ("p", P25519), ("p + 1", P25519 + 1), ("2^255 - 1", 2**255 - 1),
        ("2^255 + 9", 2**255 + 9), ("a point of order 8", 325606250916557431795983626356110631294008115727848805560023387167927233504))]
    points += [("ed25519", f"with y = {name}", le(number)) for name, number in (
        ("0", 0), ("1", 1), ("1 and the sign", 1 | 1 << 255), ("p - 1", P25519 - 1), ("p", P25519), ("p + 1", P25519 + 1),
        ("that of order 8", ORDER_8_Y))]
    xwing = KEYS["xwing"]
    points += [("xwing", f"with x = {name}", xwing.public[:-32] + le(number)) for name, number in (
        ("0", 0), ("p - 1", P25519 - 1), ("p", P25519), ("2^255 + 9", 2**255 + 9))]
    points += [("xwing", f"with the coefficient {number}", number.to_bytes(2, "little") + xwing.public[2:]) for number in (3329, 4095)]
    for kind, what, public in points:
        base = {"p256": p256, "x25519": x25519, "ed25519": sender, "xwing": xwing}[kind].record(private=False)
        vectors.add("keyset", f"{kind}: a point {what}", with_kid(base, kind, public), "invalidKey")
    for what, d in (("of zeros", 0), ("the group's order", P256_ORDER), ("2^256 - 1", 2**256 - 1)):
        vectors.add("keyset", f"p256: d is {what}", {**p256.record(), "d": b64(d.to_bytes(32, "big"))}, "invalidKey")


def add_uploads(vectors: Vectors) -> None:
    """What an app registers, or is handed: read by the sender."""
    for name in ("p256", "p256 psk", "x25519", "x25519 psk", "xwing", "xwing psk"):
        public = KEYS[name].record(private=False)
        vectors.add("recipient", f"{name}: registration record", public)
        vectors.add("recipient", f"{name}: private record", KEYS[name].record(), "wrongKind")
        vectors.add("recipient", f"{name}: set of one", {"keys": [public]})
        vectors.add("recipient", f"{name}: psk of 31 bytes", {**public, "psk": b64(bytes(31))}, "malformed")
    demanding = {"seq": 1, "keys": {KEYS["p256"].kid: {**ALWAYS, "psk": True}}}
    vectors.add("recipient", "p256: the set demands a psk that isn't there",
                {"keys": [KEYS["p256"].record(private=False)], "pushcrypt": demanding}, "pskMissing")
    for name in ("shared", "device"):
        vectors.add("recipient", f"{name}: record", KEYS[name].record())
    device = KEYS["device"].record()
    for what, value, failure in (
        ("of 64 characters", "a" * 64, None), ("of 65 characters", "a" * 65, "invalidDeviceID"), ("empty", "", "invalidDeviceID"),
        ("with a space", "a b", "invalidDeviceID"), ("with a dot", "a.b", "invalidDeviceID"), ("with a slash", "a/b", "invalidDeviceID"),
        ("with an accent", "\u00e9", "invalidDeviceID"), ("with a line break", "a\n", "invalidDeviceID"), ("a number", 1, "malformed"),
    ):
        vectors.add("recipient", f"device: device {what}", {**device, "device": value}, failure)
    vectors.add("recipient", "device: kid of another master", {**device, "kid": KEYS["other shared"].kid})
    vectors.add("recipient", "sender: record", KEYS["sender"].record(private=False), "wrongKind")
    for use, name, private, failure in (
        ("signer", "sender", True, None), ("signer", "sender", False, "wrongKind"), ("signer", "p256", True, "wrongKind"),
        ("signer", "shared", True, "wrongKind"), ("senders", "sender", False, None), ("senders", "p256", False, "wrongKind"),
        ("senders", "shared", True, "wrongKind"),
    ):
        vectors.add(use, f"{name}: {'private' if private else 'public'}", KEYS[name].record(private=private), failure)
    for use, name in (("recipient", "p256"), ("recipient", "xwing"), ("recipient", "shared"), ("signer", "sender")):
        for what, times, failure in (
            ("with activatesAt", ALWAYS, None), ("with destroyedAt", {**ALWAYS, "destroyedAt": "2026-02-01T00:00:00Z"}, "noKeySeals"),
            ("with destroyedAt in the year 9999", {**ALWAYS, "destroyedAt": "9999-01-01T00:00:00Z"}, "noKeySeals"),
            ("without activatesAt", {}, "noKeySeals"), ("with createdAt alone", {"createdAt": ALWAYS["activatesAt"]}, "noKeySeals"),
            ("with activatesAt in the year 9999", {"activatesAt": "9999-01-01T00:00:00Z"}, "noKeySeals"),
        ):
            one = {"keys": [KEYS[name].record(private=use == "signer")], "pushcrypt": {"seq": 1, "keys": {KEYS[name].kid: times}}}
            vectors.add(use, f"{name}: set of one {what}", one, failure)


def add_sets(vectors: Vectors) -> None:
    """Sets: the `pushcrypt` member, times, and what doesn't go together."""
    def entries(*names: str, private: bool = False) -> list[dict[str, Any]]:
        return [KEYS[name].record(private=private) for name in names]

    def a_set(names: tuple[str, ...] = ("sender", "other sender"), private: bool = False, lives: Any = None, **members: Any) -> Any:
        times = {KEYS[name].kid: ALWAYS for name in names} if lives is None else lives
        member = {k: v for k, v in {"seq": 7, "keys": times, **members}.items() if v is not ...}
        return {"keys": entries(*names, private=private), "pushcrypt": member}

    add = lambda name, text, failure=None: vectors.add("keyset", f"set: {name}", text, failure)
    kid = KEYS["sender"].kid
    for what, names in (("recipients", ("p256", "p256 psk", "x25519", "x25519 psk")), ("recipients of suites 1 and 3", ("p256", "xwing")), ("senders", ("sender", "other sender")),
                        ("shared keys", ("shared", "other shared"))):
        add(f"{what}, public", a_set(names))
        add(f"{what}, private", a_set(names, private=True))
    add("with updatedAt", a_set(updatedAt="2026-02-01T00:00:00Z"))
    add("with members that nobody knows", {**a_set(more=[1]), "more": None})
    add("lives of further keys", a_set(lives={kid: ALWAYS, KEYS["other sender"].kid: ALWAYS, "AAAAAAAAAAA": ALWAYS}))
    add("of one without pushcrypt", {"keys": entries("sender")})
    add("of two without pushcrypt", {"keys": entries("sender", "other sender")}, "malformed")
    add("empty", {"keys": [], "pushcrypt": {"seq": 1, "keys": {}}}, "malformed")
    add("empty without pushcrypt", {"keys": []}, "malformed")
    add("two kinds", a_set(("p256", "sender")), "wrongKind")
    add("a key twice", a_set(("sender", "sender")), "duplicateKey")
    add("two devices of a master", a_set(("device", "other device")), "duplicateKey")
    for what, value in (("null", None), ("an object", {}), ("a string", "x")):
        add(f"keys is {what}", {**a_set(), "keys": value}, "malformed")
    for what, value in (("null", None), ("a string", "x"), ("an array", [])):
        add(f"a key is {what}", {**a_set(), "keys": entries("sender") + [value]}, "malformed")
        add(f"pushcrypt is {what}", {**a_set(), "pushcrypt": value}, "malformed")
        add(f"pushcrypt.keys is {what}", a_set(keys=value), "malformed")
        add(f"a key's times are {what}", a_set(("sender",), lives={kid: value}), "malformed")
    for what, value in (("missing", ...), ("null", None), ("a string", "7"), ("negative", -1), ("a fraction", 7.5), ("2^53", 2**53),
                        ("true", True)):
        add(f"seq {what}", a_set(seq=value), "malformed")
    for value in (0, 2**53 - 1):
        add(f"seq {value}", a_set(seq=value))
    add("pushcrypt.keys missing", a_set(keys=...), "malformed")
    add("a key without times", a_set(lives={kid: ALWAYS}), "malformed")
    text = json.dumps(a_set())
    add("keys twice", text[:-1] + ', "keys": []}', "malformed")
    add("seq twice", text.replace('"seq": 7', '"seq": 7, "seq": 8'), "malformed")
    add("a key's times twice", text.replace(f'"{kid}": {{', f'"{kid}": {{}}, "{kid}": {{'), "malformed")
    for moment in MOMENTS:
        for what, value, failure in (
            ("in UTC", "2026-03-01T09:00:00Z", None), ("with an offset", "2026-03-01T09:00:00.5+02:00", None),
            ("without an offset", "2026-03-01T09:00:00", "malformed"), ("a date", "2026-03-01", "malformed"),
            ("on 29 February 2026", "2026-02-29T09:00:00Z", "malformed"), ("at 24:00", "2026-03-01T24:00:00Z", "malformed"),
            ("empty", "", "malformed"), ("a number", 1772355600, "malformed"), ("null", None, "malformed"),
            ("in the year 0", "0000-02-29T09:00:00Z", None), ("before the year 0", "0000-01-01T00:00:00+00:01", "malformed"),
            ("after the year 9999", "9999-12-31T23:59:60Z", "malformed"),
        ):
            add(f"{moment} {what}", a_set(("sender",), lives={kid: {**ALWAYS, moment: value}}), failure)
        twice = json.dumps(a_set(("sender",), lives={kid: {moment: "2026-03-01T09:00:00Z"}}))
        add(f"{moment} twice", twice.replace(f'"{moment}"', f'"{moment}": "2026-03-01T09:00:00Z", "{moment}"'), "malformed")
    add("updatedAt a number", a_set(updatedAt=1), "malformed")
    for what, value, failure in (("true", True, None), ("false", False, "malformed"), ("null", None, "malformed"), ("1", 1, "malformed")):
        add(f"psk {what}", a_set(("p256",), lives={KEYS["p256"].kid: {**ALWAYS, "psk": value}}), failure)
    for name in ("sender", "shared"):
        add(f"psk true of {name}", a_set((name,), lives={KEYS[name].kid: {**ALWAYS, "psk": True}}), "malformed")
    add("encrypted at rest", {"sealed": {}, "pushcrypt": {"seq": 1, "keys": {}}}, "malformed")


def states() -> list[dict[str, Any]]:
    """Which key seals and which open, by the clock."""
    found = []
    first, second = KEYS["sender"].kid, KEYS["other sender"].kid
    jan, feb, mar, apr = (f"2026-0{month}-01T00:00:00Z" for month in (1, 2, 3, 4))
    rotated = {first: {"createdAt": jan, "activatesAt": jan, "retiresAt": feb, "expiresAt": apr},
               second: {"createdAt": jan, "activatesAt": feb}}
    cases: list[tuple[str, Any, Optional[str]]] = [
        ("rotated", rotated, None), ("rotated, written in March", rotated, mar),
        ("revoked in March", {first: {**rotated[first], "revokedAt": mar}, second: {**rotated[second], "revokedAt": mar}}, None),
        ("not activated", {first: {"createdAt": jan}, second: {"createdAt": jan}}, None),
        ("the same activatesAt", {first: {"createdAt": jan, "activatesAt": mar}, second: {"createdAt": feb, "activatesAt": mar}}, None),
        ("the same activatesAt, no createdAt", {first: {"activatesAt": mar}, second: {"activatesAt": mar}}, None),
        ("destroyed", {first: {"activatesAt": jan, "destroyedAt": mar}, second: {"activatesAt": jan}}, None),
        ("expired without retiring", {first: {"activatesAt": jan, "expiresAt": mar}, second: {"activatesAt": apr}}, None),
    ]
    for name, lives, updated in cases:
        member = {"seq": 1, **({"updatedAt": updated} if updated else {}), "keys": lives}
        text = json.dumps({"keys": [KEYS[key].record(private=False) for key in ("sender", "other sender")], "pushcrypt": member})
        keyset = Keyset.from_json(text)
        for time in (jan, feb, mar, apr):
            for at in (seconds(time, "time") - 1, seconds(time, "time")):
                primary = keyset.primary(at)
                found.append({"name": f"{name}, {time}{' - 1' if at % 86_400 else ''}", "text": text, "at": at,
                              "primary": primary and primary.key.kid, "states": keyset.states(at)})
    return found


def campaigns() -> list[dict[str, str]]:
    """Message ids of campaigns (protocol section 5): by the name of a key in pushcrypt-v1.json or xwing-keys.json."""
    return [{"campaign": campaign, "key": name, "id": b64(campaign_id(campaign, KEYS[name]))}
            for campaign in ("x", "spring sale", "Fr\u00fchling", "n" * 255)
            for name in ("p256", "p256 psk", "x25519", "x25519 psk", "shared", "device", "xwing", "xwing psk")]


def main() -> None:
    vectors = Vectors()
    for name in ("p256", "p256 psk", "x25519", "x25519 psk", "shared", "device", "sender", "xwing psk"):
        add_records(vectors, name)
    for add in (add_points, add_uploads, add_sets):
        add(vectors)
    annotate.printed("keysets-v1", {"vectors": vectors.found, "states": states(), "campaigns": campaigns()})


if __name__ == "__main__":
    main()
