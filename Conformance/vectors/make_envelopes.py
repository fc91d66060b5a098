"""Writes envelopes-v1.json with the Python package: every suite and mode, and every field changed in every way.

Run with an interpreter that has the package of Senders/python: python make_envelopes.py > envelopes-v1.json
Salts, ephemeral keys and message ids come from labels, so every run makes the same file.
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
from make_pushcrypt_v1 import AT, DAY, KEYS, TOPIC, XWING_ENCS, XWING_KEYS  # noqa: E402
from pushcrypt import PushCryptError, _envelope, _hpke, _xwing  # noqa: E402
from pushcrypt._json import b64, unb64  # noqa: E402
from pushcrypt._keys import Key  # noqa: E402
from pushcrypt._test_doors import encrypt_under, encrypt_with  # noqa: E402

INNER = '{"aps":{"alert":"x"}}'
KEYS.update(XWING_KEYS)
RECIPIENTS = ("p256", "p256 psk", "x25519", "x25519 psk", "shared", "device", "xwing", "xwing psk")
#: Another recipient's key of the same kind.
OTHERS = {"p256": KEYS["other p256"], "x25519": KEYS["other x25519"], "oct": KEYS["other shared"], "xwing": KEYS["other xwing"]}
#: The points of X25519 with which every secret is zero: of order 1, 2, 4 and 8, not canonical, and with the ignored bit.
P25519 = 2**255 - 19
ORDER_8_U = (325606250916557431795983626356110631294008115727848805560023387167927233504,
             39382357235489614581723060781553021112529911719440698176882885853963445705823)
ZERO_SHARES = (("0", 0), ("1", 1), ("p - 1", P25519 - 1), ("p", P25519), ("p + 1", P25519 + 1), ("a point of order 8", ORDER_8_U[0]),
               ("another point of order 8", ORDER_8_U[1]), ("2^255", 2**255))
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493  # of Ed25519
SENDER, OTHER = KEYS["sender"], KEYS["other sender"]


def material(label: str, size: int = 32) -> bytes:
    return hashlib.sha256(f"pushcrypt test envelope: {label}".encode()).digest()[:size]


def encrypt(key: Key, info: bytes, plaintext: bytes, label: str) -> bytes:
    """With salt or ephemeral key from the label, or the key's `enc`."""
    return encrypt_with(key, info, plaintext, enc_of(key) if key.suite == 3 else material(label, 16 if key.suite == 4 else 32))


def enc_of(key: Key) -> bytes:
    return XWING_ENCS[key.public]


def message(header: Optional[str] = None) -> bytes:
    """The inner payload with its header."""
    header = header or f'{{"id":"{b64(material("id", 16))}","iat":{AT},"exp":{AT + DAY}}}'
    return (INNER[:-1] + f',"pushcrypt":{header}}}').encode()


def signature(signer: Key, to: Key, info: bytes, text: bytes) -> bytes:
    return signer.sign(_envelope.signed_bytes(to, info, text))


def outer(kid: str, sealed: bytes, skid: Optional[str]) -> str:
    member = f',"skid":"{skid}"' if skid is not None else ""
    return ('{"aps":{"alert":"New message","mutable-content":1},"pushcrypt":{"v":1,"kid":"%s","sealed":"%s"%s}}'
            % (kid, b64(sealed), member))


@dataclasses.dataclass
class Mode:
    """A recipient, signed or not, and the parts of a payload in this mode."""

    recipient: str
    signed: bool

    @property
    def name(self) -> str:
        return f"{self.recipient}, {'signed' if self.signed else 'unsigned'}"

    @property
    def key(self) -> Key:
        return KEYS[self.recipient]

    @property
    def skid(self) -> Optional[str]:
        return SENDER.kid if self.signed else None

    @property
    def info(self) -> bytes:
        return _envelope.context(self.key, self.skid, TOPIC)

    @property
    def plaintext(self) -> bytes:
        return (signature(SENDER, self.key, self.info, message()) if self.signed else b"") + message()

    def sealed(self, plaintext: Optional[bytes] = None, to: Optional[Key] = None, info: Optional[bytes] = None) -> bytes:
        return encrypt(to or self.key, info or self.info, self.plaintext if plaintext is None else plaintext, self.name)

    def payload(self, sealed: Optional[bytes] = None) -> str:
        return outer(self.key.kid, self.sealed() if sealed is None else sealed, self.skid)


class Vectors:
    """Collects payloads, each checked against the package."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self.sets: list[str] = []

    def set_index(self, text: Optional[str]) -> Optional[int]:
        """Where the text stands in `sets`."""
        if text is not None and text not in self.sets:
            self.sets.append(text)
        return self.sets.index(text) if text is not None else None

    def add(self, mode: Mode, field: str, change: str, failure: Optional[str], payload: str, keys: Any = None,
            senders: Any = ..., topic: str = TOPIC, at: int = AT) -> None:
        keyset = json.dumps((keys or mode.key).record()) if not isinstance(keys, str) else keys
        pins = ([SENDER] if mode.signed else None) if senders is ... else senders
        pinned = published(pins) if isinstance(pins, list) else pins
        name = f"{mode.name}: {field} {change}" if field else mode.name
        try:
            opened = support.open_with_sets(payload.encode(), keyset.encode(), pinned and pinned.encode(), topic, at)
            assert failure is None and opened.json == INNER and opened.signed_by == mode.skid, name
        except PushCryptError as refusal:
            assert refusal.code == failure, (name, refusal)
        assert all(entry["name"] != name for entry in self.found), name
        self.found.append({"name": name, "failure": failure, "keyset": self.set_index(keyset),
                           "senders": self.set_index(pinned), "topic": topic, "at": at, "payload": payload})


def published(keys: list[Key], **times: str) -> str:
    """A set that pins these keys."""
    lives = {key.kid: {"activatesAt": "1970-01-01T00:00:00Z", **times} for key in keys}
    records = [key.record(private=False) for key in keys]
    return json.dumps({"keys": records, "pushcrypt": {"seq": 1, "keys": lives}})


def private(key: Key, **times: str) -> str:
    """A recipient's own set."""
    lives = {key.kid: {"activatesAt": "1970-01-01T00:00:00Z", **times}}
    return json.dumps({"keys": [key.record()], "pushcrypt": {"seq": 1, "keys": lives}})


def flipped(data: bytes, at: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def add_sealed(vectors: Vectors, mode: Mode) -> None:
    """`sealed`: enc or salt, ciphertext, tag."""
    body, size = mode.sealed(), _envelope.header_size(mode.key)
    part = "salt" if mode.key.suite == 4 else "enc"
    for field, change, changed in (
        (part, "changed at its start", flipped(body, 0)), (part, "changed at its end", flipped(body, size - 1)),
        (part, "missing", body[size:]), (part, "too short by a byte", body[1:]), (part, "too long by a byte", b"\0" + body),
        ("ciphertext", "changed at its start", flipped(body, size)), ("ciphertext", "changed at its end", flipped(body, -17)),
        ("ciphertext", "missing", body[:size] + body[-16:]), ("ciphertext", "too short by a byte", body[:size] + body[size + 1:]),
        ("ciphertext", "too long by a byte", body[:size] + b"\0" + body[size:]),
        ("tag", "changed at its start", flipped(body, -16)), ("tag", "changed at its end", flipped(body, -1)),
        ("tag", "missing", body[:-16]), ("tag", "too short by a byte", body[:-1]), ("tag", "too long by a byte", body + b"\0"),
        ("sealed", f"is {part} alone", body[:size]), ("sealed", f"is {part} and 15 bytes", body[:size + 15]),
        ("sealed", "is the bytes twice", body + body),
    ):
        vectors.add(mode, field, change, "undecryptable", mode.payload(changed))
    if mode.key.suite in (2, 3) and not mode.signed:
        for what, number in ZERO_SHARES:
            vectors.add(mode, "enc", f"has a zero share: {what}", "undecryptable", mode.payload(zero_share(mode, number)))
    if mode.key.suite in (1, 2):
        for what, point in (("all zeros", bytes(size)), ("all ones", b"\xff" * size)):
            vectors.add(mode, "enc", f"is {what}", "undecryptable", mode.payload(point + body[size:]))
    if mode.key.suite == 1:
        compressed = bytes([2 + body[64] % 2]) + body[1:33]
        vectors.add(mode, "enc", "in compressed form", "undecryptable", mode.payload(compressed + body[65:]))
        off_curve = mode.payload(body[:64] + bytes([body[64] ^ 2]) + body[65:])
        vectors.add(mode, "enc", "off the curve", "undecryptable", off_curve)


def zero_share(mode: Mode, u: int) -> bytes:
    """Sealed under the secret that a recipient computes which doesn't check that X25519's secret isn't zero."""
    share, key = u.to_bytes(32, "little"), mode.key
    if key.suite == 2:
        enc, secret = share, _hpke._extract_and_expand(_hpke.X25519_AES128, bytes(32), share + key.public)
    else:
        enc, private = enc_of(key)[:-32] + share, key.private_object
        mlkem_secret = private._mlkem.decapsulate(enc[:-32])
        secret = _xwing._combine(mlkem_secret, bytes(32), share, key.public[-32:])
    return enc + encrypt_under(key, secret, mode.info, mode.plaintext)


def add_context(vectors: Vectors, mode: Mode) -> None:
    """What the context binds: topic, kid, skid, suite and profile."""
    payload, info = mode.payload(), mode.info
    vectors.add(mode, "topic", "changed", "undecryptable", payload, topic=TOPIC + "2")
    vectors.add(mode, "topic", "in upper case", "undecryptable", payload, topic=TOPIC.upper())
    for field, at, value in (("suite in the context", 12, 3), ("psk bit of the profile", 13, 1), ("signed bit of the profile", 13, 2)):
        changed = info[:at] + bytes([info[at] ^ value]) + info[at + 1:]
        vectors.add(mode, field, "changed", "undecryptable", mode.payload(mode.sealed(info=changed)))
    vectors.add(mode, "context", "missing", "undecryptable", mode.payload(mode.sealed(info=b"\0")))
    other = OTHERS[mode.key.kind]
    vectors.add(mode, "recipient's key", "is another, sealed under this kid", "undecryptable",
                mode.payload(mode.sealed(to=dataclasses.replace(other, kid=mode.key.kid, psk=mode.key.psk))))
    vectors.add(mode, "kid", "of no key", "unknownKey", payload, keys=other)


def add_psk(vectors: Vectors, mode: Mode) -> None:
    if mode.key.suite == 4:
        return
    if mode.key.psk is None:
        demanding = dataclasses.replace(mode.key, psk=material("psk"))
        vectors.add(mode, "psk", "missing at the sender", "undecryptable", mode.payload(), keys=demanding)
        return
    for what, psk in (("changed at its start", flipped(mode.key.psk, 0)), ("changed at its end", flipped(mode.key.psk, -1)),
                      ("missing at the recipient", None), ("of zeros", bytes(32))):
        vectors.add(mode, "psk", what, "undecryptable", mode.payload(), keys=dataclasses.replace(mode.key, psk=psk))
    without = mode.sealed(to=dataclasses.replace(mode.key, psk=None))
    vectors.add(mode, "psk", "missing at the sender, psk bit set", "undecryptable", mode.payload(without))
    no_bit = _envelope.context(dataclasses.replace(mode.key, psk=None), mode.skid, TOPIC)
    with_psk = mode.sealed(info=no_bit)
    vectors.add(mode, "psk", "used, psk bit not set", "undecryptable", mode.payload(with_psk))
    vectors.add(mode, "psk", "used, psk bit not set, missing at the recipient", "undecryptable", mode.payload(with_psk),
                keys=dataclasses.replace(mode.key, psk=None))
    for what, psk_id in (("another", KEYS["other p256"].kid.encode()), ("the 8 bytes of the kid", unb64(mode.key.kid, 8))):
        secret = enc_of(mode.key) if mode.key.suite == 3 else material(mode.name)
        sealed = encrypt_with(mode.key, mode.info, mode.plaintext, secret, psk_id)
        vectors.add(mode, "psk_id", f"is {what}", "undecryptable", mode.payload(sealed))


def add_device(vectors: Vectors, mode: Mode) -> None:
    if mode.recipient == "shared":
        vectors.add(mode, "device key", "in the master's place", "undecryptable", mode.payload(), keys=KEYS["device"])
    if mode.recipient == "device":
        vectors.add(mode, "master", "in the device key's place", "undecryptable", mode.payload(), keys=KEYS["shared"])
        vectors.add(mode, "device key", "of another device", "undecryptable", mode.payload(), keys=KEYS["other device"])


def add_signature(vectors: Vectors, mode: Mode) -> None:
    """The signature, `skid` and pinned senders."""
    payload, pins = mode.payload(), [SENDER]
    if not mode.signed:
        vectors.add(mode, "signature", "missing, senders pinned", "undecryptable", payload, senders=pins)
        added = outer(mode.key.kid, mode.sealed(), SENDER.kid)
        vectors.add(mode, "skid", "added, senders pinned", "undecryptable", added, senders=pins)
        vectors.add(mode, "skid", "added, none pinned", "unknownKey", added)
        return
    info, text = mode.info, message()
    good = signature(SENDER, mode.key, info, text)
    raised = (int.from_bytes(good[32:], "little") + GROUP_ORDER).to_bytes(32, "little")
    stranger = KEYS["tablet"] if mode.recipient == "device" else OTHERS[mode.key.kind]
    for what, changed in (
        ("changed at its start", flipped(good, 0)), ("changed at its end", flipped(good, 32)), ("missing", b""),
        ("too short by a byte", good[:-1]), ("too long by a byte", good + b"\0"), ("of zeros", bytes(64)),
        ("with S above the order", good[:32] + raised), ("of another sender", signature(OTHER, mode.key, info, text)),
        ("over another message", signature(SENDER, mode.key, info, text + b" ")),
        ("over another topic", signature(SENDER, mode.key, _envelope.context(mode.key, SENDER.kid, TOPIC + "2"), text)),
        ("over another recipient", signature(SENDER, stranger, info, text)),
        ("over the message alone", SENDER.sign(text)),
    ):
        vectors.add(mode, "signature", what, "undecryptable", mode.payload(mode.sealed(changed + text)))
    vectors.add(mode, "plaintext", "of 63 bytes", "undecryptable", mode.payload(mode.sealed(good[:63])))
    vectors.add(mode, "plaintext", "is the signature alone", "undecryptable", mode.payload(mode.sealed(good)))
    vectors.add(mode, "senders", "none pinned", "unknownKey", payload, senders=None)
    vectors.add(mode, "senders", "another pinned", "unknownKey", payload, senders=[OTHER])
    vectors.add(mode, "skid", "of another pinned sender", "undecryptable", outer(mode.key.kid, mode.sealed(), OTHER.kid),
                senders=[SENDER, OTHER])
    vectors.add(mode, "skid", "missing", "undecryptable", outer(mode.key.kid, mode.sealed(), None))
    vectors.add(mode, "skid", "missing, none pinned", "undecryptable", outer(mode.key.kid, mode.sealed(), None), senders=None)


def add_lives(vectors: Vectors, mode: Mode) -> None:
    """Keys that are over, or withdrawn."""
    past, now, later = "2026-01-01T00:00:00Z", "2027-01-15T08:00:00Z", "2027-01-15T08:00:01Z"
    payload = mode.payload()
    vectors.add(mode, "recipient's key", "pending", None, payload, keys=private(mode.key, activatesAt=later))
    vectors.add(mode, "recipient's key", "retired", None, payload, keys=private(mode.key, retiresAt=past, expiresAt=later))
    vectors.add(mode, "recipient's key", "expired now", "keyExpired", payload, keys=private(mode.key, expiresAt=now))
    vectors.add(mode, "recipient's key", "revoked now", "keyRevoked", payload, keys=private(mode.key, revokedAt=now))
    vectors.add(mode, "recipient's key", "revoked in a second", None, payload, keys=private(mode.key, revokedAt=later))
    if mode.signed:
        vectors.add(mode, "sender's key", "pending", None, payload, senders=published([SENDER], activatesAt=later))
        vectors.add(mode, "sender's key", "expired now", "keyExpired", payload, senders=published([SENDER], expiresAt=now))
        vectors.add(mode, "sender's key", "revoked now", "keyRevoked", payload, senders=published([SENDER], revokedAt=now))
        vectors.add(mode, "sender's key", "revoked later", "keyRevoked", payload, senders=published([SENDER], revokedAt=later))


def add_outer(vectors: Vectors, mode: Mode) -> None:
    """The members of the outer payload. They are the same in every suite."""
    payload = mode.payload()
    member = json.loads(payload)["pushcrypt"]
    texts = {name: json.dumps(value) for name, value in member.items()}

    def replaced(name: str, value: str) -> str:
        return payload.replace(f'"{name}":{texts[name]}', f'"{name}":{value}')

    def without(name: str) -> str:
        return payload.replace(f',"{name}":{texts[name]}', "").replace(f'"{name}":{texts[name]},', "")

    for name in ("v", "kid", "sealed") + (("skid",) if mode.signed else ()):
        if name != "skid":
            vectors.add(mode, name, "missing", "malformed", without(name))
        twice = payload.replace(f'"{name}":', f'"{name}":{texts[name]},"{name}":')
        vectors.add(mode, name, "duplicate", "malformed", twice)
        for what, value in (("null", "null"), ("true", "true"), ("an array", "[]"), ("an object", "{}")):
            vectors.add(mode, name, f"is {what}", "malformed", replaced(name, value))
    for name in ("kid", "sealed") + (("skid",) if mode.signed else ()):
        text = member[name]
        short, trailing = text[:-1], text[:-1] + ("B" if len(text) % 4 else "")
        cases = [("empty", ""), ("padded", text + "="), ("with white space", text[:4] + " " + text[4:]),
                 ("with a line break at its end", text + "\\n"), ("in base64's alphabet", "+" + text[1:])]
        if name != "sealed":
            cases += [("too short", short), ("too long", text + "A"), ("with trailing bits", trailing)]
        else:
            cases += [("of 5 characters", "AAAAA"), ("with trailing bits", b64(bytes(100))[:-1] + "B")]
        for what, value in cases:
            vectors.add(mode, name, what, "malformed", replaced(name, f'"{value}"'))
        vectors.add(mode, name, "a number", "malformed", replaced(name, "1"))
    for value in ("1.0", "1e0", "-1", "-0", '"1"', "9007199254740992"):
        vectors.add(mode, "v", f"is {value}", "malformed", replaced("v", value))
    for value in ("0", "2", "9007199254740991"):
        vectors.add(mode, "v", f"is {value}", "unsupportedVersion", replaced("v", value))
    vectors.add(mode, "sealed", "of a byte", "undecryptable", replaced("sealed", '"AA"'))
    if mode.signed:
        vectors.add(mode, "skid", "of no key", "unknownKey", replaced("skid", '"AAAAAAAAAAA"'))
        return
    vectors.add(mode, "kid", "of another key", "unknownKey", replaced("kid", '"AAAAAAAAAAA"'))
    vectors.add(mode, "skid", "null", "malformed", payload[:-2] + ',"skid":null}}')
    vectors.add(mode, "a member", "that nobody knows", None, payload[:-2] + ',"more":[1]}}')
    aps, envelope = payload[1:payload.index(',"pushcrypt"')], payload[payload.index('"pushcrypt"'):-1]
    vectors.add(mode, "pushcrypt", "missing", "notSealed", "{" + aps + "}")
    for what, value in (("null", "null"), ("a string", '"x"'), ("an array", "[]"), ("empty", "{}")):
        vectors.add(mode, "pushcrypt", f"is {what}", "malformed", "{" + aps + ',"pushcrypt":' + value + "}")
    vectors.add(mode, "pushcrypt", "duplicate", "malformed", "{" + aps + "," + envelope + "," + envelope + "}")
    vectors.add(mode, "aps", "missing", "malformed", "{" + envelope + "}")
    vectors.add(mode, "aps", "duplicate", "malformed", "{" + aps + "," + aps + "," + envelope + "}")
    for what, value in (("null", "null"), ("an array", "[]"), ("empty", "{}")):
        vectors.add(mode, "aps", f"is {what}", "malformed", '{"aps":' + value + "," + envelope + "}")
    alert, mutable = '"alert":"New message"', '"mutable-content":1'
    for what, value in (("missing", ""), ("null", '"alert":null,'), ("empty", '"alert":"",'), ("a number", '"alert":1,'),
                        ("an array", '"alert":["x"],'), ("an object without text", '"alert":{"title":"","sound":"x"},'),
                        ("duplicate", alert + "," + alert + ",")):
        vectors.add(mode, "alert", what, "malformed", payload.replace(alert + ",", value))
    for name in ("title", "subtitle", "body", "loc-key", "title-loc-key"):
        vectors.add(mode, "alert", f"with {name}", None, payload.replace(alert, '"alert":{"%s":"x"}' % name))
    for what, value in (("missing", ""), ("0", ',"mutable-content":0'), ("2", ',"mutable-content":2'),
                        ("true", ',"mutable-content":true'), ("1.0", ',"mutable-content":1.0'),
                        ("a string", ',"mutable-content":"1"'), ("null", ',"mutable-content":null'),
                        ("duplicate", "," + mutable + "," + mutable)):
        vectors.add(mode, "mutable-content", what, "malformed", payload.replace("," + mutable, value))
    for what, text in (("empty", ""), ("cut short", payload[:-1]), ("with bytes behind it", payload + "x"),
                       ("with a byte order mark", "\ufeff" + payload), ("an array", "[" + payload + "]"),
                       ("too deep", payload[:-1] + ',"x":' + "[" * 64 + "]" * 64 + "}"),
                       ("with a lone surrogate", payload[:-1] + ',"x":"\\ud800"}')):
        vectors.add(mode, "payload", what, "malformed", text)
    vectors.add(mode, "payload", "with 64 levels", None, payload[:-1] + ',"x":' + "[" * 63 + "]" * 63 + "}")


def add_message(vectors: Vectors, mode: Mode) -> None:
    """The header inside. It is the same in every suite."""
    parts = {"id": f'"{b64(material("id", 16))}"', "iat": str(AT), "exp": str(AT + DAY)}

    def header(**changed: Optional[str]) -> str:
        return "{" + ",".join(f'"{k}":{v}' for k, v in {**parts, **changed}.items() if v is not None) + "}"

    def add(field: str, change: str, text: Optional[bytes], failure: Optional[str] = "malformed", at: int = AT) -> None:
        vectors.add(mode, f"message's {field}", change, failure, mode.payload(mode.sealed(text)), at=at)

    for name in parts:
        add(name, "missing", message(header(**{name: None})))
        add(name, "duplicate", message(header()[:-1] + f',"{name}":{parts[name]}}}'))
        for what, value in (("null", "null"), ("true", "true"), ("an array", "[]")):
            add(name, f"is {what}", message(header(**{name: value})))
    for what, value in (("too short", b64(bytes(15))), ("too long", b64(bytes(17))), ("empty", ""), ("padded", parts["id"][1:-1] + "=="),
                        ("with trailing bits", "A" * 21 + "B")):
        add("id", what, message(header(id=f'"{value}"')))
    add("id", "is a number", message(header(id="1")))
    for name in ("iat", "exp"):
        for what, value in (("a string", f'"{parts[name]}"'), ("a fraction", parts[name] + ".0"), ("with an exponent", "18e8"),
                            ("negative", "-1"), ("2^53", str(2**53))):
            add(name, f"is {what}", message(header(**{name: value})))
    add("exp", "equal to iat", message(header(exp=str(AT))))
    add("exp", "before iat", message(header(exp=str(AT - 1))))
    add("exp", "30 days after iat", message(header(exp=str(AT + 30 * DAY))), None)
    add("exp", "30 days and a second after iat", message(header(exp=str(AT + 30 * DAY + 1))))
    add("exp", "now", message(header(iat=str(AT - 60), exp=str(AT))), "expired")
    add("exp", "in a second", message(header(iat=str(AT - 60), exp=str(AT + 1))), None)
    add("iat", "600 seconds ahead", message(header(iat=str(AT + 600))), None)
    add("iat", "601 seconds ahead", message(header(iat=str(AT + 601))), "notYetValid")
    add("header", "missing", INNER.encode())
    add("header", "duplicate", (INNER[:-1] + f',"pushcrypt":{header()},"pushcrypt":{header()}}}').encode())
    for what, value in (("null", "null"), ("an array", "[]"), ("empty", "{}")):
        add("header", f"is {what}", message(value))
    add("header", "with a member that nobody knows", message(header()[:-1] + ',"more":null}'), None)
    for what, text in (("missing", '{"pushcrypt":%s}' % header()), ("null", '{"aps":null,"pushcrypt":%s}' % header()),
                       ("without alert", '{"aps":{"badge":1},"pushcrypt":%s}' % header()),
                       ("with an empty alert", '{"aps":{"alert":""},"pushcrypt":%s}' % header()),
                       ("duplicate", '{"aps":{"alert":"x"},"aps":{"alert":"x"},"pushcrypt":%s}' % header())):
        add("aps", what, text.encode())
    whole = message()
    for what, text in (("empty", b""), ("spaces", b"   "), ("an array", b"[]"), ("cut short", whole[:-1]),
                       ("with a zero behind it", whole + b"\0"), ("with invalid UTF-8", whole.replace(b'"x"', b'"\xff"'))):
        add("text", what, text)
    add("text", "padded with spaces", whole + b" " * 100, None)


def main() -> None:
    KEYS["tablet"] = KEYS["other device"]
    vectors = Vectors()
    modes = [Mode(name, signed) for name in RECIPIENTS for signed in (False, True)]
    for mode in modes:
        vectors.add(mode, "", "", None, mode.payload())
        for table in (add_sealed, add_context, add_psk, add_device, add_signature, add_lives):
            table(vectors, mode)
    for mode in modes[:2]:
        add_outer(vectors, mode)
    add_message(vectors, Mode("shared", False))
    annotate.printed("envelopes-v1", {"inner": INNER, "sets": vectors.sets, "vectors": vectors.found}, ensure_ascii=False)


if __name__ == "__main__":
    main()
