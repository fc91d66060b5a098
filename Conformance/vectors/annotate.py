"""The rule, the suite and the flags of each vector, and the version of the files. The generators print with `printed`.

Files that were made once with random numbers get the members here: python annotate.py pushcrypt-v1 key-containers xwing-keys
"""
from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Optional

#: It counts changes of the files' form: a member that is renamed or removed, and another meaning of one.
VERSION = 1

# The page, its section and the paragraph.
OUTER = "protocol 2, outer payload"
CARRIERS = "protocol 2, carriers"
EXPOSED = "protocol 2, exposed members"
VISIBLE = "protocol 2, visible text"
STRICT = "protocol 2, strict JSON"
INTEGERS = "protocol 2, integers"
BASE64URL = "protocol 2, base64url"
SUITES = "protocol 3, suites"
ZERO_SHARES = "protocol 3, zero shares"
RANK = "protocol 3, rank"
DEVICE_KEYS = "protocol 3, device keys"
RECORDS = "protocol 3, key records"
IMPORTER = "protocol 3, importer"
REGISTRATIONS = "protocol 3, registration records"
SETS = "protocol 3, published sets"
INFO = "protocol 4, info"
PSK = "protocol 4, profile psk"
SIGNED = "protocol 4, profile signed"
SENDER = "protocol 4, sender"
KEY_CHOICE = "protocol 4, key choice"
PINNED = "protocol 4, pinned senders"
MESSAGE = "protocol 5, message"
PADDING = "protocol 5, padding"
FRESHNESS = "protocol 5, freshness"
CAMPAIGNS = "protocol 5, campaign ids"
OFFLOAD = "protocol 6, offloaded payloads"
BLOBS = "protocol 7, blobs"
REFERENCES = "protocol 7, references"
FAILURES = "protocol 8, order of the checks"
LIFECYCLE = "protocol 9, key lifecycle"
PINS = "protocol 10, pins"
DOCUMENT = "protocol 10, document"
ACCEPTANCE = "protocol 10, acceptance"
INSTRUCTIONS = "protocol 11, instructions"
RECEIPTS = "protocol 12, receipts"
CHALLENGES = "protocol 13, challenges"
ANSWERS = "protocol 13, answers"
DEVICE_SETS = "protocol 14, device sets"
SENDER_OF_DAY_KEYS = "protocol 14, the sender"
BACKEND_OF_DAY_KEYS = "protocol 14, the backend"
LOG_ROWS = "keyset-log rows"
LOG_CHANGES = "keyset-log changes"
LOG_POINTS = "keyset-log points"
LOG_MATERIAL = "keyset-log material"
LOG_REFUSALS = "keyset-log refusals"
CONTAINERS = "cli keys import"

_STRICT = (r"duplicate|\btwice\b|cut short|behind|byte order mark|(payload|text|:) an array|^an array|too deep|levels|surrogate"
           r"|payload empty|no JSON|: empty$|UTF-8")
_BASE64URL = r"padd|(?<!record )with white space|line break|base64|trailing bits|not canonical|of 5 characters|with a space"

#: By file and list, the first expression that matches "NAME: failure" gives the rule.
_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "envelopes-v1 vectors": (
        (r": message's (iat|exp) .*: (expired|notYetValid|None)$", FRESHNESS), (r": message's text padded", PADDING),
        (r": message's (iat|exp) (is|equal|before|30)", INTEGERS), (r": message's aps .*alert", VISIBLE),
        (rf": message's .*({_STRICT})", STRICT), (rf": message's id .*({_BASE64URL})", BASE64URL), (r": message's", MESSAGE),
        (r": enc has a zero share", ZERO_SHARES),
        (r": (recipient|sender)'s key (pending|retired|expired|revoked)", LIFECYCLE),
        (r": (topic|context|suite in|psk bit|signed bit)", INFO),
        (r": psk_id|: psk ", PSK), (r": (device key|master)", DEVICE_KEYS),
        (r": (kid of no|kid of another|recipient's key is)", KEY_CHOICE),
        (r": (senders |skid (added|of|missing)|signature missing, senders)", PINNED), (r": (signature|plaintext)", SIGNED),
        (r": (enc|salt|ciphertext|tag|sealed (is enc|is salt|is the bytes|of a byte))", SUITES),
        (r": v is .*: unsupportedVersion$", FAILURES), (r": v is", INTEGERS), (rf"({_STRICT})", STRICT),
        (rf"({_BASE64URL})", BASE64URL),
        (r": (kid|sealed|skid) (empty|too)", BASE64URL), (r": alert with|: alert (empty|an object)", VISIBLE),
        (r": (v|kid|sealed|skid|pushcrypt|aps|alert|mutable-content|a member) ", OUTER), (r"(un)?signed: None$", SUITES),
    ),
    "pushcrypt-v1 refused": (
        (r"^inside: exp .*: expired|ahead|yesterday", FRESHNESS), (r"^inside: (iat|exp) (?!missing)", INTEGERS),
        (r"^inside: .*alert", VISIBLE),
        (rf"^inside: .*({_STRICT}|behind)|^inside: (array|empty|spaces)", STRICT), (rf"^inside: id .*({_BASE64URL})", BASE64URL),
        (r"^inside", MESSAGE), (r"signed for another device|by a device", DEVICE_KEYS), (r"small order", ZERO_SHARES),
        (r"without the psk", PSK), (r"another topic", INFO), (r"another kid|kid of a key", KEY_CHOICE),
        (r"another sender's signature", SIGNED), (r": (unsigned|skid)", PINNED),
        (rf"({_BASE64URL})|of 10 characters|(sealed|skid) empty", BASE64URL),
        (r"bit|extended|one byte|: cut short", SUITES), (rf"({_STRICT})", STRICT), (r"^v .*: unsupportedVersion", FAILURES),
        (r"^v (1|true|in|-1|2)", INTEGERS), (r"alert", VISIBLE), (r"sealed|skid|kid|v missing|aps|mutable|pushcrypt", OUTER),
        (r"signed", SUITES),
    ),
    "pushcrypt-v1 opened": ((r"", SUITES),),
    "steps-v1 pushes": ((r"", SUITES),),
    "alerts-v1 vectors": ((r"", VISIBLE),),
    "carriers-v1 vectors": ((r"", CARRIERS),),
    "instructions-v1 vectors": ((r"retract twice", STRICT), (r"attachment|avatar|use ", REFERENCES), (r"", INSTRUCTIONS)),
    "senders-v1 pushes": ((r"unknownKey$|undecryptable$", PINNED), (r"", SENDER)),
    "blobs-v1 blobs": ((r"", BLOBS),),
    "blobs-v1 refused": ((r"", BLOBS),),
    "blobs-v1 headers": ((r"offload", OFFLOAD), (r"test", MESSAGE), (r"", REFERENCES)),
    "blobs-v1 payloads": ((r"", OFFLOAD),),
    "sender-refusals-v1 seal": (
        (r"Live Activity", MESSAGE), (r"duplicate|surrogate|byte order|behind|levels|no JSON|empty payload|^an array: ", STRICT),
        (r"exposes", EXPOSED), (r"placeholder|alert|title|loc-key", VISIBLE), (r"pushcrypt member|aps|payload without", MESSAGE),
        (r"long body|limit", PADDING),
        (r"lifetime", MESSAGE), (r"campaign", CAMPAIGNS), (r"minimum suite", RANK),
        (r"shared key|bare", DEVICE_KEYS), (r"attachment|avatar|offload", REFERENCES), (r"retract|quiet|badge", INSTRUCTIONS),
    ),
    "sender-refusals-v1 register": ((r"required|4,09", REGISTRATIONS), (r"JSON|array|duplicate|set of", STRICT), (r"", IMPORTER)),
    "sender-refusals-v1 store": ((r"suite", RANK), (r"", REGISTRATIONS)),
    "sender-refusals-v1 challenge": ((r"4,09", REGISTRATIONS), (r"", CHALLENGES)),
    "possession-v1 challenges": (
        (r": (senders are|skid|no senders|other senders)(?!.*(twice| is |too|not can))", PINNED), (r"signature", SIGNED),
        (rf"({_STRICT})(?!.*of)", STRICT), (r"v is .*: unsupported", FAILURES), (r"v is", INTEGERS),
        (rf"kid .*(too|not can)|{_BASE64URL}", BASE64URL),
        (r"topic|a message( of 32 bytes)?: und", INFO), (r": sealed( is|: byte).*: undecryptable", SUITES), (r"kid another", KEY_CHOICE),
        (r"record with", ANSWERS), (r"", CHALLENGES),
    ),
    "possession-v1 answers": ((rf"({_STRICT})", STRICT), (r"padding|with a space", BASE64URL), (r"", ANSWERS)),
    "keysets-v1 vectors": (
        (r"^set", SETS), (r": set of one with", LIFECYCLE), (r" twice|cut short|behind|an array$|: empty: |: an array: ", STRICT),
        (rf"({_BASE64URL})", BASE64URL), (r"^device:", DEVICE_KEYS),
        (r"a point|of another key|d is (of|the|2)|private record|psk added|device added|public|private", IMPORTER),
        (r"demands a psk", SETS), (r"", RECORDS),
    ),
    "keysets-v1 states": ((r"", LIFECYCLE),),
    "keysets-v1 campaigns": ((r"", CAMPAIGNS),),
    "sender-sets-v1 pins": ((r"(publishers|set|epoch) twice|^an array|^empty", STRICT), (r"", PINS)),
    "sender-sets-v1 cases": (
        (r": (otherSet|otherTopic|otherEpoch|rolledBack|conflict|expired)$", ACCEPTANCE),
        (r"in the payload", DOCUMENT), (r"revoked|seq \d+ after|epoch|again|offered|stored set|second app", ACCEPTANCE), (r"", DOCUMENT),
    ),
    "senders-v1 names": ((r"", SENDER),),
    "senders-v1 retractions": ((r"", INSTRUCTIONS),),
    "keyset-log-v1 accepted": (
        (r"gives up|point|restored", LOG_POINTS), (r"encrypted|secret|scrypt|passphrase|command", LOG_MATERIAL),
        (r"(creat|activat|retir|expir|revok|destroy)|lost|epoch|policy|issuedAt", LOG_CHANGES), (r"", LOG_ROWS),
    ),
    "keyset-log-v1 extends": ((r"", LOG_POINTS),),
    "key-containers keys": ((r"", CONTAINERS),),
    "key-containers refused": ((r"", CONTAINERS),),
}

#: The generators of these lists state the rule of each vector.
_STATED = ("sealing-v1 vectors", "receipts-v1 vectors", "device-sets-v1 vectors", "device-sets-v1 campaigns", "device-sets-v1 changes")

#: The suite of the key that a name begins with.
_SUITES = {"p256": 1, "x25519": 2, "xwing": 3, "shared": 4, "device": 4}
#: The suite of every vector of a list. The other names begin with a key, or a member names it.
_SUITE_OF_LIST = {
    "alerts-v1 vectors": 4, "carriers-v1 vectors": 1, "possession-v1 answers": 1, "sender-refusals-v1 challenge": 1,
}
_FLAGS_OF_LIST = {
    "alerts-v1 vectors": ["unsigned"], "carriers-v1 vectors": ["unsigned"], "possession-v1 answers": ["psk", "signed"],
    "sender-refusals-v1 challenge": ["psk", "unsigned"],
}


def _rule(kind: str, name: str, failure: Optional[str]) -> str:
    """Raises LookupError for a vector that the table doesn't have."""
    if kind == "keyset-log-v1 refused":
        return f"{LOG_REFUSALS}, {failure}"
    text = f"{name}: {failure}"
    if kind not in _RULES:
        raise LookupError(f"{kind} isn't a list of vectors")
    for expression, rule in _RULES[kind]:
        if re.search(expression, text):
            return rule
    raise LookupError(f"{kind}: {text} has no rule")


def _is_refused(kind: str, entry: dict[str, Any]) -> bool:
    if kind == "blobs-v1 refused":
        return True
    if any(entry.get(name) is not None for name in ("failure", "failureOfUpload", "code")):
        return True
    return any(entry.get(name) is False for name in ("valid", "isVisible", "extends", "acts"))  # Here a vector is a question.


def _mode(kind: str, entry: dict[str, Any]) -> str:
    """The recipient and whether the push is signed, such as "p256 psk, signed"."""
    if kind == "sender-refusals-v1 seal":
        return f"{entry['to']}, {'signed' if entry['isSigned'] else 'unsigned'}"
    if kind == "sealing-v1 vectors":
        return f"{entry['key'].removeprefix('other ')}, {'signed' if entry['signer'] else 'unsigned'}"
    if kind == "senders-v1 pushes":
        key = "p256 psk" if ", psk," in entry["name"] else "x25519"
        return f"{key}, {'unsigned' if ', unsigned,' in entry['name'] else 'signed'}"
    if kind == "pushcrypt-v1 refused":
        is_signed = entry["trust"] is not None and '"skid"' in entry["payload"]
        return f"{entry['key']}, {'signed' if is_signed else 'unsigned'}"
    if kind == "keysets-v1 campaigns":
        return str(entry["key"])
    if kind == "key-containers keys":
        return str(entry["algorithm"])
    name = str(entry.get("name", ""))
    return name.split(":")[0] if "keyset-log" not in kind else ""


def annotated(kind: str, entry: dict[str, Any]) -> dict[str, Any]:
    """The vector with `rule`, `suite` and `flags` behind its name. `kind` is the file and the list."""
    mode = _mode(kind, entry)
    failure = entry.get("failure", entry.get("code"))
    suite = _SUITE_OF_LIST.get(kind, _SUITES.get(re.split("[ ,]", mode)[0]))
    flags = list(_FLAGS_OF_LIST.get(kind, []))
    if suite is not None and not flags:
        flags += ["psk"] if " psk" in mode else []
        flags += ["unsigned"] if "unsigned" in mode else ["signed"] if re.search(r", signed\b", mode) else []
    about = {"rule": entry["rule"] if kind in _STATED else _rule(kind, str(entry.get("name", "")), failure), "suite": suite,
             "flags": [*flags, "refused" if _is_refused(kind, entry) else "accepted"]}
    named = {"name": entry["name"]} if "name" in entry else {}
    return {**named, **about, **entry, **about}


def annotated_file(file: str, content: dict[str, Any]) -> dict[str, Any]:
    """The content with its version and with annotated vectors. Raises LookupError if two vectors of a list have one name."""
    made: dict[str, Any] = {"version": VERSION}
    for name, value in content.items():
        kind = f"{file} {name}"
        if kind in _RULES or kind in _STATED or kind == "keyset-log-v1 refused":
            names = [entry["name"] for entry in value if "name" in entry]
            twice = {one for one in names if names.count(one) > 1}
            if twice:
                raise LookupError(f"{kind}: several vectors have the name {sorted(twice)}")
            value = [annotated(kind, entry) for entry in value]
        made[name] = value
    return {**made, "version": VERSION}


def printed(file: str, content: dict[str, Any], ensure_ascii: bool = True) -> None:
    print(json.dumps(annotated_file(file, content), indent=1, ensure_ascii=ensure_ascii))


def main() -> None:
    for file in sys.argv[1:]:
        path = Path(__file__).resolve().parent / f"{file}.json"
        made = annotated_file(file, json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
