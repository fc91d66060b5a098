"""The levels sender and sender-full: what a sender must refuse, beside what it must not."""
from __future__ import annotations

import functools
import json
import re
from typing import Any, Iterator, Sequence

from pushcrypt import PushCryptError, Recipient
from pushcrypt._keys import load_key

from . import rules
from .cases import Case, Level, Request, Session
from .material import AT, DAY, Vectors, suite_of
from .measure import INNER, Mode, measure
from .rules import rule_of
from .sealing import ATTACHMENT, REFERENCE, case, ids, mode_named, published

_NAMES = {"expiresAfter": "expires", "exposed": "expose"}
#: Options of sender-refusals-v1.json that the level sender has.
_SMALL = {"expiresAfter", "limit", "exposed"}
_WITH_33_NAMES = json.dumps({"aps": {"alert": "x", **{f"m{number}": number for number in range(33)}}})
_PRIVATE = re.compile(r', "(?:d|priv)": "[A-Za-z0-9_-]+"')


def cases(vectors: Vectors) -> Iterator[Case]:
    yield from _vectors(vectors)
    yield from _alerts(vectors)
    yield from _records(vectors)
    yield from _signers(vectors)
    for name in ("p256, signed", "p256 psk, signed"):
        yield from _generated(mode_named(vectors, name))
    yield from _full(vectors)


def _asks(mode: Mode, request: Request, is_refused: bool, session: Session) -> None:
    if is_refused:
        session.refused(request)
    else:
        measure(session, mode, request, session.ask(request))


def _make(name: str, mode: Mode, level: Level, rule: str, request: Request, is_refused: bool) -> Case:
    return Case(name, level, rule, functools.partial(_asks, mode, request, is_refused), mode.key.suite,
                (*mode.flags, "refused" if is_refused else "accepted"))


# --- Vectors -----------------------------------------------------------------------------------------------------------------


def _vectors(vectors: Vectors) -> Iterator[Case]:
    file = vectors.load("sender-refusals-v1")
    for entry in file["seal"]:
        mode = mode_named(vectors, f"{entry['to']}, {'signed' if entry['isSigned'] else 'unsigned'}")
        bare = not entry["options"].get("requiresDevice", False) if entry["to"] == "shared" else None
        options = {_NAMES.get(name, name): value for name, value in entry["options"].items() if name != "requiresDevice"}
        request = mode.request(entry["payload"], placeholder=entry["placeholder"], bare=bare, **options)
        rule = rule_of("sender-refusals-v1 seal", entry["name"], entry["failure"])
        yield _make(f"sender-refusals-v1/seal: {entry['name']}", mode, "sender-full", rule, request, entry["failure"] is not None)
        if entry["to"] == "device" and set(entry["options"]) <= _SMALL:
            small = mode_named(vectors, "p256 psk, signed")
            request = small.request(entry["payload"], placeholder=entry["placeholder"], **options)
            yield _make(f"sender-refusals-v1/seal: {entry['name']} [p256 psk, signed]", small, "sender", rule, request,
                        entry["failure"] is not None)


def _alerts(vectors: Vectors) -> Iterator[Case]:
    file, mode = vectors.load("alerts-v1"), mode_named(vectors, "p256 psk, signed")
    for entry in file["vectors"]:
        alert = json.loads(entry["alert"])
        placeholder = {"body": alert} if isinstance(alert, str) else alert
        for part, request in (("payload", mode.request('{"aps":{"alert":%s}}' % entry["alert"])),
                              ("placeholder", mode.request(placeholder=placeholder))):
            yield _make(f"alerts-v1/sealed {part}: {entry['name']}", mode, "sender", rules.VISIBLE, request, not entry["isVisible"])
    listed = [_range(text) for text in file["invisible"]] + [(plane << 16 | 0xFFFE, plane << 16 | 0xFFFF) for plane in range(17)]
    for first, last in listed:
        name = f"alerts-v1/range {first:04X}-{last:04X}"
        run = functools.partial(_borders, mode, first, last, listed)
        yield Case(name, "sender", rules.VISIBLE, run, 1, (*mode.flags, "refused", "accepted"))


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first, 16), int(last or first, 16)


def _borders(mode: Mode, first: int, last: int, listed: Sequence[tuple[int, int]], session: Session) -> None:
    """The first and the last code point of a range are invisible, those beside it are visible unless another range has them."""
    for code in (first, last, first - 1, last + 1):
        if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000:
            text, is_invisible = chr(code), any(low <= code <= high for low, high in listed)
            _asks(mode, mode.request(json.dumps({"aps": {"alert": {"title": " ", "body": text}}})), is_invisible, session)
            _asks(mode, mode.request(placeholder={"title": text}), is_invisible, session)


def _records(vectors: Vectors) -> Iterator[Case]:
    """Records of keysets-v1.json in the place of the recipient's. Without `d`, each has the fault of its name alone."""
    signer, seen = vectors.keys["sender"], set[str]()
    for entry in vectors.load("keysets-v1")["vectors"]:
        name, text, suite = entry["name"], entry["text"], suite_of(entry["name"])
        if suite is None or entry["as"] not in ("keyset", "recipient"):
            continue
        if entry["as"] == "keyset" and suite != 4:
            if entry["failure"] is None or re.search(r": (d|priv) ", name):
                continue
            text = _PRIVATE.sub("", text)
        is_refused = _refuses(text)
        if is_refused != (entry["failure"] is not None) or f"{name}{entry['as']}" in seen:
            continue
        seen.add(f"{name}{entry['as']}")
        base = name.split(":")[0]
        key = load_key(_only(json.loads(text))) if not is_refused and suite == 4 else vectors.keys[base]
        is_small = suite == 1 and '"pushcrypt"' not in text  # The level sender has no sets with times.
        mode = Mode(f"{base}, signed", "sender" if is_small else "sender-full", key, text, signer)
        rule = rule_of("keysets-v1 vectors", name, entry["failure"])
        yield _make(f"keysets-v1/sealed to: {name}{'' if entry['as'] == 'keyset' else ', as a recipient'}", mode, mode.level, rule,
                    mode.request(bare=True if suite == 4 else None), is_refused)


def _refuses(text: str) -> bool:
    try:
        Recipient.from_jwk(text)
    except PushCryptError:
        return True
    return False


def _only(record: Any) -> Any:
    return record["keys"][0] if "keys" in record else record


def _signers(vectors: Vectors) -> Iterator[Case]:
    mode = mode_named(vectors, "p256 psk, signed")
    for entry in vectors.load("keysets-v1")["vectors"]:
        name = entry["name"]
        if (name.startswith("sender: ") and entry["as"] == "keyset" and name != "sender: public") or entry["as"] == "signer":
            is_refused = entry["failure"] is not None
            yield _make(f"keysets-v1/signed with: {name}{'' if entry['as'] == 'keyset' else ', as a signer'}", mode, "sender",
                        rule_of("keysets-v1 vectors", name, entry["failure"]), mode.request(signWith=entry["text"]), is_refused)
    sender = vectors.keys["sender"]
    record = sender.record()
    for name, text in (("a publisher's key", {**record, "role": "publisher"}),
    ("a role that is unknown", {**record, "role": "sender"}),
                       ("a role that is null", {**record, "role": None})):
        yield _make(f"refused signers/{name}", mode, "sender", rules.IMPORTER, mode.request(signWith=json.dumps(text)), True)


# --- Generated ---------------------------------------------------------------------------------------------------------------


def _generated(mode: Mode) -> Iterator[Case]:
    def refused(group: str, name: str, rule: str, request: Request) -> Case:
        return case(f"refused {group}", name, mode, rule, functools.partial(_asks, mode, request, True), flags=("refused",))

    for name, payload, rule in (
        ("a Live Activity with content-state", '{"aps":{"alert":"x","content-state":{"a":1}}}', rules.MESSAGE),
        ("a Live Activity with an empty content-state", '{"aps":{"alert":"x","content-state":{}}}', rules.MESSAGE),
        ("a Live Activity with attributes", '{"aps":{"alert":"x","attributes":{}}}', rules.MESSAGE),
        ("a Live Activity with attributes-type", '{"aps":{"alert":"x","attributes-type":"A"}}', rules.MESSAGE),
        ("a Live Activity with attributes-type false", '{"aps":{"alert":"x","attributes-type":false}}', rules.MESSAGE),
        ("a Live Activity that starts", '{"aps":{"alert":"x","event":"start"}}', rules.MESSAGE),
        ("a Live Activity that is updated", '{"aps":{"alert":"x","event":"update"}}', rules.MESSAGE),
        ("a Live Activity that ends", '{"aps":{"alert":"x","event":"end"}}', rules.MESSAGE),
        ("a pushcrypt member", '{"aps":{"alert":"x"},"pushcrypt":{}}', rules.MESSAGE),
        ("a pushcrypt member, escaped", '{"aps":{"alert":"x"},"\\u0070ushcrypt":1}', rules.MESSAGE),
        ("a name twice, escaped", '{"aps":{"alert":"x"},"\\u0061ps":{"alert":"y"}}', rules.STRICT),
        ("a name twice, deep inside", '{"aps":{"alert":"x"},"y":[[{"a":{"b":1,"c":2,"b":1}}]]}', rules.STRICT),
        ("a name twice that is empty", '{"aps":{"alert":"x"},"":1,"":1}', rules.STRICT),
        ("a lone low surrogate", '{"aps":{"alert":"x"},"y":"\\ude00"}', rules.STRICT),
        ("two high surrogates", '{"aps":{"alert":"x"},"y":"\\ud83d\\ud83d"}', rules.STRICT),
        ("a lone surrogate in a name", '{"aps":{"alert":"x"},"\\ud800":1}', rules.STRICT),
        ("65 levels of objects", '{"aps":{"alert":"x"},"y":' + '{"a":' * 63 + "{}" + "}" * 64, rules.STRICT),
        ("a comma behind the last member", '{"aps":{"alert":"x"},}', rules.STRICT),
        ("a comma behind the last element", '{"aps":{"alert":"x"},"y":[1,]}', rules.STRICT),
        ("a comment", '{"aps":{"alert":"x"}}/**/', rules.STRICT), ("two values", INNER + INNER, rules.STRICT),
        ("a control character in a string", '{"aps":{"alert":"x\x01"}}', rules.STRICT),
        ("single quotes", "{'aps':{'alert':'x'}}", rules.STRICT),
        ("a name without quotes", '{aps:{"alert":"x"}}', rules.STRICT), ("NaN", '{"aps":{"alert":"x"},"y":NaN}', rules.STRICT),
        ("Infinity", '{"aps":{"alert":"x"},"y":-Infinity}', rules.STRICT),
        ("a zero before a number", '{"aps":{"alert":"x"},"y":01}', rules.STRICT),
        ("a plus before a number", '{"aps":{"alert":"x"},"y":+1}', rules.STRICT),
        ("a number without digits", '{"aps":{"alert":"x"},"y":1.}', rules.STRICT),
        ("True", '{"aps":{"alert":"x"},"y":True}', rules.STRICT),
        ("an unknown escape", '{"aps":{"alert":"\\x41"}}', rules.STRICT),
        ("a no-break space around it", "\u00a0" + INNER, rules.STRICT), ("a form feed around it", INNER + "\f", rules.STRICT),
        ("a string", '"x"', rules.MESSAGE), ("null", "null", rules.MESSAGE),
        ("aps in capitals", '{"APS":{"alert":"x"}}', rules.MESSAGE),
        ("aps that is null", '{"aps":null}', rules.MESSAGE),
        ("an alert that is an array", '{"aps":{"alert":["x"]}}', rules.VISIBLE),
        ("an alert that is true", '{"aps":{"alert":true}}', rules.VISIBLE),
        ("an alert with a title that is a number", '{"aps":{"alert":{"title":1}}}', rules.VISIBLE),
        ("an alert in capitals", '{"aps":{"Alert":"x"}}', rules.VISIBLE),
        ("an alert with only a launch-image", '{"aps":{"alert":{"launch-image":"x"}}}', rules.VISIBLE),
        ("an alert with only a subtitle's key", '{"aps":{"alert":{"subtitle-loc-key":"x"}}}', rules.VISIBLE),
    ):
        yield refused("payloads", name, rule, mode.request(payload))
    for name, options, rule in (
        ("a lifetime of -1 seconds", {"expires": -1}, rules.MESSAGE), ("a limit of -1", {"limit": -1}, rules.PADDING),
        ("33 exposed names", {"payload": _WITH_33_NAMES, "expose": [f"m{number}" for number in range(33)]}, rules.EXPOSED),
        ("a limit that is less than the frame", {"limit": 100}, rules.PADDING), ("pad 0", {"pad": 0}, rules.PADDING),
        ("pad -1", {"pad": -1}, rules.PADDING),
        ("the last second passes 2^53", {"at": 2**53 - 60, "expires": 61}, rules.INTEGERS),
        ("a placeholder without members", {"placeholder": {}}, rules.VISIBLE),
        ("a placeholder of arguments", {"placeholder": {"loc-args": ["x"]}}, rules.VISIBLE),
        ("a placeholder with only a launch-image", {"placeholder": {"launch-image": "x"}}, rules.VISIBLE),
        ("an empty topic", {"topic": ""}, rules.INFO), ("a topic of 156 characters", {"topic": "a" * 156}, rules.INFO),
        ("a topic with a space", {"topic": "com.example app"}, rules.INFO),
        ("a topic with an underscore", {"topic": "com_example"}, rules.INFO),
        ("a topic with é", {"topic": "com.éxample"}, rules.INFO),
        ("a topic with a line break", {"topic": "com.example\n"}, rules.INFO),
        ("a topic with a slash", {"topic": "com/example"}, rules.INFO),
    ):
        yield refused("options", name, rule, mode.request(**options))
    record = json.loads(mode.record)
    for name, text, rule in (
        ("a private record", json.dumps(mode.key.record()), rules.IMPORTER),
        ("a record with d null", json.dumps({**record, "d": None}), rules.IMPORTER),
        ("a record with priv", json.dumps({**record, "priv": record["x"]}), rules.IMPORTER),
        ("two keys without times", json.dumps({"keys": [record, record]}), rules.SETS),
        ("a key that is another's", json.dumps({**record, "x": record["y"], "y": record["x"]}), rules.IMPORTER),
        ("the crv in lower case", json.dumps({**record, "crv": "p-256"}), rules.RECORDS),
        ("an ECDH key", json.dumps({**record, "alg": "ECDH-ES"}), rules.RECORDS),
        ("a record in a string", json.dumps(mode.record), rules.RECORDS),
        ("a psk of 16 bytes", json.dumps({**record, "psk": "A" * 22}), rules.RECORDS),
        ("a psk that is empty", json.dumps({**record, "psk": ""}), rules.RECORDS),
        ("a record with bytes behind it", mode.record + "x", rules.STRICT),
        ("a kid twice", mode.record[:-1] + f', "kid": "{mode.key.kid}"}}', rules.STRICT),
        ("a record with a byte order mark", "\ufeff" + mode.record, rules.STRICT),
    ):
        yield refused("records", name, rule, mode.request(to=text))


def _full(vectors: Vectors) -> Iterator[Case]:
    """Options, sets and signers that only the level sender-full has."""
    psk, base = mode_named(vectors, "p256 psk, signed"), mode_named(vectors, "p256, unsigned")
    shared = mode_named(vectors, "shared, signed")

    def refused(name: str, rule: str, request: Request, mode: Mode = psk) -> Case:
        run = functools.partial(_asks, mode, request, True)
        return case("refused by sender-full", name, mode, rule, run, level="sender-full", flags=("refused",))

    yield refused("a bare shared key", rules.DEVICE_KEYS, shared.request(bare=None), shared)
    yield refused("a bare shared key, and bare is false", rules.DEVICE_KEYS, shared.request(bare=False), shared)
    for name, device in (("an empty device id", ""), ("a device id of 65 characters", "a" * 65),
    ("a device id with a dot", "a.b")):
        yield refused(name, rules.DEVICE_KEYS, shared.request(bare=None, device=device), shared)
    table: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("a carrier that is unknown", {"carrier": "fax"}, rules.CARRIERS),
        ("an id to retract with trailing bits", {"retract": ["A" * 21 + "B"]}, rules.BASE64URL),
        ("an empty id to retract", {"retract": [""]}, rules.INSTRUCTIONS),
        ("the badge by 1,000", {"badgeAdd": 1_000}, rules.INSTRUCTIONS),
        ("the badge by -1,000", {"badgeAdd": -1_000}, rules.INSTRUCTIONS),
        ("quiet with an attachment", {"quiet": True, "attachments": [ATTACHMENT]}, rules.INSTRUCTIONS),
        ("quiet with an offloaded payload", {"quiet": True, "offload": REFERENCE}, rules.INSTRUCTIONS),
        ("nine attachments", {"attachments": [ATTACHMENT] * 9}, rules.REFERENCES),
        ("two avatars", {"attachments": [{**ATTACHMENT, "use": "avatar"}] * 2}, rules.REFERENCES),
        ("two attachments of one id", {"attachments": [{**ATTACHMENT, "id": "a"}] * 2}, rules.REFERENCES),
        ("a minimum suite of 0", {"minimumSuite": 0}, rules.RANK), ("a minimum suite of 5", {"minimumSuite": 5}, rules.RANK),
    )
    for name, options, rule in table:
        yield refused(name, rule, psk.request(**options))
    yield refused("a badge with an increment, null", rules.INSTRUCTIONS, psk.request('{"aps":{"alert":"x","badge":null}}', badgeAdd=1))
    without: tuple[tuple[str, dict[str, Any]], ...] = (
        ("an id to retract", {"retract": ids(1)}), ("quiet", {"quiet": True}), ("the badge by 0", {"badgeAdd": 0}))
    for name, options in without:
        yield refused(f"{name}, without proof", rules.INSTRUCTIONS, base.request(**options), base)
    yield from _references(vectors, psk)
    yield from _sets(vectors, psk, refused)


def _references(vectors: Vectors, mode: Mode) -> Iterator[Case]:
    """The attachments and the offloaded payloads of blobs-v1.json as options of sealing."""
    for entry in vectors.load("blobs-v1")["headers"]:
        header = json.loads(entry["header"])
        attachments, offload = header.get("attachments", []), header.get("offload", {})
        is_list = isinstance(attachments, list) and all(isinstance(one, dict) and one.get("id", "") is not None for one in attachments)
        if not is_list or not isinstance(offload, dict) or not (attachments or offload) or header.get("test", True) is not True:
            continue  # An option of another type isn't a request, and null may be how a program leaves out an id.
        options: dict[str, Any] = {"attachments": attachments or None, "offload": offload or None,
                                   "selfTest": True if "test" in header else None}
        known = {name for one in (*attachments, offload) for name in one} <= {"url", "key", "size", "sha256", "type", "id", "use"}
        is_refused = not entry["valid"]
        if is_refused or known:
            yield _make(f"blobs-v1/sealed: {entry['name']}", mode, "sender-full", rule_of("blobs-v1 headers", entry["name"]),
                        mode.request(pad="none", **options), is_refused)


def _sets(vectors: Vectors, mode: Mode, refused: Any) -> Iterator[Case]:
    old, new, high = vectors.keys["p256"], vectors.keys["other p256"], vectors.keys["xwing"]
    always: dict[str, Any] = {"activatesAt": 0}
    text, both = published(((old, always),)), published(((old, always), (new, always)))
    for name, to, rule in (
        ("a set whose key is revoked", published(((old, {**always, "revokedAt": AT}),)), rules.LIFECYCLE),
        ("a set whose key has retired", published(((old, {**always, "retiresAt": AT}),)), rules.LIFECYCLE),
        ("a set whose key has expired", published(((old, {**always, "expiresAt": AT}),)), rules.LIFECYCLE),
        ("a set whose key is destroyed", published(((old, {**always, "destroyedAt": AT + DAY}),)), rules.LIFECYCLE),
        ("a set whose key activates in a second", published(((old, {"activatesAt": AT + 1}),)), rules.LIFECYCLE),
        ("a set whose key has no activatesAt", published(((old, {}),)), rules.SETS),
        ("a set that demands a psk", published(((old, {**always, "psk": True}),)), rules.SETS),
        ("a set with a private key", published(((old, always),), private=True), rules.IMPORTER),
        ("a set whose newest key ranks lower", published(((high, always), (old, {"activatesAt": 5}))), rules.RANK),
        ("a set of senders", published(((vectors.keys["sender"], always),)), rules.SETS),
        ("a set with a key twice", published(((old, always), (old, always))), rules.SETS),
        ("a set without seq", text.replace('"seq": 1, ', ""), rules.SETS),
        ("a set with seq -1", text.replace('"seq": 1', '"seq": -1'), rules.SETS),
        ("a set with seq twice", text.replace('"seq": 1', '"seq": 1, "seq": 1'), rules.STRICT),
        ("a set without the times of a key", both.replace(f', "{new.kid}": {{"activatesAt": "1970-01-01T00:00:00Z"}}', ""), rules.SETS),
        ("a set with activatesAt null", published(((old, {"activatesAt": None}),)), rules.SETS),
        ("a set with activatesAt without an offset", text.replace("00Z", "00"), rules.SETS),
        ("a set with psk false", published(((old, {**always, "psk": False}),)), rules.SETS),
        ("a set without keys", '{"keys": [], "pushcrypt": {"seq": 1, "keys": {}}}', rules.SETS),
    ):
        yield refused(name, rule, mode.request(to=to))
    sender = vectors.keys["sender"]
    for name, times in (("revoked", {**always, "revokedAt": AT}), ("retired", {**always, "retiresAt": AT}),
    ("not active yet", {"activatesAt": AT + 1})):
        yield refused(f"a signer that is {name}", rules.LIFECYCLE, mode.request(signWith=published(((sender, times),), private=True)))
    yield refused("a signer of a public set", rules.SETS, mode.request(signWith=published(((sender, always),))))
    yield refused("a signer of a set of recipients", rules.SETS, mode.request(signWith=published(((old, always),), private=True)))


