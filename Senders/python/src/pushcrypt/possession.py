"""Proof of possession (PROTOCOL section 13): the device shows that it has the private key of its registration record."""
from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import time
from dataclasses import dataclass
from typing import Any, Callable, Union

from . import _envelope
from ._json import Obj, b64, is_integer, parse, raw_bytes, unb64
from ._keys import checked_topic, lp16
from .errors import Flaw, OpenError, PossessionError
from .keys import Signer
from .opener import Envelope, Opener, check_version
from .registration import Registration

VALIDITY_IN_SECONDS = 600
MAX_SIZE = 4_096
NONCE_SIZE = 32
_REGISTRATION_ID = re.compile("[A-Za-z0-9_-]{1,64}")
_HOST = re.compile("[a-z0-9.-]{1,253}")


@dataclass(frozen=True)
class Pending:
    """What the backend stores until the device answers, under its `id`. It is as secret as the record. Remove it from the store
    before you call `confirm`, with `DELETE ... RETURNING`, so that a challenge has one answer."""

    id: str
    registration: Registration
    """The upload. Don't seal to it before the device has answered."""
    code_digest: str
    """SHA-256 of the expected code, base64url. A reader of this value can't answer."""
    challenged_at: int

    def to_json(self) -> str:
        """For a column of a database, as `pushcrypt registrations` and the Swift library write it."""
        registration = {"version": 1, "kid": self.registration.kid, "hasPSK": self.registration.recipient._key.psk is not None,
                        "record": self.registration.record.decode("utf-8")}
        return json.dumps({"version": 1, "id": self.id, "registration": registration, "codeDigest": self.code_digest,
                           "challengedAt": self.challenged_at}, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: Union[bytes, str]) -> Pending:
        """Reads what `to_json` wrote. Raises PossessionError `malformed`; KeyRecordError `pskMissing` for a record that lost its psk."""
        try:
            root = parse(raw_bytes(text))[0]
            stored = root.get("registration")
            if not isinstance(stored, Obj) or (root.get("version"), stored.get("version")) != (1, 1):
                raise Flaw("it has another version or form")
            if not isinstance(stored.get("record"), str) or not is_integer(root.get("challengedAt")):
                raise Flaw("record isn't a string, or challengedAt no number of seconds")
            unb64(root.get("codeDigest"), 32, "codeDigest")
            registration = Registration.from_json(stored["record"], requiring=("psk",) if stored.get("hasPSK") is True else ())
            if (stored.get("kid"), stored.get("hasPSK")) != (registration.kid, registration.recipient._key.psk is not None):
                raise Flaw("the record was replaced")
            return cls(_registration_id(root.get("id")), registration, root["codeDigest"], root["challengedAt"])
        except Flaw as flaw:
            raise PossessionError("malformed", f"the pending registration: {flaw.reason}") from None

    @staticmethod
    def id_of(answer: Union[bytes, str]) -> str:
        """The `id` of the pending registration that an answer is for. Raises PossessionError `malformed`."""
        return _read_answer(answer)[0]

    def confirm(self, answer: Union[bytes, str], *, clock: Callable[[], float] = time.time) -> Registration:
        """Returns the registration. The device has the private key and the psk of its record.

        Raises PossessionError: `malformed`, `otherChallenge`, `challengeExpired`, `possessionNotProven`.
        """
        registration, code = _read_answer(answer)
        if registration != self.id:
            raise PossessionError("otherChallenge", "the answer is for another challenge")
        if abs(int(clock()) - self.challenged_at) > VALIDITY_IN_SECONDS:
            raise PossessionError("challengeExpired", "the answer isn't within 10 minutes of the challenge")
        if not hmac.compare_digest(hashlib.sha256(code).digest(), unb64(self.code_digest, 32)):
            raise PossessionError("possessionNotProven", "the answer was made with another key, or for another record or host; the "
                                  "record counts byte for byte")
        return self.registration


@dataclass(frozen=True)
class Challenge:
    """A challenge for one upload."""

    json: str
    """The body of the response to the upload."""
    pending: Pending


def challenge(
    registration: Registration, *, host: str, topic: str, signer: Signer | None = None,
    clock: Callable[[], float] = time.time
) -> Challenge:
    """Makes a challenge for an uploaded registration record.

    `host` is the one that the app registers with, in lower case and without port. `signer` is that of a `Sealer`. Raises
    PossessionError `invalidOption` for another host, and KeyRecordError `invalidTopic`, `noKeySeals`, `wrongKind`.
    """
    host, topic = _checked_host(host, "invalidOption"), checked_topic(topic)
    key, now = registration.recipient._key, clock()
    signing = signer.sender_key(now)._key if signer is not None else None
    identifier, nonce = b64(os.urandom(16)), os.urandom(NONCE_SIZE)
    sealed = _envelope.seal(key, signing, topic, nonce, is_challenge=True)
    text: dict[str, Any] = {"v": 1, "registration": identifier, "kid": key.kid, "sealed": b64(sealed)}
    if signing is not None:
        text["skid"] = signing.kid
    digest = hashlib.sha256(code_of(nonce, host, identifier, registration.record)).digest()
    return Challenge(json.dumps(text, separators=(",", ":")), Pending(identifier, registration, b64(digest), int(now)))


def code_of(nonce: bytes, host: str, registration: str, record: bytes) -> bytes:
    """HMAC-SHA256(nonce, "pushcrypt/1 possession" ‖ 0x00 ‖ lp16(host) ‖ lp16(RID) ‖ SHA-256(record))"""
    text = b"pushcrypt/1 possession\x00" + lp16(host) + lp16(registration) + hashlib.sha256(record).digest()
    return hmac.digest(nonce, text, "sha256")


def answer(challenge: Union[bytes, str], *, record: bytes, host: str, opener: Opener) -> str:
    """Answers as the device does, for tests. Raises OpenError with the class of PROTOCOL section 8."""
    _checked_host(host, "invalidHost")
    registration, envelope = _read_challenge(raw_bytes(challenge))
    nonce, _, _ = opener._open_envelope(envelope, int(opener._clock()), is_challenge=True)
    if len(nonce) != NONCE_SIZE:
        raise OpenError("malformed", f"the challenge's plaintext isn't {NONCE_SIZE} bytes long")
    code = code_of(nonce, host, registration, record)
    return json.dumps({"registration": registration, "answer": b64(code)}, separators=(",", ":"))


def _checked_host(host: str, code: str) -> str:
    if not isinstance(host, str) or not _HOST.fullmatch(host):
        raise PossessionError(code, "a host has 1 to 253 characters of a-z 0-9 . - and no port")
    return host


def _registration_id(value: Any) -> str:
    if not isinstance(value, str) or not _REGISTRATION_ID.fullmatch(value):
        raise Flaw("registration isn't 1 to 64 characters of A-Z a-z 0-9 _ -")
    return value


def _root(text: bytes) -> Any:
    if len(text) > MAX_SIZE:
        raise Flaw(f"it has more than {MAX_SIZE:,} bytes")
    return parse(text)[0]


def _read_challenge(text: bytes) -> tuple[str, Envelope]:
    """{"v": 1, "registration": RID, "kid": KID, "sealed": BASE64URL [, "skid": KID]}"""
    try:
        root = _root(text)
        check_version(root)
        return _registration_id(root.get("registration")), Envelope.of(root)
    except Flaw as flaw:
        raise OpenError("malformed", f"the challenge: {flaw.reason}") from None


def _read_answer(text: Union[bytes, str]) -> tuple[str, bytes]:
    """{"registration": RID, "answer": BASE64URL(32 bytes)}"""
    try:
        root = _root(raw_bytes(text))
        return _registration_id(root.get("registration")), unb64(root.get("answer"), 32, "answer")
    except Flaw as flaw:
        raise PossessionError("malformed", f"the answer: {flaw.reason}") from None
