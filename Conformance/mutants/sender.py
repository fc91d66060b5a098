"""A small sender of the pushcrypt protocol: suite 1, signed, with and without a psk and day keys, written from docs/protocol.md over
`cryptography`.

It is here for its mutants: mutants.py changes one place of it, and the kit must find each change.
"""
from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import json
import math
import os
import re
import sys
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

INVISIBLE = re.compile(
    "[\0-\x20\x7f-\xa0\xad\u034f\u061c\u115f-\u1160\u1680\u17b4-\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000"
    "\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff" + "".join(chr(p << 16 | low) for p in range(17) for low in (0xFFFE, 0xFFFF)) + "]*")
TEXTS = ("title", "subtitle", "body", "loc-key", "title-loc-key")
ALERT_KEYS = (*TEXTS, "subtitle-loc-key", "loc-args", "title-loc-args", "subtitle-loc-args", "launch-image")


class Refused(Exception):
    """The request can't be sealed."""


def check(condition: object, failure: str) -> None:
    if not condition:
        raise Refused(failure)


# Section 2: strict JSON, and base64url that is canonical.
def strict(text: str) -> Any:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        check(len({name for name, _ in pairs}) == len(pairs), "twice")
        return dict(pairs)

    def levels(value: Any) -> int:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
        return 0 if inner is None else 1 + max(map(levels, inner), default=0)

    try:
        value = json.loads(text, object_pairs_hook=members, parse_constant=lambda name: check(False, name))
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # A lone surrogate has no bytes.
        check(levels(value) <= 64, "levels")
    except (ValueError, RecursionError):
        raise Refused("json") from None
    return value


def texts(text: str) -> dict[str, str]:
    """The text of each member's value in the text of an object, which is strict JSON."""
    decoder, found, at = json.JSONDecoder(), {}, text.index("{") + 1
    while text[(at := at + len(re.match("[ \t\r\n,]*", text[at:])[0]))] != "}":  # type: ignore[index]
        name, at = decoder.raw_decode(text, at)
        start = at + len(re.match("[ \t\r\n]*:[ \t\r\n]*", text[at:])[0])  # type: ignore[index]
        _, at = decoder.raw_decode(text, start)
        found[name] = text[start:at]
    return found


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unb64(text: Any, size: int) -> bytes:
    check(isinstance(text, str) and re.fullmatch("[A-Za-z0-9_-]+", text) and len(text) % 4 != 1, "base64url")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    check(b64(data) == text and len(data) == size, "base64url")
    return data


# Section 3: key records.
def lp16(text: str) -> bytes:
    return len(text.encode()).to_bytes(2, "big") + text.encode()


def checked(record: Any, members: dict[str, str], coordinates: tuple[str, ...]) -> str:
    check(isinstance(record, dict) and all(record.get(name) == value for name, value in members.items()), "members")
    thumbprint = {"crv": members["crv"], "kty": members["kty"], **{name: b64(unb64(record.get(name), 32)) for name in coordinates}}
    kid = b64(hashlib.sha256(json.dumps(thumbprint, separators=(",", ":")).encode()).digest()[:8])
    check(record.get("kid") == kid, "kid")
    return kid


def only(text: str) -> Any:
    """A record, or the one of a set of one."""
    record = strict(text)
    is_set = isinstance(record, dict) and isinstance(record.get("keys"), list) and len(record["keys"]) == 1 and "pushcrypt" not in record
    return record["keys"][0] if is_set else record


def recipient(record: Any) -> tuple[str, ec.EllipticCurvePublicKey, bytes]:
    kid = checked(record, {"kty": "EC", "crv": "P-256", "alg": "HPKE-7"}, ("x", "y"))
    check(not {"d", "priv", "device"} & set(record), "private")
    point = b"\x04" + unb64(record["x"], 32) + unb64(record["y"], 32)
    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    except ValueError:
        raise Refused("point") from None
    return kid, key, point


# Section 14: day keys.
def seconds(text: Any) -> int:
    parts = re.fullmatch(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d):(\d\d)(?:\.\d+)?([Zz]|[+-]\d\d:\d\d)", text) if isinstance(text, str) else None
    check(parts and parts[3] <= "60", "time")
    try:
        minute = datetime.datetime.fromisoformat(f"{parts[1]}T{parts[2]}:00{parts[4].upper().replace('Z', '+00:00')}")  # type: ignore[index]
    except ValueError:
        raise Refused("time") from None
    return int(minute.timestamp()) + int(parts[3])  # type: ignore[index]


def days_of(entry: Any, flight: int) -> tuple[int, int]:
    check(isinstance(entry, dict) and set(entry) == {"activatesAt", "retiresAt", "expiresAt", "psk"} and entry["psk"] is True, "entry")
    start, end, expiry = (seconds(entry[name]) for name in ("activatesAt", "retiresAt", "expiresAt"))
    check(start % 86_400 == 0 and end % 86_400 == 0 and 86_400 <= end - start <= 604_800 and expiry == end + flight + 600, "days")
    return start, end


def device_set(text: Any, kid: str, psk: bytes, at: int) -> tuple[Any, int]:
    """The day key for `at`, or None, and the flight."""
    check(psk and isinstance(text, str) and len(text.encode()) <= 32_768, "deviceSet")
    k_set = hmac.digest(hmac.digest(bytes(32), psk, "sha256"), b"pushcrypt/1 device set\x00" + lp16(kid) + b"\x01", "sha256")
    mac, content = unb64(text[:43], 32), text[44:]
    check(text[43:44] == "." and hmac.compare_digest(mac, hmac.digest(k_set, content.encode(), "sha256")), "mac")
    root = strict(content)
    member = root.get("pushcrypt") if isinstance(root, dict) else None
    check(isinstance(member, dict) and isinstance(member.get("keys"), dict) and isinstance(root.get("keys"), list), "set")
    jwks, times, flight = root["keys"], member["keys"], member.get("flight")  # type: ignore[index, union-attr]
    check(is_number(member.get("seq"), 0, 2**53 - 1, (int,)) and is_number(flight, 86_400, 604_800, (int,)), "seq, flight")  # type: ignore[union-attr]
    check(member.get("registration") == kid and 1 <= len(jwks) <= 16 and all(isinstance(jwk, dict) for jwk in jwks), "set")  # type: ignore[union-attr]
    keys = {jwk.get("kid"): jwk for jwk in jwks if unb64(jwk.get("kid"), 8)}
    check(len(keys) == len(jwks) and kid not in keys and set(keys) == set(times), "keys")
    days = sorted((*days_of(entry, flight), name) for name, entry in times.items())
    check(all(one[1] <= other[0] for one, other in zip(days, days[1:])), "two keys for one day")
    key = next((keys[name] for start, end, name in days if start <= at < end), None)
    check(key is None or not {"psk", "deviceSet"} & set(key), "secret")
    return key, flight


def signer(text: str) -> tuple[str, ed25519.Ed25519PrivateKey]:
    record = only(text)
    kid = checked(record, {"kty": "OKP", "crv": "Ed25519", "alg": "Ed25519"}, ("x",))
    check(not {"role", "psk", "priv", "device"} & set(record), "signer")
    key = ed25519.Ed25519PrivateKey.from_private_bytes(unb64(record.get("d"), 32))
    check(key.public_key().public_bytes_raw() == unb64(record["x"], 32), "signer")
    return kid, key


# HPKE (RFC 9180): DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.
def extract(suite: bytes, salt: bytes, label: bytes, ikm: bytes) -> bytes:
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + ikm, "sha256")


def expand(suite: bytes, prk: bytes, label: bytes, info: bytes, length: int) -> bytes:
    labeled_info = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return hmac.digest(prk, labeled_info + b"\x01", "sha256")[:length]  # RFC 5869: T(1), for at most 32 bytes


def hpke(key: ec.EllipticCurvePublicKey, point: bytes, psk: bytes, psk_id: bytes, info: bytes, plaintext: bytes) -> bytes:
    kem, suite = b"KEM\x00\x10", b"HPKE\x00\x10\x00\x01\x00\x02"
    ephemeral = ec.generate_private_key(ec.SECP256R1())
    enc = ephemeral.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    eae_prk = extract(kem, b"", b"eae_prk", ephemeral.exchange(ec.ECDH(), key))
    shared = expand(kem, eae_prk, b"shared_secret", enc + point, 32)
    mode = b"\x01" if psk else b"\x00"
    context = mode + extract(suite, b"", b"psk_id_hash", psk_id if psk else b"") + extract(suite, b"", b"info_hash", info)
    secret = extract(suite, shared, b"secret", psk)
    nonce = expand(suite, secret, b"base_nonce", context, 12)
    return enc + AESGCM(expand(suite, secret, b"key", context, 32)).encrypt(nonce, plaintext, b"")


# Section 2: the outer payload.
def has_text(alert: Any) -> bool:
    texts = [alert.get(name) for name in TEXTS] if isinstance(alert, dict) else [alert]
    return any(isinstance(text, str) and not INVISIBLE.fullmatch(text) for text in texts)


def is_number(value: Any, first: float = -math.inf, last: float = math.inf, kinds: tuple[type, ...] = (int, float)) -> bool:
    return type(value) in kinds and math.isfinite(value) and first <= value <= last


def is_exposable(name: str, value: Any) -> bool:
    if name == "sound" and isinstance(value, dict):
        return set(value) <= {"critical", "name", "volume"} and is_number(value.get("critical", 0), 0, 1, (int,)) \
            and isinstance(value.get("name", ""), str) and is_number(value.get("volume", 0), 0, 1)
    if name in ("category", "filter-criteria", "target-content-id", "thread-id", "sound"):
        return isinstance(value, str)
    known = {"badge": is_number(value, 0, 2**53 - 1, (int,)), "content-available": is_number(value, 1, 1, (int,)),
             "relevance-score": is_number(value), "interruption-level": value in ("passive", "active", "time-sensitive", "critical")}
    return known.get(name, isinstance(value, (str, bool)) or is_number(value))


def visible_aps(text: str, aps: dict[str, Any], placeholder: Any, names: list[str]) -> str:
    is_alert = isinstance(placeholder, dict) and set(placeholder) <= set(ALERT_KEYS) and has_text(placeholder)
    check(is_alert and len(names) <= 32, "placeholder")
    copies, outer = texts(texts(text)["aps"]), {"alert": json.dumps(placeholder, ensure_ascii=False), "mutable-content": "1"}
    if aps.get("sound") not in (None, "", {}):
        outer["sound"] = '"default"'
    if is_number(aps.get("content-available"), 1, 1, (int,)):
        outer["content-available"] = "1"
    for name in names:
        check(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) and name not in ("alert", "mutable-content"), "name")
        check(name in aps and is_exposable(name, aps[name]), "exposed")
        outer[name] = copies[name]
    return "{" + ",".join(f'"{name}":{value}' for name, value in outer.items()) + "}"


# Sections 4 and 5: the message, its signature and its padding.
def inner_aps(text: str) -> dict[str, Any]:
    root = strict(text)
    check(isinstance(root, dict) and "pushcrypt" not in root and isinstance(root.get("aps"), dict), "payload")
    aps: dict[str, Any] = root["aps"]
    of_activity = [aps.get(name) for name in ("content-state", "attributes", "attributes-type")]
    check(has_text(aps.get("alert")) and of_activity == [None] * 3 and aps.get("event") not in ("start", "update", "end"), "activity")
    return aps


def seal(request: dict[str, Any]) -> dict[str, Any]:
    at, limit, pad, record = request["at"], request.get("limit", 4_096), request.get("pad", 128), only(request["to"])
    kid, key, point = recipient(record)
    psk, day, longest, name = unb64(record["psk"], 32) if "psk" in record else b"", None, 2_592_000, hashlib.sha256(point).digest()
    if "deviceSet" in record:
        day, longest = device_set(record["deviceSet"], kid, psk, at)
        check(day or not request.get("requiresDayKey"), "noDayKey")
        kid, key, point = recipient(day) if day else (kid, key, point)
    lifetime = request.get("expires", longest)
    check(is_number(lifetime, 1, longest, (int,)) and at + lifetime < 2**53, "expires")
    check(is_number(limit, 1, 4_096, (int,)) and (pad in ("max", "none") or is_number(pad, 1, kinds=(int,))), "option")
    check(re.fullmatch("[A-Za-z0-9.-]{1,155}", request["topic"]), "topic")
    (skid, signing), text = signer(request["signWith"]), request["payload"]
    aps = visible_aps(text, inner_aps(text), request["placeholder"], request.get("expose", []))
    identifier, end = b64(os.urandom(16)), len(text.rstrip(" \t\r\n")[:-1].rstrip(" \t\r\n"))
    message = f'{text[:end]},"pushcrypt":{{"id":"{identifier}","iat":{at},"exp":{at + lifetime}}}{text[end:]}'.encode()
    head, tail = f'{{"aps":{aps},"pushcrypt":{{"v":1,"kid":"{kid}","sealed":"', f'","skid":"{skid}"}}}}'
    capacity = 3 * (limit - len((head + tail).encode())) // 4 - 65 - 16 - 64
    check(len(message) <= capacity, "tooLarge")
    size = capacity if pad == "max" else len(message) if pad == "none" else min(-(-len(message) // pad) * pad, capacity)
    message = message.ljust(size, b" ")
    info = b"pushcrypt/1\x00" + bytes([1, (1 if psk else 0) | 2]) + lp16(kid) + lp16(skid) + lp16(request["topic"])
    signature = signing.sign(b"pushcrypt/1 signature\x00" + info + name + message)
    sealed = hpke(key, point, psk, kid.encode(), info, signature + message)
    return {"ok": True, "payload": head + b64(sealed) + tail, "id": identifier, "expiresAt": at + lifetime,
            "usesLastResortKey": "deviceSet" in record and day is None}


if __name__ == "__main__":
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = seal(question) if question["op"] == "seal" and "signWith" in question else {"unsupported": "other than signed pushes"}
        except Refused as refused:
            answer = {"failure": str(refused)}
        print(json.dumps({"tag": question["tag"], **answer}), flush=True)
