"""Writes device-sets-v1.json with the Python package: registration records with day keys (PROTOCOL section 14).

Run with an interpreter that has the package of Senders/python: python make_device_sets.py > device-sets-v1.json
Nothing in it is random: every run makes the same file.
"""
from __future__ import annotations

import hmac
import json
import os
import sys
from typing import Any, Callable, Optional, Sequence

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tests", "Interop", "python"))
sys.dont_write_bytecode = True

from cryptography.hazmat.primitives.hashes import SHA256  # noqa: E402
from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: E402

import annotate  # noqa: E402
from annotate import BACKEND_OF_DAY_KEYS, DEVICE_SETS, SENDER_OF_DAY_KEYS  # noqa: E402
from make_pushcrypt_v1 import AT, DAY, KEYS, XWING_KEYS, made  # noqa: E402
from pushcrypt import PushCryptError, Recipient, Registration, RegistrationChange, StoredRegistration, _device_set  # noqa: E402
from pushcrypt._json import b64, dump  # noqa: E402
from pushcrypt._keys import Key, key_id, lp16  # noqa: E402
from pushcrypt._times import time_text  # noqa: E402
from pushcrypt.sealer import campaign_id  # noqa: E402

KEYS.update(XWING_KEYS)
RECORDS = ("p256 psk", "x25519 psk", "xwing psk")
TODAY = AT - AT % DAY
LIMIT = 32_768
Plan = Sequence[tuple[int, int]]  # (the first day, counted from today; the number of days) of each key
#: The codes of a record that a backend reports as they are. It reports the others as malformed.
OF_UPLOADS = ("unsupportedKey", "invalidKey", "kidMismatch", "wrongKind", "tooLarge", "notAuthentic", "otherRegistration")


def day_key(name: str, number: int) -> Key:
    """The day key with this number of a record."""
    return made(KEYS[name].kind, f"{name}, day key {number}")


def without(members: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The members with changes, of which `...` removes a member."""
    return {member: value for member, value in {**members, **changes}.items() if value is not ...}


def entry(first: int, count: int, flight: int = DAY, **changes: Any) -> dict[str, Any]:
    """The times of a key."""
    end = TODAY + (first + count) * DAY
    return without({"activatesAt": time_text(TODAY + first * DAY), "retiresAt": time_text(end),
                    "expiresAt": time_text(end + flight + 600), "psk": True}, **changes)


def a_set(name: str, plan: Plan = ((0, 1),), flight: int = DAY, seq: int = AT, keys: Any = None, times: Any = None) -> dict[str, Any]:
    """A set with the keys 0, 1, ... for the days of the plan, or with other keys and times."""
    keys = [day_key(name, number).record(private=False) for number in range(len(plan))] if keys is None else keys
    times = {day_key(name, number).kid: entry(*days, flight) for number, days in enumerate(plan)} if times is None else times
    return {"keys": keys, "pushcrypt": {"seq": seq, "registration": KEYS[name].kid, "flight": flight, "keys": times}}


def changed(content: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The set with changes of its member pushcrypt."""
    return {**content, "pushcrypt": without(content["pushcrypt"], **changes)}


def signed(name: str, content: Any, psk: Optional[bytes] = None, kid: Optional[str] = None) -> str:
    """The value of deviceSet, with the MAC of the record, of another psk, or of another kid."""
    text = content if isinstance(content, str) else dump(content)
    key = KEYS[name]
    return f"{b64(_device_set.mac(text.encode(), kid or key.kid, psk or key.psk or bytes(32)))}.{text}"


def record(name: str, device_set: Any, **changes: Any) -> str:
    return json.dumps({**KEYS[name].record(private=False), **changes, "deviceSet": device_set})


def borders(name: str, plan: Plan) -> list[list[Any]]:
    """The first and the last second of each key, and the seconds beside them, with the kid that a sender uses."""
    found: dict[int, Optional[str]] = {}
    for number, (first, count) in enumerate(plan):
        start, end = TODAY + first * DAY, TODAY + (first + count) * DAY
        kid = day_key(name, number).kid
        found.update({start: kid, end - 1: kid})
        found.setdefault(start - 1, None)
        found.setdefault(end, None)
    return [[at, found[at]] for at in sorted(found)]


def other_record(name: str) -> str:
    return RECORDS[RECORDS.index(name) - 1]


class Vectors:
    """Collects records, each checked against the package."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, name: str, what: str, text: str, failure: Optional[str] = None, *, of_upload: Optional[str] = None,
            at: Sequence[Sequence[Any]] = (), fails_at: Sequence[int] = (), flight: Optional[int] = DAY, rule: str = DEVICE_SETS) -> None:
        """`of_upload`: the failure that only the check of every key finds."""
        if failure is not None:
            of_upload = failure if failure in OF_UPLOADS else "malformed"
        vector = {"name": f"{name}: {what}", "rule": rule, "failure": failure, "failureOfUpload": of_upload,
                  "flight": flight if failure is None else None, "at": [list(one) for one in at], "failsAt": list(fails_at), "text": text}
        assert code_of(lambda: Recipient.from_jwk(text)) == failure, (vector["name"], code_of(lambda: Recipient.from_jwk(text)))
        upload = code_of(lambda: Registration.from_json(text, requiring=()))
        assert upload == of_upload, (vector["name"], upload)
        if failure is None:
            key = Recipient.from_jwk(text)._key
            for time, kid in at:
                used = key.of_day(time)
                assert (used and used.kid) == kid, (vector["name"], time)
            for time in fails_at:
                assert code_of(lambda: key.of_day(time)) == of_upload, (vector["name"], time)
        self.found.append(vector)

    def refused(self, name: str, what: str, content: Any, failure: str = "malformed") -> None:
        """A set with the right MAC and another fault."""
        self.add(name, what, record(name, signed(name, content)), failure)


def code_of(call: Callable[[], Any]) -> Optional[str]:
    try:
        call()
    except PushCryptError as error:
        return error.code
    return None


def add_days(vectors: Vectors, name: str) -> None:
    """Which key a sender uses."""
    for what, plan, flight in (
        ("one day", ((0, 1),), DAY), ("seven days", ((0, 7),), DAY), ("a flight of seven days", ((0, 1),), 7 * DAY),
        ("keys of one, three and seven days", ((0, 1), (1, 3), (4, 7)), 2 * DAY), ("gaps between the days", ((-2, 1), (0, 1), (3, 2)), DAY),
        ("days in another order", ((2, 1), (0, 1), (1, 1)), DAY), ("past days", ((-9, 1), (-8, 1)), DAY),
        ("16 keys", tuple((day, 1) for day in range(-1, 15)), DAY), ("leap day", ((410, 1), (411, 1)), 100_000),
    ):
        vectors.add(name, what, record(name, signed(name, a_set(name, plan, flight))), at=borders(name, plan), flight=flight,
                    rule=SENDER_OF_DAY_KEYS)


def add_accepted(vectors: Vectors, name: str) -> None:
    """Other texts of a set of one day."""
    kid, at = day_key(name, 0).kid, borders(name, ((0, 1),))
    midnight, end = "2027-01-15T00:00:00", "2027-01-16T00:00:00"

    def add(what: str, content: Any) -> None:
        vectors.add(name, what, record(name, signed(name, content)), at=at)

    for what, value in (("0", 0), ("2^53 - 1", 2**53 - 1)):
        add(f"seq {what}", a_set(name, seq=value))
    add("members that nobody knows", {**changed(a_set(name), more=None), "more": [1]})
    add("a key with members that nobody knows", a_set(name, keys=[{**day_key(name, 0).record(private=False), "use": "enc"}]))
    add("white space around the set", f" \n{json.dumps(a_set(name), indent=1)}\n")
    add("escapes in the set", dump(a_set(name)).replace('"seq"', '"\\u0073eq"').replace("keys", "k\\u0065ys"))
    for what, times in (
        ("an offset for the same moment", entry(0, 1, activatesAt="2027-01-15T02:00:00+02:00", retiresAt="2027-01-15T19:00:00-05:00")),
        ("fractions of a second", entry(0, 1, activatesAt=f"{midnight}.9Z", retiresAt=f"{end}.5Z")),
        ("a leap second", entry(0, 1, activatesAt="2027-01-14T23:59:60Z")),
        ("small letters in the times", entry(0, 1, activatesAt=f"{midnight}Z".lower())),
    ):
        add(what, a_set(name, times={kid: times}))
    text = signed(name, a_set(name))
    plain = json.dumps({**KEYS[name].record(private=False), "deviceSet": ""})
    for what, escaped in (("every character escaped in the record", "".join(f"\\u{ord(one):04x}" for one in text)),
                          ("slashes and capital escapes in the record", text.replace('"', "\\u0022").replace("A", "\\u0041"))):
        vectors.add(name, what, plain.replace('"deviceSet": ""', f'"deviceSet": "{escaped}"'), at=at)
    if name == RECORDS[0]:
        for size, failure in ((LIMIT, None), (LIMIT + 1, "tooLarge")):
            padded = signed(name, dump(a_set(name)) + " " * (size - len(text)))
            vectors.add(name, f"{size:,} bytes", record(name, padded), failure, at=at)
        letters = dump({**a_set(name), "more": "é\u2028😀" * 9})
        for size, failure in ((LIMIT, None), (LIMIT + 1, "tooLarge")):
            padded = signed(name, letters + " " * (size - len(signed(name, letters).encode())))
            vectors.add(name, f"{size:,} bytes in fewer characters", record(name, padded), failure, at=at)
    whole = record(name, text)
    for what, size, failure in (("4,096 bytes beside the set", 4_096, None), ("4,150 bytes beside the set", 4_150, "tooLarge")):
        vectors.add(name, what, whole + " " * (size + len(json.dumps(text)) - len(whole)), of_upload=failure, at=at,
                    rule=BACKEND_OF_DAY_KEYS)


def add_forms(vectors: Vectors, name: str) -> None:
    """The MAC and the dot."""
    text = signed(name, a_set(name))
    mac, _, content = text.partition(".")
    seq = next(one for one in range(AT, AT + 100) if not signed(name, a_set(name, seq=one))[:43].isalnum())
    other = signed(name, a_set(name, seq=seq))
    last = next(one for one in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" if _same_byte(mac, mac[:-1] + one))
    for what, value, failure in (
        ("MAC of another psk", signed(name, a_set(name), psk=bytes(32)), "notAuthentic"),
        ("MAC of another kid", signed(name, a_set(name), kid="AAAAAAAAAAA"), "notAuthentic"),
        ("the set of another record", signed(other_record(name), a_set(other_record(name))), "notAuthentic"),
        ("another byte in the set", text.replace(f'"seq":{AT}', f'"seq":{AT + 1}'), "notAuthentic"),
        ("another character in the MAC", ("B" if mac[0] != "B" else "C") + text[1:], "notAuthentic"),
        ("cut short", text[:-1], "notAuthentic"), ("a line break behind it", text + "\n", "notAuthentic"),
        ("no JSON, and the MAC of the set", mac + ".{", "notAuthentic"),
        ("the MAC and a dot alone", mac + ".", "notAuthentic"), ("the MAC alone", mac, "malformed"), ("empty", "", "malformed"),
        ("no dot", mac + content, "malformed"), ("a colon for the dot", f"{mac}:{content}", "malformed"),
        ("the set alone", content, "malformed"), ("a MAC of 31 bytes", f"{mac[:42]}.{content}", "malformed"),
        ("a MAC with padding", f"{mac}=.{content}", "malformed"), ("a MAC with trailing bits", f"{mac[:-1]}{last}.{content}", "malformed"),
        ("a MAC in base64's alphabet", other[:43].replace("-", "+").replace("_", "/") + other[43:], "malformed"),
        ("white space before it", " " + text, "malformed"),
        ("null", None, "malformed"), ("a number", 1, "malformed"), ("an object", a_set(name), "malformed"), ("an array", [text], "malformed"),
    ):
        vectors.add(name, what, record(name, value), failure)
    text = record(name, text)
    vectors.add(name, "deviceSet twice", text[:-1] + ', "deviceSet": ""}', "malformed")


def _same_byte(mac: str, other: str) -> bool:
    """Whether the texts differ only in the bits that no byte has."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return mac != other and alphabet.index(mac[-1]) >> 2 == alphabet.index(other[-1]) >> 2


def add_texts(vectors: Vectors, name: str) -> None:
    """Sets with the right MAC that aren't strict JSON or lack something."""
    text = dump(a_set(name))
    for what, content in (
        ("no JSON", "{"), ("no text", " "), ("an array", f"[{text}]"), ("bytes behind the JSON", text + "x"),
        ("a byte order mark", "\ufeff" + text), ("seq twice", text.replace('"seq"', '"seq":1,"seq"')),
        ("keys twice", text[:-1] + ',"keys":[]}'), ("a kid twice in a key", text.replace('"kid"', '"kid":"AAAAAAAAAAA","kid"', 1)),
        ("an entry twice", text.replace(f'"{day_key(name, 0).kid}":{{', f'"{day_key(name, 0).kid}":{{}},"{day_key(name, 0).kid}":{{')),
        ("a time twice", text.replace('"retiresAt"', '"retiresAt":"2027-01-16T00:00:00Z","retiresAt"')),
        ("a lone surrogate", text[:-1] + ',"x":"\\ud800"}'), ("levels", text[:-1] + ',"x":' + "[" * 64 + "]" * 64 + "}"),
    ):
        vectors.refused(name, f"set with {what}", content)
    for what, value in (("missing", ...), ("negative", -1), ("2^53", 2**53), ("a fraction", 1.5), ("a string", "1"), ("null", None),
                        ("true", True)):
        vectors.refused(name, f"seq {what}", changed(a_set(name), seq=value))
    vectors.refused(name, "seq with an exponent", text.replace(f'"seq":{AT}', '"seq":18e8'))
    for what, value in (("missing", ...), ("86,399", DAY - 1), ("604,801", 7 * DAY + 1), ("a string", "86400"), ("null", None), ("0", 0)):
        times = {day_key(name, 0).kid: entry(0, 1, value if isinstance(value, int) else DAY)}
        vectors.refused(name, f"flight {what}", changed(a_set(name, times=times), flight=value))
    for token in ("1e5", "100000.0"):
        vectors.refused(name, f"flight {token}", dump(a_set(name, flight=100_000)).replace('"flight":100000', f'"flight":{token}'))
    for what, value in (("another kid", "AAAAAAAAAAA"), ("missing", ...), ("a number", 1), ("null", None)):
        vectors.refused(name, f"registration {what}", changed(a_set(name), registration=value), "otherRegistration")
    for what, value in (("missing", ...), ("null", None), ("an array", [])):
        vectors.refused(name, f"pushcrypt.keys {what}", changed(a_set(name), keys=value))
        vectors.refused(name, f"keys {what}", without(a_set(name), keys={} if value == [] else value))
        vectors.refused(name, f"pushcrypt {what}", without(a_set(name), pushcrypt=value))


def add_entries(vectors: Vectors, name: str) -> None:
    """The times of the keys."""
    first, second = day_key(name, 0), day_key(name, 1)
    jwk, other = first.record(private=False), second.record(private=False)
    refused = lambda what, content, failure="malformed": vectors.refused(name, what, content, failure)
    refused("a key twice", a_set(name, keys=[jwk, jwk], times={first.kid: entry(0, 1), second.kid: entry(1, 1)}), "duplicateKey")
    refused("the record's own key", a_set(name, keys=[KEYS[name].record(private=False)], times={KEYS[name].kid: entry(0, 1)}), "duplicateKey")
    refused("a key without an entry", a_set(name, keys=[jwk, other], times={first.kid: entry(0, 1)}))
    refused("an entry without a key", a_set(name, keys=[jwk], times={first.kid: entry(0, 1), second.kid: entry(1, 1)}))
    refused("an entry of another key", a_set(name, times={second.kid: entry(0, 1)}))
    refused("no keys", a_set(name, keys=[], times={}))
    refused("17 keys", a_set(name, tuple((day, 1) for day in range(17))))
    for what, value in (("missing", ...), ("a number", 1), ("of 10 characters", first.kid[:-1])):
        refused(f"kid {what}", a_set(name, keys=[without(jwk, kid=value)]))
    refused("a key null", a_set(name, keys=[None]))
    for member in ("activatesAt", "retiresAt", "expiresAt", "psk"):
        refused(f"{member} missing", a_set(name, times={first.kid: entry(0, 1, **{member: ...})}))
        refused(f"{member} null", a_set(name, times={first.kid: entry(0, 1, **{member: None})}))
    for member in ("createdAt", "revokedAt", "destroyedAt", "x"):
        refused(f"{member} in an entry", a_set(name, times={first.kid: entry(0, 1, **{member: time_text(TODAY)})}))
    for what, times in (
        ("an entry null", None), ("psk false", entry(0, 1, psk=False)), ("psk 1", entry(0, 1, psk=1)),
        ("activatesAt a second after midnight", entry(0, 1, activatesAt="2027-01-15T00:00:01Z")),
        ("retiresAt a second before midnight", entry(0, 2, retiresAt="2027-01-16T23:59:59Z")),
        ("noon to noon", entry(0, 1, activatesAt="2027-01-15T12:00:00Z", retiresAt="2027-01-16T12:00:00Z",
                               expiresAt="2027-01-17T12:10:00Z")),
        ("midnight of another zone", entry(0, 1, activatesAt="2027-01-15T00:00:00+01:00")),
        ("a time without an offset", entry(0, 1, activatesAt="2027-01-15T00:00:00")), ("a time as a number", entry(0, 1, activatesAt=TODAY)),
        ("no days", entry(0, 0)), ("minus one day", entry(0, -1)), ("8 days", entry(0, 8)),
        ("expiresAt a second early", entry(0, 1, DAY - 1)), ("expiresAt a second late", entry(0, 1, DAY + 1)),
        ("expiresAt without the 10 minutes", entry(0, 1, DAY - 600)), ("expiresAt 30 days late", entry(0, 1, 30 * DAY)),
    ):
        refused(what, a_set(name, times={first.kid: times}))
    for what, plan in (("two keys for one day", ((0, 1), (0, 1))), ("two keys for the last day", ((0, 3), (2, 1))),
                       ("a day within the days of another key", ((0, 7), (3, 1)))):
        refused(what, a_set(name, plan))


def add_keys(vectors: Vectors, name: str) -> None:
    """A key that only the check of every key finds, beside a good one."""
    good, bad = day_key(name, 0), day_key(name, 1)
    public, jwk = bad.public, bad.record(private=False)
    kind = bad.kind
    other = made({"p256": "x25519", "x25519": "xwing", "xwing": "x25519"}[kind], f"{name}, day key of another suite")
    nested = json.loads(record(name, signed(name, a_set(name))))
    off = {"p256": public[:-1] + bytes([public[-1] ^ 1]), "x25519": bytes(32), "xwing": public[:-32] + bytes(32)}[kind]
    flawed = {**jwk, **Key(kind, key_id(kind, off), off).record()}
    invalid: list[tuple[str, dict[str, Any], str]] = [
        ("a point off the curve" if kind == "p256" else "a point of small order", flawed, "invalidKey"),
        ("a private key", bad.record(), "wrongKind"), ("a psk", {**jwk, "psk": b64(bytes(32))}, "wrongKind"),
        ("a key of another suite", other.record(private=False), "wrongKind"), ("a sender's key", KEYS["sender"].record(private=False), "wrongKind"),
        ("a shared key", KEYS["shared"].record(), "wrongKind"), ("a device set of its own", {**jwk, "deviceSet": nested["deviceSet"]}, "wrongKind"),
        ("the kid of another key", {**jwk, "kid": "AAAAAAAAAAA"}, "kidMismatch"), ("another alg", {**jwk, "alg": "HPKE-0"}, "unsupportedKey"),
        ("a kty that nobody knows", {**jwk, "kty": "RSA"}, "unsupportedKey"),
        ("a coordinate cut short", {**jwk, **({"pub": jwk["pub"][:-2]} if kind == "xwing" else {"x": jwk["x"][:-2]})}, "malformed"),
    ]
    if kind == "xwing":
        low = (3_329).to_bytes(2, "little") + public[2:]
        invalid.append(("the coefficient 3,329", {**jwk, **Key(kind, key_id(kind, low), low).record()}, "invalidKey"))
    for what, given, failure in invalid:
        times = {good.kid: entry(0, 1), given["kid"]: entry(1, 1)}
        text = record(name, signed(name, a_set(name, keys=[good.record(private=False), given], times=times)))
        vectors.add(name, f"key with {what}" if what[:2] in ("a ", "th", "an") else what, text, of_upload=failure,
                    at=[[TODAY, good.kid], [TODAY - 1, None]], fails_at=[TODAY + DAY], rule=BACKEND_OF_DAY_KEYS)


def add_records_without_psk(vectors: Vectors) -> None:
    for name in ("p256", "x25519", "xwing"):
        vectors.add(name, "a set in a record without psk", record(name, signed(name, a_set(name))), "pskMissing")


def campaigns() -> list[dict[str, Any]]:
    """Message ids of campaigns, which have the record's kid on a day with a key and on one without."""
    found = []
    for name in RECORDS:
        text = record(name, signed(name, a_set(name)))
        for campaign in ("x", "Fr\u00fchling"):
            found.append({"name": f"{name}: {campaign}", "rule": SENDER_OF_DAY_KEYS, "campaign": campaign,
                          "id": b64(campaign_id(campaign, KEYS[name])), "at": [[TODAY, day_key(name, 0).kid], [TODAY + DAY, None]], "text": text})
    return found


def changes() -> list[dict[str, Any]]:
    """An upload over a stored record of the same account and device token."""
    found = []
    for name in RECORDS:
        today, later = a_set(name), a_set(name, seq=AT + 1)
        old, other = record(name, signed(name, today)), record(name, signed(name, {**today, "more": 1}))
        plain = json.dumps(KEYS[name].record(private=False))
        new = other_record(name)
        for what, upload, stored, is_written, failure in (
            ("the same record", old, old, False, None), ("a higher seq", record(name, signed(name, later)), old, True, None),
            ("the next days", record(name, signed(name, a_set(name, ((0, 1), (1, 1)), seq=AT + 1))), old, True, None),
            ("a lower seq", old, record(name, signed(name, later)), None, "rolledBack"),
            ("seq 0 after 2^53 - 1", record(name, signed(name, a_set(name, seq=0))), record(name, signed(name, a_set(name, seq=2**53 - 1))),
             None, "rolledBack"),
            ("the same seq and other bytes", other, old, None, "conflict"), ("the same set and other bytes around it", old + " ", old, True, None),
            ("a first set", old, plain, True, None), ("a record without its set", plain, old, True, None),
            ("a lower seq with another psk", record(name, signed(name, a_set(name, seq=0), psk=bytes(32)), psk=b64(bytes(32))), old, None, "conflict"),
            ("a lower seq of another key", record(new, signed(new, a_set(new, seq=0))), old, None if name == "xwing psk" else True,
             "suiteTooLow" if name == "xwing psk" else None),
        ):
            rows = [StoredRegistration(Registration.from_json(one, requiring=()), "alice", "t1") for one in (upload, stored)]
            try:
                made_ = RegistrationChange.storing(rows[0], over=rows[1:], is_proven=False)
                assert (failure, is_written) == (None, made_.is_written), (name, what)
            except PushCryptError as error:
                assert error.code == failure, (name, what, error)
            found.append({"name": f"{name}: {what}", "rule": BACKEND_OF_DAY_KEYS, "failure": failure, "isWritten": is_written,
                          "stored": stored, "upload": upload})
    return found


def set_key(key: Key) -> bytes:
    """K_set"""
    return HKDF(SHA256(), 32, b"", b"pushcrypt/1 device set\0" + lp16(key.kid)).derive(key.psk or b"")


def mac() -> dict[str, str]:
    """The key and the MAC of one set."""
    key, content = KEYS["p256 psk"], dump(a_set("p256 psk"))
    assert key.psk is not None and hmac.digest(set_key(key), content.encode(), "sha256") == _device_set.mac(content.encode(), key.kid, key.psk)
    return {"kid": key.kid, "psk": b64(key.psk), "set": content, "key": b64(set_key(key)),
            "mac": b64(_device_set.mac(content.encode(), key.kid, key.psk))}


def main() -> None:
    vectors = Vectors()
    for name in RECORDS:
        for add in (add_days, add_accepted, add_forms, add_texts, add_entries, add_keys):
            add(vectors, name)
    add_records_without_psk(vectors)
    keys = {key.kid: key.record() for name in RECORDS for key in (day_key(name, number) for number in range(16))}
    annotate.printed("device-sets-v1", {"mac": mac(), "keys": keys, "vectors": vectors.found, "campaigns": campaigns(), "changes": changes()})


if __name__ == "__main__":
    main()
