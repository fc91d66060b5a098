"""Writes sender-refusals-v1.json with the Python package: what every sender refuses, beside what it accepts.

Run with an interpreter that has the package of Senders/python: python make_sender_refusals.py > sender-refusals-v1.json
Nothing in the file is random, so every run makes the same file.
"""
from __future__ import annotations

import json
from typing import Any, Callable, Optional

import annotate
from make_envelopes import KEYS, PushCryptError, b64, material, support
from make_pushcrypt_v1 import AT, DAY, TOPIC
from pushcrypt.sealer import campaign_id

INNER = '{"aps":{"alert":"x"}}'
NAMES = ("p256", "p256 psk", "x25519", "x25519 psk", "shared", "device")
#: The records as a sender has them, without private keys, and the sender's own key.
RECORDS = {name: KEYS[name].record(private=False) for name in NAMES}
RECORDS["sender"] = KEYS["sender"].record()
ID = b64(material("refusals", 16))
AVATAR = {"url": "https://cdn.example.com/a", "key": b64(material("key")), "size": 5, "sha256": b64(material("digest")),
          "type": "image/png", "use": "avatar"}
ATTACHMENT = {name: value for name, value in AVATAR.items() if name != "use"}


def outcome(call: Callable[[], Any]) -> Optional[str]:
    try:
        call()
    except PushCryptError as error:
        return error.code
    return None


class Vectors:
    """Collects cases, each checked against the package."""

    def __init__(self) -> None:
        self.found: dict[str, list[dict[str, Any]]] = {"seal": [], "register": [], "store": [], "challenge": []}

    def add(self, kind: str, run: Callable[[dict[str, Any]], Any], name: str, failure: Optional[str], **case: Any) -> None:
        entry = {"name": name, "failure": failure, **case}
        found = outcome(lambda: run(entry))
        assert found == failure, (kind, name, found)
        assert all(other["name"] != name for other in self.found[kind]), name
        self.found[kind].append(entry)

    def seal(self, name: str, failure: Optional[str], payload: str = INNER, to: str = "device", signed: bool = False,
             placeholder: Any = None, **options: Any) -> None:
        self.add("seal", lambda entry: support.seal_case(entry, TOPIC, AT, RECORDS), name, failure, payload=payload, to=to,
                 isSigned=signed, placeholder=placeholder or {"title": "New message"}, options=options)

    def register(self, name: str, failure: Optional[str], record: Any, requiring: tuple[str, ...] = ()) -> None:
        text = record if isinstance(record, str) else json.dumps(record)
        self.add("register", support.register_case, name, failure, record=text, requiring=list(requiring))

    def store(self, name: str, failure: Optional[str], upload: Any, stored: list[Any], removed: Any = (), written: bool = True,
              proven: bool = False, lower: bool = False) -> None:
        self.add("store", support.store_case, name, failure, upload=upload, stored=stored, isProven=proven,
                 allowsLowerSuite=lower, isWritten=written and failure is None, removed=list(removed))

    def challenge(self, name: str, failure: Optional[str], record: Any, host: str = "push.example.com") -> None:
        text = record if isinstance(record, str) else json.dumps(record)
        self.add("challenge", lambda entry: support.challenge_case(entry, TOPIC, AT), name, failure, record=text, host=host)


def add_payloads(vectors: Vectors) -> None:
    vectors.seal("an alert", None)
    for name, payload in (
        ("an empty payload", ""), ("a payload that is no JSON", "{"), ("an array", "[]"), ("a payload without aps", "{}"),
        ("aps is an array", '{"aps":[]}'), ("no alert", '{"aps":{"badge":1}}'), ("an alert that is null", '{"aps":{"alert":null}}'),
        ("an alert that is a number", '{"aps":{"alert":1}}'), ("an empty alert", '{"aps":{"alert":""}}'),
        ("an alert of spaces", '{"aps":{"alert":"   "}}'), ("an alert of a zero width space", '{"aps":{"alert":"\u200b"}}'),
        ("a title of white space", '{"aps":{"alert":{"title":" \\n","body":""}}}'),
        ("a loc-key of white space", '{"aps":{"alert":{"loc-key":" "}}}'),
        ("a duplicate name", '{"aps":{"alert":"x","alert":"y"}}'), ("a lone surrogate", '{"aps":{"alert":"\\ud800"}}'),
        ("a byte order mark", "\ufeff" + INNER), ("bytes behind the payload", INNER + "x"),
        ("65 levels", INNER[:-1] + ',"y":' + "[" * 64 + "]" * 64 + "}"),
        ("a pushcrypt member", INNER[:-1] + ',"pushcrypt":null}'),
    ):
        vectors.seal(name, "invalidPayload", payload)
    vectors.seal("64 levels", None, INNER[:-1] + ',"y":' + "[" * 63 + "]" * 63 + "}")
    vectors.seal("a long body", "tooLarge", '{"aps":{"alert":"%s"}}' % ("x" * 4_000))
    vectors.seal("a low limit", "tooLarge", limit=200)


def add_placeholders(vectors: Vectors) -> None:
    for name, members in (
        ("an empty title", {"title": ""}), ("a title of spaces", {"title": "  "}), ("a body of a zero width space", {"body": "\u200b"}),
        ("a loc-key of white space", {"loc-key": "\t"}), ("only a subtitle's key", {"subtitle-loc-key": "K"}),
    ):
        vectors.seal(f"a placeholder with {name}", "invalidPlaceholder", placeholder=members)
    for name in ("title", "subtitle", "body", "loc-key", "title-loc-key"):
        vectors.seal(f"a placeholder with {name}", None, placeholder={name: "x"})


def add_options(vectors: Vectors) -> None:
    for seconds, failure in ((0, "invalidOption"), (1, None), (30 * DAY, None), (30 * DAY + 1, "invalidOption")):
        vectors.seal(f"a lifetime of {seconds} seconds", failure, expiresAfter=seconds)
    for limit in (0, 4_097):
        vectors.seal(f"a limit of {limit}", "invalidOption", limit=limit)
    for name, failure in (("", "invalidOption"), ("x" * 255, None), ("x" * 256, "invalidOption")):
        vectors.seal(f"a campaign of {len(name)} bytes", failure, campaign=name)
    for name in ("alert", "mutable-content", "a b", "x" * 65, ""):
        vectors.seal(f"exposes a member named '{name[:20]}'", "invalidOption", exposed=[name])
    vectors.seal("exposes 33 names", "invalidOption", exposed=["badge"] * 33)
    vectors.seal("exposes a missing member", "notExposable", exposed=["badge"])
    for name, value, failure in (
        ("badge", "3", None), ("badge", '"3"', "notExposable"), ("badge", "true", "notExposable"), ("badge", "-1", "notExposable"),
        ("category", '"c"', None), ("category", "1", "notExposable"), ("content-available", "1", None),
        ("content-available", "true", "notExposable"), ("interruption-level", '"passive"', None),
        ("interruption-level", '"loud"', "notExposable"), ("relevance-score", "0.5", None), ("relevance-score", "1e400", "notExposable"),
        ("sound", '{"name":"s","critical":1,"volume":0.5}', None), ("sound", '{"critical":true}', "notExposable"),
        ("sound", '{"volume":1.5}', "notExposable"), ("x", "true", None), ("x", "null", "notExposable"), ("x", "{}", "notExposable"),
    ):
        payload = '{"aps":{"alert":"x","%s":%s}}' % (name, value)
        vectors.seal(f"exposes {name}: {value}", failure, payload, exposed=[name])


def add_instructions(vectors: Vectors) -> None:
    own = b64(campaign_id("c", KEYS["device"]))
    for name, options, failure in (
        ("retracts an id", {"retract": [ID]}, None), ("retracts no id", {"retract": []}, None),
        ("retracts an id twice", {"retract": [ID, ID]}, "invalidOption"),
        ("retracts its own id", {"retract": [own], "campaign": "c"}, "invalidOption"),
        ("retracts an id of 15 bytes", {"retract": [b64(bytes(15))]}, "invalidOption"),
        ("retracts an id with padding", {"retract": [ID + "=="]}, "invalidOption"),
        ("retracts 17 ids", {"retract": [b64(material(f"retracted {index}", 16)) for index in range(17)]}, "invalidOption"),
        ("adds 999 to the badge", {"badgeAdd": 999}, None), ("adds 1,000 to the badge", {"badgeAdd": 1_000}, "invalidOption"),
        ("takes 1,000 from the badge", {"badgeAdd": -1_000}, "invalidOption"), ("is quiet", {"quiet": True}, None),
        ("is quiet with an attachment", {"quiet": True, "attachments": [ATTACHMENT]}, "invalidOption"),
        ("has two avatars", {"attachments": [AVATAR, {**AVATAR, "url": "https://cdn.example.com/b"}]}, "invalidOption"),
        ("has nine attachments", {"attachments": [ATTACHMENT] * 9}, "invalidOption"),
    ):
        vectors.seal(name, failure, **options)
    sound = '{"aps":{"alert":"x","sound":"s"}}'
    vectors.seal("is quiet and exposes its sound", "invalidOption", sound, quiet=True, exposed=["sound"])
    vectors.seal("adds to the badge and sets it", "invalidPayload", '{"aps":{"alert":"x","badge":1}}', badgeAdd=1)
    for what, options in (("retracts", {"retract": [ID]}), ("is quiet", {"quiet": True}), ("adds to the badge", {"badgeAdd": 1}),
                          ("has an avatar", {"attachments": [AVATAR]})):
        for to in ("p256", "x25519"):
            vectors.seal(f"unsigned to {to}, {what}", "notAuthenticated", to=to, **options)
            vectors.seal(f"signed to {to}, {what}", None, to=to, signed=True, **options)
        vectors.seal(f"unsigned to p256 psk, {what}", None, to="p256 psk", **options)


def add_keys(vectors: Vectors) -> None:
    vectors.seal("to a shared key where a device's key is required", "deviceMissing", to="shared", requiresDevice=True)
    vectors.seal("to a shared key where none is required", None, to="shared", requiresDevice=False)
    for to in ("device", "p256", "x25519 psk"):
        vectors.seal(f"to {to} where no bare shared key is allowed", None, to=to, requiresDevice=True)
    for to, lowest in (("p256", 2), ("p256 psk", 2), ("x25519", 2), ("device", 4)):
        for minimum in (1, 2, 3, 4):
            vectors.seal(f"to {to} with the minimum suite {minimum}", "suiteTooLow" if minimum > lowest else None, to=to,
                         minimumSuite=minimum)


def add_records(vectors: Vectors) -> None:
    p256, device = RECORDS["p256 psk"], RECORDS["device"]
    for name, record in RECORDS.items():
        if name != "sender":
            has_psk, is_pair = name.endswith("psk") or name in ("shared", "device"), name not in ("shared", "device")
            vectors.register(f"{name}, nothing required", None, record)
            vectors.register(f"{name}, a psk required", None if has_psk else "pskMissing", record, ("psk",))
            vectors.register(f"{name}, a key pair required", None if is_pair else "notAsymmetric", record, ("asymmetric",))
            vectors.register(f"{name}, both required", None if has_psk and is_pair else "notAsymmetric" if has_psk else "pskMissing",
                             record, ("psk", "asymmetric"))
    for name, failure, record in (
        ("a private key", "wrongKind", KEYS["p256"].record()), ("a sender's key", "wrongKind", KEYS["sender"].record(private=False)),
        ("a publisher's key", "wrongKind", {**KEYS["sender"].record(private=False), "role": "publisher"}),
        ("no JSON", "malformed", "{"), ("an array", "malformed", "[]"), ("a set of one key", "malformed", {"keys": [p256]}),
        ("a duplicate name", "malformed", json.dumps(p256)[:-1] + ', "kid": "x"}'),
        ("without a kid", "malformed", {name: p256[name] for name in p256 if name != "kid"}),
        ("another kid", "kidMismatch", {**p256, "kid": "AAAAAAAAAAA"}), ("another alg", "unsupportedKey", {**p256, "alg": "HPKE-3"}),
        ("a point off the curve", "invalidKey", {**p256, "x": p256["y"]}), ("a short psk", "malformed", {**p256, "psk": "AAAA"}),
        ("a device id with a space", "malformed", {**device, "device": "a b"}),
        ("a device that is a number", "malformed", {**device, "device": 1}),
    ):
        vectors.register(name, failure, record)
    text = json.dumps(p256)
    vectors.register("4,096 bytes", None, text + " " * (4_096 - len(text)))
    vectors.register("4,097 bytes", "tooLarge", text + " " * (4_097 - len(text)))


def add_changes(vectors: Vectors) -> None:
    def row(name: str, account: str = "alice", token: str = "t1") -> dict[str, Any]:
        return {"record": json.dumps(RECORDS[name]), "account": account, "deviceToken": token}

    def kid(name: str) -> str:
        return str(RECORDS[name]["kid"])

    p256, x25519, device = row("p256 psk"), row("x25519 psk"), row("device")
    vectors.store("a first key", None, p256, [])
    vectors.store("the same upload again", None, p256, [p256], written=False)
    vectors.store("the same key with another token", None, p256, [row("p256 psk", token="t2")])
    vectors.store("a new key of the installation", None, x25519, [p256], removed=[kid("p256 psk")])
    vectors.store("a key of another installation", None, x25519, [row("p256 psk", token="t2")])
    other = json.dumps({**RECORDS["p256 psk"], "psk": b64(bytes(32))})
    vectors.store("another psk with the kid", "conflict", {**p256, "record": other}, [p256])
    vectors.store("the key of another account", "otherAccount", p256, [row("p256 psk", account="bob")])
    vectors.store("the key of another account, proven", None, p256, [row("p256 psk", account="bob")], proven=True)
    vectors.store("suite 1 in place of suite 4", "suiteTooLow", p256, [device])
    vectors.store("suite 2 in place of suite 4", "suiteTooLow", x25519, [device])
    vectors.store("suite 1 in place of suite 4, allowed", None, p256, [device], removed=[kid("device")], lower=True)
    vectors.store("suite 4 in place of suite 1", None, device, [p256], removed=[kid("p256 psk")])
    vectors.store("suite 1 in place of another account's suite 4", None, p256, [row("device", account="bob")], removed=[kid("device")])
    vectors.store("suite 1 beside suite 4 of another installation", None, p256, [row("device", token="t2")])


def add_challenges(vectors: Vectors) -> None:
    p256 = RECORDS["p256 psk"]
    text = json.dumps(p256)
    vectors.challenge("a record", None, p256)
    vectors.challenge("a record of 4,096 bytes", None, text + " " * (4_096 - len(text)))
    vectors.challenge("a record of 4,097 bytes", "tooLarge", text + " " * (4_097 - len(text)))
    vectors.challenge("a host of 253 characters", None, p256, "a" * 253)
    for name, host in (("empty", ""), ("of 254 characters", "a" * 254), ("with a port", "push.example.com:443"),
                       ("with capitals", "Push.example.com"), ("with a line break", "push.example.com\n")):
        vectors.challenge(f"a host {name}", "invalidOption", p256, host)


def main() -> None:
    vectors = Vectors()
    for table in (add_payloads, add_placeholders, add_options, add_instructions, add_keys, add_records, add_changes, add_challenges):
        table(vectors)
    records = {name: json.dumps(record) for name, record in RECORDS.items()}
    annotate.printed("sender-refusals-v1", {"topic": TOPIC, "at": AT, "records": records, **vectors.found})


if __name__ == "__main__":
    main()
