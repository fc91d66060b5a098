"""pushcrypt protocol, version 1: an independent reference written from the protocol page alone, for interop tests.

It covers suites 1, 2 and 4, device keys, and the profiles base, psk, signed and both. blobs.py has blobs and the
references to them. It keeps no state: it has no replay protection, no memory of the time, and no key rotation.
"""
from __future__ import annotations

import hashlib
import json
import math
import os
import re
from dataclasses import dataclass, field as dataclass_field
from typing import Any, Iterable, Optional, Union

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, hmac, hpke
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, KEMKey, PyHPKEError

from blobs import MAX_OFFLOAD, check_extras, extras_text, has_instructions
from strict_json import Obj, Refusal, b64, is_integer, parse, parse_payload, unb64

WINDOW = 30 * 24 * 3600  # seconds from iat to the latest exp
AHEAD = 600  # seconds that iat may be ahead of the recipient's clock
MAX_LIMIT = 4096  # bytes of the outer payload
TAG_SIZE, SIGNATURE_SIZE = 16, 64

# --- Key records -----------------------------------------------------------------------------------------------------
# JWK. kid = base64url of the first 8 bytes of the RFC 7638 SHA-256 thumbprint of the (public) key.

_KINDS = {  # kind: (kty, crv, alg, suite)
    "p256": ("EC", "P-256", "HPKE-7", 1),
    "x25519": ("OKP", "X25519", "HPKE-3", 2),
    "oct": ("oct", None, "HKDF-A256GCM", 4),
    "ed25519": ("OKP", "Ed25519", "Ed25519", 0),
}
_P25519 = 2**255 - 19
_D25519 = -121665 * pow(121666, -1, _P25519) % _P25519
_ORDER8_Y = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
_DEVICE_ID = re.compile("[A-Za-z0-9_-]{1,64}")
_TOPIC = re.compile("[A-Za-z0-9.-]{1,155}")


@dataclass(frozen=True)
class Key:
    """One imported key record. `public` is the serialised public key (for oct: empty), `secret` is d or k."""

    kind: str
    kid: str
    public: bytes
    secret: Optional[bytes] = None
    psk: Optional[bytes] = None
    device: Optional[str] = None
    role: Optional[str] = None  # "publisher": an Ed25519 key that signs sender sets, not messages

    @property
    def suite(self) -> int:
        return _KINDS[self.kind][3]

    def record(self, private: bool = True) -> dict[str, str]:
        """The JWK. If `private` is False, without `d` (an oct record has no public form and keeps `k`)."""
        jwk = _required_members(self.kind, self.public, self.secret)
        jwk.update(alg=_KINDS[self.kind][2], kid=self.kid)
        if private and self.kind != "oct" and self.secret is not None:
            jwk["d"] = b64(self.secret)
        if self.psk is not None:
            jwk["psk"] = b64(self.psk)
        if self.device is not None:
            jwk["device"] = self.device
        if self.role is not None:
            jwk["role"] = self.role
        return jwk


def _required_members(kind: str, public: bytes, secret: Optional[bytes]) -> dict[str, str]:
    """The members in the thumbprint (RFC 7638, RFC 8037), in canonical form."""
    kty, crv, _, _ = _KINDS[kind]
    if kind == "oct":
        return {"kty": kty, "k": b64(secret or b"")}
    if kind == "p256":
        return {"kty": kty, "crv": crv, "x": b64(public[1:33]), "y": b64(public[33:])}
    return {"kty": kty, "crv": crv, "x": b64(public)}


def key_id(kind: str, public: bytes, secret: Optional[bytes]) -> str:
    """The kid of the canonical coordinates."""
    canonical = json.dumps(_required_members(kind, public, secret), sort_keys=True, separators=(",", ":"))
    return b64(hashlib.sha256(canonical.encode()).digest()[:8])


def load_key(jwk: Any, require_kid: bool = True) -> Key:
    """Import a record: requires the exact alg, full-length coordinates on the curve, a matching d, and the right kid.

    Refusal: `malformed`, `unsupportedKey` (kty, crv, alg), `invalidKey`, `kidMismatch`, `invalidDeviceID`.
    """
    if not isinstance(jwk, dict) or not isinstance(jwk.get("kty"), str):
        raise Refusal("malformed", "key record")
    if require_kid:
        unb64(jwk.get("kid"), 8)
    kind = next((k for k, (kty, crv, *_) in _KINDS.items() if jwk["kty"] == kty and crv in (None, jwk.get("crv"))), None)
    if kind is None or (require_kid and jwk.get("alg") != _KINDS[kind][2]):
        raise Refusal("unsupportedKey", "key record: kty, crv or alg")
    if ("device" in jwk and (kind != "oct" or not require_kid)) or ("psk" in jwk and kind in ("oct", "ed25519")):
        raise Refusal("malformed", "key record: device or psk")
    role = jwk.get("role") if kind == "ed25519" else None
    if kind == "ed25519" and "role" in jwk and role != "publisher":
        raise Refusal("unsupportedKey", "key record: role")
    try:
        public, secret = _material(kind, jwk)
    except ValueError:
        raise Refusal("invalidKey", "key record: not a valid key") from None
    psk = unb64(jwk["psk"], 32) if "psk" in jwk else None
    kid = key_id(kind, public, secret)
    device = None
    if "device" in jwk:  # the only record with another key's kid: its master's
        if not isinstance(jwk["device"], str):
            raise Refusal("malformed", "key record: device")
        device, kid = check_device(jwk["device"], "invalidDeviceID"), jwk["kid"]
    elif require_kid and jwk["kid"] != kid:
        raise Refusal("kidMismatch", "key record: kid mismatch")
    return Key(kind, kid, public, secret, psk, device, role)


def _material(kind: str, jwk: dict[str, Any]) -> tuple[bytes, Optional[bytes]]:
    """(serialised public key, d or k). ValueError or Refusal if they are not a valid key or do not match."""
    if kind == "oct":
        return b"", unb64(jwk.get("k"), 32)
    public = unb64(jwk.get("x"), 32)
    if kind == "p256":
        public = b"\x04" + public + unb64(jwk.get("y"), 32)
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public)
    elif kind == "x25519":
        if int.from_bytes(public, "little") >= _P25519:
            raise ValueError("x >= p")
        # A point of small order yields an all-zero secret, which the library refuses (ValueError).
        x25519.X25519PrivateKey.from_private_bytes(b"\x01" * 32).exchange(
            x25519.X25519PublicKey.from_public_bytes(public))
    else:
        check_ed25519(public)
    secret = unb64(jwk["d"], 32) if "d" in jwk else None
    if secret is not None and public_of(kind, secret) != public:
        raise ValueError("d does not match x")
    return public, secret


def check_ed25519(public: bytes) -> None:
    """Refuse (ValueError) a y >= p, a point off the curve and the eight points of small order."""
    y = int.from_bytes(public, "little") & (2**255 - 1)
    if y >= _P25519 or y in (0, 1, _P25519 - 1, _ORDER8_Y, _P25519 - _ORDER8_Y):
        raise ValueError("non-canonical or small order")
    ratio = (y * y - 1) * (_D25519 * y * y + 1) % _P25519  # x^2 = (y^2-1)/(d y^2+1) must be a square
    if pow(ratio, (_P25519 - 1) // 2, _P25519) != 1:
        raise ValueError("not on the curve")


def _private_object(kind: str, secret: bytes) -> Any:
    if kind == "p256":
        return ec.derive_private_key(int.from_bytes(secret, "big"), ec.SECP256R1())
    return (x25519.X25519PrivateKey if kind == "x25519" else ed25519.Ed25519PrivateKey).from_private_bytes(secret)


def _public_object(key: Key) -> Any:
    if key.kind == "p256":
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key.public)
    curve = x25519.X25519PublicKey if key.kind == "x25519" else ed25519.Ed25519PublicKey
    return curve.from_public_bytes(key.public)


def public_of(kind: str, secret: bytes) -> bytes:
    """The serialised public key of d (P-256: uncompressed, 65 bytes)."""
    public = _private_object(kind, secret).public_key()
    if kind != "p256":
        return public.public_bytes_raw()
    numbers = public.public_numbers()
    return b"\x04" + numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")


def generate(kind: str, psk: bool = False) -> Key:
    """A fresh key. `psk` adds a fresh 32-byte secret (suites 1 and 2)."""
    if kind not in _KINDS or (psk and kind in ("oct", "ed25519")):
        raise Refusal("invalidArgument", "kind")
    if kind == "p256":
        secret = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value.to_bytes(32, "big")
    else:
        secret = os.urandom(32)
    public = b"" if kind == "oct" else public_of(kind, secret)
    return Key(kind, key_id(kind, public, secret), public, secret, os.urandom(32) if psk else None)


def check_device(device: Any, code: str = "invalidArgument") -> str:
    """Checks a device id: 1-64 bytes of [A-Za-z0-9_-]."""
    if not isinstance(device, str) or not _DEVICE_ID.fullmatch(device):
        raise Refusal(code, "device id")
    return device


def device_key(master: Key, device: str) -> Key:
    """K_device = HKDF-SHA256(master, salt empty, "pushcrypt/1 device" 0x00 lp16(kid) lp16(device id), 32)."""
    if master.kind != "oct" or master.device is not None:
        raise Refusal("malformed", "only a master derives device keys")
    info = b"pushcrypt/1 device\x00" + lp16(master.kid) + lp16(check_device(device))
    secret = HKDF(hashes.SHA256(), 32, b"", info).derive(master.secret)
    return Key("oct", master.kid, b"", secret, None, device)


def for_device(key: Key, device: Optional[str]) -> Key:
    """The device's key if `key` is a master and a device is named; any other key unchanged."""
    return device_key(key, device) if device is not None and key.kind == "oct" and key.device is None else key


# --- Context binding and suites --------------------------------------------------------------------------------------

def lp16(text: str) -> bytes:
    """lp16(x) = u16 big-endian length, then the UTF-8 bytes of x (over 65,535 refused)."""
    data = text.encode("utf-8")
    if len(data) > 0xFFFF:
        raise Refusal("invalidArgument", "over 65,535 bytes")
    return len(data).to_bytes(2, "big") + data


def is_topic(topic: Any) -> bool:
    """Whether it is 1 to 155 characters of [A-Za-z0-9.-]."""
    return isinstance(topic, str) and _TOPIC.fullmatch(topic) is not None


def context(key: Key, skid: Optional[str], topic: str) -> bytes:
    """info = "pushcrypt/1" 0x00 u8(suite) u8(profile) lp16(kid) lp16(skid or empty) lp16(topic)

    profile: bit 0 psk (from the recipient's record), bit 1 signed (from the presence of skid).
    """
    if not is_topic(topic):
        raise Refusal("invalidArgument", "topic")
    profile = (1 if key.psk is not None else 0) | (2 if skid is not None else 0)
    return b"pushcrypt/1\x00" + bytes([key.suite, profile]) + lp16(key.kid) + lp16(skid or "") + lp16(topic)


def campaign_id(campaign: str, key: Key) -> bytes:
    """id = first 16 bytes of HMAC-SHA256(key, "pushcrypt/1 campaign" 0x00 lp16(campaign) lp16(kid) lp16(device id or empty))

    The key is K as used (suite 4), else the psk, else empty. It replaces 16 random bytes, for a sender that may seal the same push twice.
    """
    text = b"pushcrypt/1 campaign\x00" + lp16(campaign) + lp16(key.kid) + lp16(key.device or "")
    mac = hmac.HMAC((key.secret if key.suite == 4 else key.psk) or b"", hashes.SHA256())
    mac.update(text)
    return mac.finalize()[:16]


def signed_bytes(key: Key, info: bytes, message: bytes) -> bytes:
    """The input of the signature: "pushcrypt/1 signature" 0x00 info R message

    R = SHA-256(serialised public key), or for suite 4 HMAC-SHA256(K as used, "pushcrypt/1 recipient").
    """
    if key.suite == 4:
        mac = hmac.HMAC(key.secret, hashes.SHA256())
        mac.update(b"pushcrypt/1 recipient")
        recipient = mac.finalize()
    else:
        recipient = hashlib.sha256(key.public).digest()
    return b"pushcrypt/1 signature\x00" + info + recipient + message


# suite: (bytes before the ciphertext, pyhpke's suite, cryptography's suite)
_HPKE = {
    1: (65, CipherSuite.new(KEMId.DHKEM_P256_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES256_GCM),
        hpke.Suite(hpke.KEM.P256, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_256_GCM)),
    2: (32, CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES128_GCM),
        hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)),
    4: (16, None, None),
}


def _suite4(key: Key, salt: bytes, info: bytes) -> tuple[AESGCM, bytes]:
    """prk = HKDF-Extract(salt, K); okm = HKDF-Expand(prk, info, 44); AES-256-GCM key okm[0..<32], nonce okm[32..<44]"""
    okm = HKDF(hashes.SHA256(), 44, salt, info).derive(key.secret)
    return AESGCM(okm[:32]), okm[32:]


def encrypt(key: Key, info: bytes, plaintext: bytes) -> bytes:
    """sealed = enc ct (suites 1, 2) or salt(16) ct (suite 4); aad is empty.

    Base mode seals with one HPKE library and opens with the other. Psk mode (psk_id = the kid's bytes) uses only one.
    """
    if key.suite == 4:
        salt = os.urandom(16)
        aead, nonce = _suite4(key, salt, info)
        return salt + aead.encrypt(nonce, plaintext, b"")
    _, suite, base = _HPKE[key.suite]
    if key.psk is None:
        return base.encrypt(plaintext, _public_object(key), info=info)
    recipient = KEMKey.from_pyca_cryptography_key(_public_object(key))
    enc, sender = suite.create_sender_context(recipient, info=info, psk=key.psk, psk_id=key.kid.encode())
    return enc + sender.seal(plaintext, aad=b"")


def decrypt(key: Key, info: bytes, sealed: bytes) -> bytes:
    """The plaintext. A bad point, a bad tag and a short text have one class: undecryptable."""
    size, suite, _ = _HPKE[key.suite]
    head, body = sealed[:size], sealed[size:]
    if len(body) < TAG_SIZE:
        raise Refusal("undecryptable")
    psk, psk_id = (key.psk, key.kid.encode()) if key.psk is not None else (b"", b"")
    try:
        if key.suite == 4:
            aead, nonce = _suite4(key, head, info)
            return aead.decrypt(nonce, body, b"")
        private = KEMKey.from_pyca_cryptography_key(_private_object(key.kind, key.secret))
        return suite.create_recipient_context(head, private, info=info, psk=psk, psk_id=psk_id).open(body, aad=b"")
    except (ValueError, InvalidTag, PyHPKEError):
        raise Refusal("undecryptable") from None


# --- Seal ------------------------------------------------------------------------------------------------------------

def has_text(alert: Any) -> bool:
    """Whether an alert has text: a non-empty title, subtitle, body, loc-key or title-loc-key (or is a string)."""
    if isinstance(alert, dict):
        names = ("title", "subtitle", "body", "loc-key", "title-loc-key")
        return any(isinstance(alert.get(name), str) and alert[name] for name in names)
    return isinstance(alert, str) and alert != ""


def _utf8(text: Any) -> bytes:
    try:
        return text if isinstance(text, bytes) else text.encode("utf-8")
    except UnicodeEncodeError:
        raise Refusal("malformed", "lone surrogate") from None


def _outer(aps: bytes, kid: str, sealed: str, skid: Optional[str]) -> bytes:
    """{"aps":{...},"pushcrypt":{"v":1,"kid":"...","sealed":"..."[,"skid":"..."]}}"""
    field = f'{{"v":1,"kid":"{kid}","sealed":"{sealed}"' + (f',"skid":"{skid}"}}' if skid is not None else "}")
    return b'{"aps":' + aps + b',"pushcrypt":' + field.encode("ascii") + b"}"


_EXPOSED_NAME = re.compile("[A-Za-z0-9_-]{1,64}", re.ASCII)
MAX_EXPOSED = 32  # names


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_level(value: Any) -> bool:
    return value in ("passive", "active", "time-sensitive", "critical")


def _is_sound(value: Any) -> bool:
    """Whether a sound is a name, or a dictionary of critical (0 or 1), name and volume (0 to 1)."""
    rules = {"critical": lambda v: is_integer(v) and v <= 1, "name": _is_string,
             "volume": lambda v: _is_number(v) and 0 <= v <= 1}
    if isinstance(value, Obj):
        return all(name in rules and rules[name](member) for name, member in value.items())
    return isinstance(value, str)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, bool)) or _is_number(value)


_EXPOSED_TYPES = {
    "badge": is_integer, "category": _is_string, "content-available": lambda v: _is_one(v),
    "dismissal-date": is_integer, "event": _is_string, "filter-criteria": _is_string,
    "interruption-level": _is_level, "relevance-score": _is_number, "sound": _is_sound, "stale-date": is_integer,
    "target-content-id": _is_string, "thread-id": _is_string, "timestamp": is_integer,
}


def _outer_aps(inner_aps: Obj, inner_text: str, placeholder: Any, expose: Iterable[str]) -> bytes:
    """The placeholder, mutable-content and the exposed members: raw copies, after the two default members."""
    given = list(expose)
    names = list(dict.fromkeys(given))
    if len(given) > MAX_EXPOSED or any(not isinstance(name, str) or not _EXPOSED_NAME.fullmatch(name)
                                       or name in ("alert", "mutable-content") for name in names):
        raise Refusal("invalidArgument", "expose")
    if not has_text(placeholder):
        raise Refusal("invalidArgument", "placeholder")
    for name in names:
        if name not in inner_aps or not _EXPOSED_TYPES.get(name, _is_scalar)(inner_aps[name]):
            raise Refusal("notExposable", name)
    parts = ['"alert":' + json.dumps(placeholder, ensure_ascii=False, separators=(",", ":")), '"mutable-content":1']
    if "sound" not in names and inner_aps.get("sound") not in (None, "", {}):
        parts.append('"sound":"default"')
    if "content-available" not in names and _is_one(inner_aps.get("content-available")):
        names.insert(0, "content-available")
    for name in names:
        _, start, end = inner_aps.spans[name]
        parts.append(json.dumps(name, ensure_ascii=False) + ":" + inner_text[start:end])
    return _utf8("{" + ",".join(parts) + "}")


def seal(to: Key, topic: str, inner: Union[str, bytes], placeholder: Any, at: int, expires: int = WINDOW,
         pad: Union[int, str] = 128, limit: int = MAX_LIMIT, expose: Iterable[str] = (),
         sign_with: Optional[Key] = None, extras: Optional[dict[str, Any]] = None) -> bytes:
    """The outer payload that carries `inner`, within `limit` bytes; `extras` are attachments, offload and test."""
    # message = inner JSON, "pushcrypt": {"id": 16 random bytes, "iat", "exp", extras} as its last member, spaces to the
    # right
    raw = _utf8(inner)
    root, text = parse_payload(raw)
    aps = root.get("aps")
    if "pushcrypt" in root or not isinstance(aps, Obj) or not has_text(aps.get("alert")):
        raise Refusal("malformed", "the inner payload has no alert text, or a pushcrypt member")
    if to.suite == 0 or (sign_with is not None and (sign_with.kind != "ed25519" or sign_with.secret is None
                                                    or sign_with.role is not None)):
        raise Refusal("malformed", "a key of another kind is needed")
    if not is_integer(at) or type(expires) is not int or not 0 < expires <= WINDOW or not is_integer(at + expires):
        raise Refusal("invalidArgument", "at, expires")
    if type(limit) is not int or not 0 < limit <= MAX_LIMIT:
        raise Refusal("invalidArgument", "limit")
    if pad not in ("max", "none") and (type(pad) is not int or pad < 1):
        raise Refusal("invalidArgument", "pad")
    if has_instructions(extras or {}) and proof(to, sign_with is not None) == 0:
        raise Refusal("notAuthenticated", "everyone has the public key")
    end = max(value_end for _, _, value_end in root.spans.values())
    member = f',"pushcrypt":{{"id":"{b64(os.urandom(16))}","iat":{at},"exp":{at + expires}{extras_text(extras)}}}'
    message = (text[:end] + member + text[end:]).encode("utf-8")

    # The budget: base64url encodes n bytes as ceil(4n/3) characters, so floor(3c/4) bytes fit into c characters.
    skid = sign_with.kid if sign_with is not None else None
    outer_aps = _outer_aps(aps, text, placeholder, expose)
    characters = limit - len(_outer(outer_aps, to.kid, "", skid))
    overhead = _HPKE[to.suite][0] + TAG_SIZE + (SIGNATURE_SIZE if skid is not None else 0)
    available = max(0, characters * 3 // 4 - overhead)
    if len(message) > available:
        raise Refusal("tooLarge", "the message does not fit", needed=len(message), available=available)
    if pad == "max":
        size = available
    else:
        size = len(message) if pad == "none" else min(-(-len(message) // pad) * pad, available)
    message = message.ljust(size, b" ")

    # signed profile: plaintext = signature(64) message
    info = context(to, skid, topic)
    plaintext = message
    if sign_with is not None:
        signer = _private_object("ed25519", sign_with.secret)
        plaintext = signer.sign(signed_bytes(to, info, message)) + message
    outer = _outer(outer_aps, to.kid, b64(encrypt(to, info, plaintext)), skid)
    parse(outer)  # the caller's placeholder (its depth) must not make the payload malformed
    assert len(outer) <= limit
    return outer


# --- Open ------------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Opened:
    """An opened message: the inner payload's text without the member that the sender added."""

    inner: str
    id: str
    iat: int
    exp: int
    signed_by: Optional[str]
    extras: dict[str, Any] = dataclass_field(default_factory=dict)
    proof: int = 0


def index(keys: Iterable[Key], kinds: tuple[str, ...]) -> dict[str, Key]:
    """Keys by kid: one record per kid, never replaced."""
    found: dict[str, Key] = {}
    for key in keys:
        if key.kind not in kinds or key.role is not None or key.kid in found:
            raise Refusal("malformed", "a key of another kind, or two of one kid")
        found[key.kid] = key
    return found


def open_payload(payload: bytes, keys: Iterable[Key], topic: str, at: int,
                 trust: Optional[Iterable[Key]] = None) -> Opened:
    """Open an outer payload with exactly one key, chosen by kid. A `trust` set (also an empty one) requires skid."""
    if not is_integer(at):
        raise Refusal("invalidArgument", "at")
    own = index(keys, ("p256", "x25519", "oct"))
    pinned = index(trust, ("ed25519",)) if trust is not None else None

    # outer "pushcrypt": {"v": 1, "kid": 11 characters, "sealed": base64url, "skid": 11 characters, if signed}
    root, _ = parse(payload)
    if "pushcrypt" not in root:
        raise Refusal("notSealed")
    field = root["pushcrypt"]
    if not isinstance(field, Obj) or not is_integer(field.get("v")):
        raise Refusal("malformed", "pushcrypt, v")
    if field["v"] != 1:
        raise Refusal("unsupportedVersion")
    unb64(field.get("kid"), 8)
    if "skid" in field:
        unb64(field["skid"], 8)
    sealed = unb64(field.get("sealed"))
    aps = root.get("aps")
    if not isinstance(aps, Obj) or not has_text(aps.get("alert")) or not _is_one(aps.get("mutable-content")):
        raise Refusal("malformed", "aps")

    key, skid = own.get(field["kid"]), field.get("skid")
    if key is None or key.secret is None:
        raise Refusal("unknownKey")
    if skid is not None and (pinned is None or skid not in pinned):
        raise Refusal("unknownKey")
    if skid is None and pinned is not None:
        raise Refusal("undecryptable")
    info = context(key, skid, topic)
    message = decrypt(key, info, sealed)
    if skid is not None:
        signature, message = message[:SIGNATURE_SIZE], message[SIGNATURE_SIZE:]
        try:
            _public_object(pinned[skid]).verify(signature, signed_bytes(key, info, message))
        except InvalidSignature:
            raise Refusal("undecryptable") from None
    return _opened(message, at, skid, proof(key, skid is not None))


def _is_one(value: Any) -> bool:
    return type(value) is int and value == 1


def proof(key: Key, signed: bool) -> int:
    """What a sender of such messages proved: 1 the psk or the shared key, 2 the signing key; 0 nothing."""
    return (1 if key.suite == 4 or key.psk is not None else 0) + (2 if signed else 0)


def _opened(message: bytes, now: int, skid: Optional[str], proven: int) -> Opened:
    """Checks iat < exp <= iat + window and the alert text (else malformed), then freshness."""
    root, text = parse_payload(message)
    added, aps = root.get("pushcrypt"), root.get("aps")
    if not isinstance(added, Obj) or not isinstance(aps, Obj) or not has_text(aps.get("alert")):
        raise Refusal("malformed", "inner aps or pushcrypt")
    unb64(added.get("id"), 16)
    iat, exp = added.get("iat"), added.get("exp")
    if not is_integer(iat) or not is_integer(exp) or not iat < exp <= iat + WINDOW:
        raise Refusal("malformed", "iat, exp")
    extras = check_extras(added, proven != 0, "badge" in aps)
    if now >= exp or now - iat > WINDOW:
        raise Refusal("expired")
    if iat - now > AHEAD:
        raise Refusal("notYetValid")
    return Opened(_without(root, text, "pushcrypt").rstrip(" "), added["id"], iat, exp, skid, extras, proven)


def open_offloaded(plaintext: bytes, message: Optional[Opened] = None) -> str:
    """The payload in the plaintext of a blob: an inner payload without a `pushcrypt` member, and without aps.badge if the
    message adds to the badge."""
    root, text = parse_payload(plaintext)
    aps = root.get("aps")
    if len(plaintext) > MAX_OFFLOAD or "pushcrypt" in root or not isinstance(aps, Obj) or not has_text(aps.get("alert")):
        raise Refusal("malformed", "offloaded payload")
    if message is not None and "badge" in message.extras and "badge" in aps:
        raise Refusal("malformed", "a badge and an increment of it")
    return text.rstrip(" ")


def _without(root: Obj, text: str, name: str) -> str:
    """The text without one member of the root and the comma before it (the first member: the comma after it)."""
    names = list(root)
    at = names.index(name)
    start, _, end = root.spans[name]
    if at > 0:
        start = root.spans[names[at - 1]][2]
    elif len(names) > 1:
        end = root.spans[names[1]][0]
    return text[:start] + text[end:]
