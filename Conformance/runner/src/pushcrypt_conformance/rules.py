"""The rule that each vector tests: the section of docs/protocol.md, and the paragraph in it."""
from __future__ import annotations

import re

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

_STRICT = (r"duplicate|\btwice\b|cut short|behind|byte order mark|(payload|text|:) an array|^an array|too deep|levels|surrogate"
           r"|payload empty|no JSON|: empty$|UTF-8")
_BASE64URL = r"padd|(?<!record )with white space|line break|base64|trailing bits|not canonical|of 5 characters|with a space"

#: By file and list, the first expression that matches "NAME: failure" gives the rule.
_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "envelopes-v1": (
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
    "pushcrypt-v1": (
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
    "steps-v1": ((r"", SUITES),),
    "alerts-v1": ((r"", VISIBLE),),
    "carriers-v1": ((r"", CARRIERS),),
    "instructions-v1": ((r"retract twice", STRICT), (r"attachment|avatar|use ", REFERENCES), (r"", INSTRUCTIONS)),
    "senders-v1": ((r"unknownKey$|undecryptable$", PINNED), (r"", SENDER)),
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
        (r"^set: psk", SETS), (r"^set", SETS), (r" twice|cut short|behind|an array$|: empty: |: an array: ", STRICT),
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
}
_COMPILED = {file: tuple((re.compile(text), rule) for text, rule in rules) for file, rules in _RULES.items()}


def rule_of(file: str, name: str, failure: object = None) -> str:
    """The rule of a vector. Raises KeyError for a vector that the table doesn't have."""
    text = f"{name}: {failure}"
    for expression, rule in _COMPILED[file]:
        if expression.search(text):
            return rule
    raise KeyError(f"{file}: {text} has no rule")
