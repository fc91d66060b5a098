"""Writes possession-v1.json with the Python package: challenges in every mode with their answers, and challenges and answers with
every field changed.

Run with an interpreter that has the package of Senders/python: python make_possession.py > possession-v1.json
Salts, ephemeral keys, ids and nonces come from labels, so every run makes the same file.
"""
from __future__ import annotations

import hashlib
import json
from typing import Any, Optional

import annotate
from make_envelopes import OTHER, RECIPIENTS, SENDER, Mode, encrypt, flipped, material, message, published, signature
from make_pushcrypt_v1 import AT, TOPIC
from pushcrypt import Keyset, Opener, PossessionError, PushCryptError, Registration, _envelope, possession
from pushcrypt._json import b64

HOST = "push.example.com"
ID = b64(material("registration", 16))
NONCE = material("nonce")


class Vectors:
    """Collects challenges and answers, each checked against the package."""

    def __init__(self) -> None:
        self.challenges: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []

    def add(self, mode: Mode, what: str, failure: Optional[str], challenge: str, host: str = HOST, senders: Any = ...,
            topic: str = TOPIC, record: Optional[str] = None, answer: Optional[str] = None) -> None:
        keyset, record = json.dumps(mode.key.record()), record or json.dumps(mode.key.record(private=False))
        pins = (published([SENDER]) if mode.signed else None) if senders is ... else senders
        opener = Opener(topic, Keyset.from_json(keyset), clock=lambda: AT,
                        senders=Keyset.from_json(pins) if pins is not None else None)
        name, found = f"{mode.name}: {what}", None
        try:
            found = possession.answer(challenge, record=record.encode(), host=host, opener=opener)
            assert failure is None, name
        except PushCryptError as error:
            assert error.code == failure, (name, error)
        assert all(entry["name"] != name for entry in self.challenges), name
        self.challenges.append({"name": name, "failure": failure, "keyset": keyset, "senders": pins, "topic": topic, "at": AT,
                                "host": host, "record": record, "challenge": challenge, "answer": found})

    def add_answer(self, name: str, failure: Optional[str], answer: str, pending: possession.Pending, at: int = AT) -> None:
        try:
            pending.confirm(answer, clock=lambda: at)
            assert failure is None, name
        except PossessionError as error:
            assert error.code == failure, (name, error)
        self.answers.append({"name": name, "failure": failure, "answer": answer, "at": at})


def sealed(mode: Mode, nonce: bytes = NONCE, is_challenge: bool = True, text: Optional[bytes] = None) -> bytes:
    """The envelope of a challenge. `text` replaces the signed nonce."""
    info = _envelope.context(mode.key, mode.skid, TOPIC, is_challenge)
    plaintext = text if text is not None else (signature(SENDER, mode.key, info, nonce) if mode.signed else b"") + nonce
    return encrypt(mode.key, info, plaintext, "challenge " + mode.name)


def challenge(mode: Mode, body: Optional[bytes] = None, **members: Any) -> str:
    """A member with the value ... is left out."""
    text = {"v": 1, "registration": ID, "kid": mode.key.kid, "sealed": b64(sealed(mode) if body is None else body)}
    if mode.signed:
        text["skid"] = mode.skid
    text.update(members)
    return json.dumps({name: value for name, value in text.items() if value is not ...}, separators=(",", ":"))


WRONG_TYPES = (("null", None), ("a boolean", True), ("an array", []), ("an object", {}))


def add_accepted(vectors: Vectors, mode: Mode) -> None:
    text = challenge(mode)
    vectors.add(mode, "a challenge", None, text)
    vectors.add(mode, "unknown members", None, challenge(mode, x={"v": 2}))
    vectors.add(mode, "4,096 bytes", None, text + " " * (4_096 - len(text)))
    vectors.add(mode, "a host of 253 characters", None, text, host="a" * 253)
    vectors.add(mode, "an id of 64 characters", None, challenge(mode, registration="r" * 64))
    vectors.add(mode, "an id of one character", None, challenge(mode, registration="-"))
    vectors.add(mode, "a record with white space", None, text, record=" " + json.dumps(mode.key.record(private=False)) + "\n")


def add_members(vectors: Vectors, mode: Mode) -> None:
    text = challenge(mode)
    names = ["v", "registration", "kid", "sealed"] + (["skid"] if mode.signed else [])
    for name in names:
        if name != "skid":
            vectors.add(mode, f"{name} missing", "malformed", challenge(mode, **{name: ...}))
        vectors.add(mode, f"{name} twice", "malformed", text.replace("{", '{"%s":%s,' % (name, json.dumps(json.loads(text)[name]))))
        for what, value in WRONG_TYPES + ((("a string", "1"),) if name == "v" else (("a number", 1), ("empty", ""))):
            vectors.add(mode, f"{name} is {what}", "malformed", challenge(mode, **{name: value}))
    for name in [name for name in names if name.endswith("kid")]:
        for what, value, failure in (("too short", "A" * 10, "malformed"), ("too long", "A" * 12, "malformed"),
                                     ("not canonical", "A" * 10 + "B", "malformed"), ("another", "A" * 11, "unknownKey")):
            vectors.add(mode, f"{name} {what}", failure, challenge(mode, **{name: value}))
    for what, value, failure in (("2", 2, "unsupportedVersion"), ("0", 0, "unsupportedVersion"), ("1.0", 1.0, "malformed"),
                                 ("-1", -1, "malformed"), ("2^53", 2**53, "malformed")):
        vectors.add(mode, f"v is {what}", failure, challenge(mode, v=value))
    for what, value in (("65 characters", "r" * 65), ("a space", "a b"), ("a letter with accent", "\u00e9"), ("a dot", "a.b")):
        vectors.add(mode, f"registration has {what}", "malformed", challenge(mode, registration=value))
    vectors.add(mode, "sealed with padding", "malformed", challenge(mode, sealed=b64(sealed(mode)) + "="))
    vectors.add(mode, "4,097 bytes", "malformed", text + " " * (4_097 - len(text)))
    for what, changed in (("no JSON", text[:-1]), ("text behind the value", text + "x"), ("an array", f"[{text}]"), ("empty", "")):
        vectors.add(mode, what, "malformed", changed)


def add_sealed(vectors: Vectors, mode: Mode) -> None:
    body = sealed(mode)
    for index in sorted({0, _envelope.header_size(mode.key), len(body) - 17, len(body) - 16, len(body) - 1}):
        vectors.add(mode, f"sealed: byte {index} changed", "undecryptable", challenge(mode, flipped(body, index)))
    for what, changed in (("too short by a byte", body[:-1]), ("too long by a byte", body + b"\0"), ("a byte", b"\0")):
        vectors.add(mode, f"sealed is {what}", "undecryptable", challenge(mode, changed))
    vectors.add(mode, "another topic", "undecryptable", challenge(mode), topic=TOPIC + "2")
    vectors.add(mode, "a message of 32 bytes", "undecryptable", challenge(mode, sealed(mode, is_challenge=False)))
    vectors.add(mode, "a message", "undecryptable", challenge(mode, sealed(mode, message(), is_challenge=False)))
    for count in (0, 31, 33, 64, 96):
        vectors.add(mode, f"a nonce of {count} bytes", "malformed", challenge(mode, sealed(mode, (NONCE * 3)[:count])))
    vectors.add(mode, "a message that is sealed as a challenge", "malformed", challenge(mode, sealed(mode, message())))


def add_signer(vectors: Vectors, mode: Mode) -> None:
    if not mode.signed:
        vectors.add(mode, "senders are pinned", "undecryptable", challenge(mode), senders=published([SENDER]))
        vectors.add(mode, "skid added, senders are pinned", "undecryptable", challenge(mode, skid=SENDER.kid),
                    senders=published([SENDER]))
        vectors.add(mode, "skid added", "unknownKey", challenge(mode, skid=SENDER.kid))
        return
    info = _envelope.context(mode.key, mode.skid, TOPIC, True)
    vectors.add(mode, "skid removed", "undecryptable", challenge(mode, skid=...))
    vectors.add(mode, "no senders are pinned", "unknownKey", challenge(mode), senders=None)
    vectors.add(mode, "other senders are pinned", "unknownKey", challenge(mode), senders=published([OTHER]))
    own = signature(SENDER, mode.key, info, NONCE)
    message_info = _envelope.context(mode.key, mode.skid, TOPIC)
    for what, text in (("missing", NONCE), ("changed", flipped(own, 0) + NONCE), ("zero", bytes(64) + NONCE),
                       ("of another sender", signature(OTHER, mode.key, info, NONCE) + NONCE),
                       ("of another nonce", signature(SENDER, mode.key, info, flipped(NONCE, 0)) + NONCE),
                       ("of a message", signature(SENDER, mode.key, message_info, NONCE) + NONCE)):
        vectors.add(mode, f"signature {what}", "undecryptable", challenge(mode, sealed(mode, text=text)))


def add_answers(vectors: Vectors, mode: Mode) -> str:
    """Answers to one challenge, as its backend judges them. Returns SHA-256 of the expected code."""
    record = json.dumps(mode.key.record(private=False)).encode()
    code = possession.code_of(NONCE, HOST, ID, record)
    digest = b64(hashlib.sha256(code).digest())
    pending = possession.Pending(ID, Registration.from_json(record, requiring=()), digest, AT)

    def add(name: str, failure: Optional[str], at: int = AT, text: Optional[str] = None, **members: Any) -> None:
        body = {name: value for name, value in {"registration": ID, "answer": b64(code), **members}.items() if value is not ...}
        vectors.add_answer(name, failure, json.dumps(body, separators=(",", ":")) if text is None else text, pending, at)

    good = json.dumps({"registration": ID, "answer": b64(code)})
    add("the answer", None)
    add("600 seconds later", None, at=AT + 600)
    add("600 seconds earlier", None, at=AT - 600)
    add("unknown members", None, x=[1])
    add("4,096 bytes", None, text=good + " " * (4_096 - len(good)))
    add("601 seconds later", "challengeExpired", at=AT + 601)
    add("601 seconds earlier", "challengeExpired", at=AT - 601)
    add("of another challenge", "otherChallenge", registration=b64(material("other", 16)))
    for what, wrong in (
        ("changed at its start", flipped(code, 0)), ("changed at its end", flipped(code, -1)), ("zero", bytes(32)),
        ("the nonce", NONCE), ("SHA-256 of the code", hashlib.sha256(code).digest()),
        ("with another nonce", possession.code_of(flipped(NONCE, 0), HOST, ID, record)),
        ("for another host", possession.code_of(NONCE, "push.example.org", ID, record)),
        ("for another id", possession.code_of(NONCE, HOST, ID + "x", record)),
        ("for a record with white space", possession.code_of(NONCE, HOST, ID, record + b" ")),
        ("with the end of the host in the id", possession.code_of(NONCE, HOST[:-1], HOST[-1] + ID, record)),
    ):
        add(f"the code is {what}", "possessionNotProven", answer=b64(wrong))
    for name in ("registration", "answer"):
        add(f"{name} missing", "malformed", **{name: ...})
        add(f"{name} twice", "malformed", text=good.replace("{", '{"%s":"x",' % name))
        for what, value in WRONG_TYPES + (("a number", 1), ("empty", "")):
            add(f"{name} is {what}", "malformed", **{name: value})
    for what, text in (("31 bytes", b64(code[:31])), ("33 bytes", b64(code + b"\0")), ("with padding", b64(code) + "="),
                       ("with a space", " " + b64(code))):
        add(f"answer is {what}", "malformed", answer=text)
    add("registration has a space", "malformed", registration="a b")
    for what, text in (("no JSON", good[:-1]), ("text behind the value", good + "x"), ("an array", f"[{good}]"), ("empty", ""),
                       ("4,097 bytes", good + " " * (4_097 - len(good)))):
        add(what, "malformed", text=text)
    return digest


def main() -> None:
    vectors = Vectors()
    for mode in [Mode(name, signed) for name in RECIPIENTS for signed in (False, True)]:
        # Keys of suite 3 are long: two of their modes are enough.
        if mode.name in ("xwing, signed", "xwing psk, unsigned"):
            continue
        for add in (add_accepted, add_members, add_sealed, add_signer):
            if add is add_members and mode.name not in ("p256 psk, signed", "shared, unsigned"):
                continue
            add(vectors, mode)
    mode = Mode("p256 psk", True)
    digest = add_answers(vectors, mode)
    pending = {"record": json.dumps(mode.key.record(private=False)), "host": HOST, "nonce": b64(NONCE), "registration": ID,
               "codeDigest": digest, "challengedAt": AT}
    annotate.printed("possession-v1", {"challenges": vectors.challenges, "pending": pending, "answers": vectors.answers})


if __name__ == "__main__":
    main()
