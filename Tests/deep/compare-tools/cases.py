"""The command lines: every command and option, with valid and invalid values."""

import os
from dataclasses import dataclass, field
from typing import Callable, Optional, Union

from fixtures import NOW, PAYLOADS, PROFILES, START, TOPIC

LATER = "2026-07-01T00:00:00Z"


@dataclass
class Case:
    name: str
    arguments: list
    stdin: Union[bytes, str, None] = None
    environment: dict = field(default_factory=dict)
    prepare: Optional[Callable] = None
    # Whether programs read standard output, although it isn't JSON.
    is_data: bool = False


def all_cases(kids):
    found = []
    for group in [help_texts, usage, seals, opens, inspects, batches, reseals, blobs, creates, lists, changes, policies,
                  imports, exports, secrets, rotations, logs, verifications, examinations, rehearsals, coverages,
                  recipients, broken_keysets, numbers]:
        for name, arguments, *more in group(kids):
            options = more[0] if more else {}
            found.append(Case(f"{group.__name__}/{name}", arguments, **options))
    return found


COMMANDS = {
    "demo": [], "seal": ["--to", "p256.jwk", "--topic", TOPIC], "open": ["--keys", "Keys/p256", "--topic", TOPIC],
    "inspect": [], "reseal": ["--keys", "Keys/shared", "--topic", TOPIC, "--errors", "errors.jsonl"],
    "blob seal": ["--reference", "new.ref"], "blob open": ["--reference", "attachment.ref", "--output", "new.png"],
    "keys create": ["Keys/new", "--kind", "sender"], "keys list": ["Keys/rotated"], "keys show": ["Keys/shared", "KID"],
    "keys policy": ["Keys/shared"], "keys add": ["Keys/shared"], "keys promote": ["Keys/shared", "KID"],
    "keys retire": ["Keys/shared", "KID"], "keys revoke": ["Keys/shared", "KID"], "keys destroy": ["Keys/shared", "KID"],
    "keys prune": ["Keys/rotated"], "keys import": ["Keys/new", "--from", "sender.private.jwk"],
    "keys export": ["Keys/p256"], "keys passwd": ["Keys/enc-p256"], "keys log": ["Keys/rotated"],
    "keys verify": ["Keys/rotated"], "keys doctor": ["Keys"], "keys rehearse": ["Keys/shared", "--fleet", "fleet.json"],
    "keys coverage": ["Keys/gated", "--reports", "reports.jsonl"], "rotate": ["Keys/shared"],
    "recipients check": ["recipients.db"], "recipients import": ["recipients.jsonl", "--into", "new.db"],
}


# These commands have no --at.
WITHOUT_TIME = {"demo", "blob seal", "blob open", "keys rehearse", "recipients check", "recipients import"}


def help_texts(kids):
    for command in ["", "keys", "blob", "recipients", *COMMANDS]:
        yield f"{command or 'pushcrypt'} --help", [*command.split(), "--help"]
        yield f"help {command}", ["help", *command.split()]
        yield f"{command or 'pushcrypt'} --version", [*command.split(), "--version"]
    for shell in ["bash", "zsh", "fish", "csh"]:
        yield f"completions {shell}", ["--generate-completion-script", shell]


def usage(kids):
    """Arguments that no command accepts."""
    for command, rest in COMMANDS.items():
        rest = [kids["shared"] if word == "KID" else word for word in rest]
        base = command.split()
        if command not in WITHOUT_TIME:
            base += ["--at", NOW]
        yield f"{command} with an unknown option", [*base, *rest, "--nonsense"]
        yield f"{command} with one argument too many", [*base, *rest, "one", "two"]
        yield f"{command} with nothing", base
        yield f"{command} with an option without its value", [*base, *rest, "--at"]
        yield f"{command} with a bad time", [*base, *rest, "--at", "yesterday"]
        yield f"{command} with the year 10000", [*base, *rest, "--at", "253402300800"]
        for word in rest:
            if word.startswith("--"):
                place = rest.index(word)
                yield f"{command} without {word}", [*base, *rest[:place], *rest[place + 2:]]
                yield f"{command} with {word} twice", [*base, *rest, word, rest[place + 1]]
                yield f"{command} with an empty {word}", [*base, *rest[:place], word, "", *rest[place + 2:]]
    yield "no command", []
    yield "an unknown command", ["encrypt"]
    yield "an unknown key command", ["keys", "burn"]


def seals(kids):
    seal = ["seal", "--topic", TOPIC, "--at", NOW]
    for profile, (options, _) in PROFILES.items():
        for payload in PAYLOADS:
            if profile in ("encrypted", "encrypted-signer", "wrapped") and payload not in ("inner.json", "long.json"):
                continue
            yield f"{profile}, {payload}", [*seal, *options], {"stdin": payload}
    for flag, values in {
        "--pad": ["1", "64", "128", "4096", "5000", "max", "none", "0", "-1", "x", ""],
        "--expires": ["1s", "30d", "31d", "0s", "-1d", "P1D", "1w", "x", "99999999999999999999d"],
        "--limit": ["4096", "4097", "1000", "300", "0", "-1", "x"],
        "--expose": ["badge", "badge,sound", "thread-id", "alert", "mutable-content", "nothing", "", ",", "badge,badge",
                     "interruption-level,relevance-score"],
        "--id-from": ["campaign-1", "", "x" * 255, "x" * 256],
        "--topic": ["com.example.app", "", "a b", "x" * 155, "x" * 156, "com.example.ápp"],
        "--placeholder-title": ["Hi", "", "x" * 2000], "--placeholder-body": ["There", ""],
        "--placeholder-title-loc-key": ["TITLE"], "--placeholder-body-loc-key": ["BODY"],
        "--attach": ["attachment.ref", "payload.ref", "missing", "inner.json"],
        "--offload": ["payload.ref", "attachment.ref", "missing"],
        "--sign-with": ["Keys/sender", "sender.private.jwk", "sender.jwk", "Keys/shared", "missing"],
        "--device": ["phone-1", "", "a b", "x" * 64, "x" * 65],
        "--at": [START, "1767225600", "1e9", "2026-02-30T00:00:00Z", "-1"],
        "--to": ["p256.jwk", "x25519.jwk", "psk.registration", "Keys/p256", "Keys/psk", "Keys/shared", "shared.jwk",
                 "device.jwk", "p256.private.jwk", "p256.set.json", "sender.jwk", "Keys/sender", "off-curve.jwk",
                 "missing", "inner.json", "empty.json", "Keys", "Broken/cut", "Broken/flipped", "Broken/loose",
                 "Broken/link", "Keys/enc-p256", "Keys/wrapped", "Keys/rotated", "p256.pem", "."],
    }.items():
        for value in values:
            base = ["seal", "--to", "Keys/shared" if flag == "--device" else "p256.jwk", "--topic", TOPIC, "--at", NOW]
            if flag in base:
                place = base.index(flag)
                del base[place:place + 2]
            yield f"{flag} {value[:30]}, {len(value)}", [*base, flag, value], {"stdin": "inner.json"}
    for name, options in {
        "self-test": ["--self-test"], "demo keys refused": ["--sign-with", "DEMO"],
        "both titles": ["--placeholder-title", "a", "--placeholder-title-loc-key", "b"],
        "attachment and offload": ["--attach", "attachment.ref", "--offload", "payload.ref"],
        "nine attachments": ["--attach", "attachment.ref"] * 9, "resume without batch": ["--resume-from", "2"],
        "errors without batch": ["--errors", "e"], "jobs without batch": ["--jobs", "2"],
        "recipients without batch": ["--recipients", "recipients.jsonl"],
        "two secrets": ["--passphrase-file", "pass", "--wrap-command", "./wrap.sh"],
    }.items():
        yield name, [*seal, "--to", "p256.jwk", *options], {"stdin": "inner.json"}


def opens(kids):
    base = ["open", "--topic", TOPIC]
    for profile, (_, options) in PROFILES.items():
        file = {"stdin": f"sealed/{profile}.json"}
        yield profile, [*base, *options, "--at", NOW], file
        if profile in ("encrypted", "wrapped", "encrypted-signer"):
            continue
        for at in ["2026-06-30T00:00:00Z", "2026-07-02T00:00:00Z", "2026-05-31T23:49:59Z", "2026-05-31T23:55:00Z"]:
            yield f"{profile} at {at}", [*base, *options, "--at", at], file
        yield f"{profile}, another topic", ["open", "--topic", "com.example.other", *options, "--at", NOW], file
        for keys in ["Keys/x25519", "Keys/psk", "Keys/shared", "device.jwk", "p256.jwk", "Keys/sender"]:
            yield f"{profile} with {keys}", [*base, "--keys", keys, "--at", NOW], file
        yield f"{profile} with other senders", [*base, *options[:2], "--trust", "Keys/rotated", "--at", NOW], file
    for name in ["v0", "v2", "no-kid", "bad-kid", "short", "padded", "flipped", "skid", "unsealed", "integer"]:
        yield f"bad payload {name}", [*base, "--keys", "Keys/p256", "--at", NOW], {"stdin": f"sealed/bad-{name}.json"}
        yield f"bad payload {name}, pinned", [
            *base, "--keys", "Keys/p256", "--trust", "sender.set.json", "--at", NOW], {"stdin": f"sealed/bad-{name}.json"}
    for name in PAYLOADS:
        yield f"not sealed: {name}", [*base, "--keys", "Keys/p256", "--at", NOW], {"stdin": name}
    yield "too long", [*base, "--keys", "Keys/p256"], {"stdin": b" " * 70000}


def inspects(kids):
    for profile, (_, options) in PROFILES.items():
        file = {"stdin": f"sealed/{profile}.json"}
        yield profile, ["inspect"], file
        yield f"{profile}, JSON", ["inspect", "--json"], file
        yield f"{profile}, opened", ["inspect", "--topic", TOPIC, *options, "--at", NOW], file
        yield f"{profile}, opened, JSON", ["inspect", "--json", "--topic", TOPIC, *options, "--at", NOW], file
    for name in ["v0", "v2", "no-kid", "short", "padded", "flipped", "unsealed", "integer"]:
        yield f"bad {name}", ["inspect"], {"stdin": f"sealed/bad-{name}.json"}
        yield f"bad {name}, JSON", ["inspect", "--json"], {"stdin": f"sealed/bad-{name}.json"}
    for name in PAYLOADS:
        yield f"file {name}", ["inspect"], {"stdin": name}
    for limit in ["1", "100", "4096", "5000", "0", "-5", "x"]:
        yield f"limit {limit}", ["inspect", "--limit", limit], {"stdin": "sealed/p256.json"}
    yield "keys without topic", ["inspect", "--keys", "Keys/p256"], {"stdin": "sealed/p256.json"}
    yield "topic without keys", ["inspect", "--topic", TOPIC], {"stdin": "sealed/p256.json"}


def batches(kids):
    seal = ["seal", "--batch", "--topic", TOPIC, "--at", NOW, "--to", "p256.jwk"]
    for lines in ["lines.jsonl", "mixed.jsonl", "to.jsonl", "empty.json", "not-utf8.json"]:
        for name, options in {
            "plain": [], "errors": ["--errors", "e.jsonl"], "one job": ["--jobs", "1", "--errors", "e.jsonl"],
            "resumed": ["--resume-from", "3", "--errors", "e.jsonl"],
            "behind the end": ["--resume-from", "100", "--errors", "e.jsonl"],
            "directory": ["--recipients", "recipients.jsonl", "--errors", "e.jsonl"],
            "database": ["--recipients", "recipients.db", "--errors", "e.jsonl"],
            "loose directory": ["--recipients", "recipients-loose.jsonl", "--errors", "e.jsonl"],
            "campaign": ["--id-from", "c", "--errors", "e.jsonl"], "signed": ["--sign-with", "Keys/sender"],
            "errors that exist": ["--errors", "inner.json"], "no jobs": ["--jobs", "0"],
            "attachment": ["--attach", "attachment.ref", "--errors", "e.jsonl"],
        }.items():
            yield f"seal {lines}, {name}", [*seal, *options], {"stdin": lines}
    for lines in ["queue/p256.jsonl", "queue/shared.jsonl", "queue/device.jsonl", "mixed.jsonl"]:
        for keys in ["Keys/p256", "Keys/shared"]:
            yield f"open {lines} with {keys}", [
                "open", "--batch", "--topic", TOPIC, "--keys", keys, "--at", NOW, "--errors", "e.jsonl"], {"stdin": lines}
    yield "open with --device", ["open", "--batch", "--topic", TOPIC, "--keys", "Keys/shared", "--device", "d"]


def reseals(kids):
    base = ["reseal", "--topic", TOPIC, "--errors", "e.jsonl"]
    for keys in ["Keys/rotated", "Keys/shared", "Keys/p256", "shared.jwk", "missing"]:
        for lines in ["queue/rotated.jsonl", "queue/shared.jsonl", "queue/device.jsonl", "mixed.jsonl", "empty.json"]:
            yield f"{lines} with {keys}", [*base, "--keys", keys, "--at", "2026-06-20T00:00:00Z"], {"stdin": lines}
    yield "signed", [*base, "--keys", "Keys/rotated", "--sign-with", "Keys/sender"], {"stdin": "queue/rotated.jsonl"}


def blobs(kids):
    base = ["blob", "seal", "--reference", "new.ref", "--output", "new.blob"]
    for name, options in {
        "image": ["--type", "image/png"], "no type": [], "url": ["--url", "https://example.com/a"],
        "http": ["--url", "http://example.com/a"], "bad url": ["--url", "https://exa mple"], "id": ["--id", "photo"],
        "bad id": ["--id", "a.b"], "upper type": ["--type", "Image/PNG"], "payload": ["--purpose", "payload"],
        "bad purpose": ["--purpose", "film"], "payload with type": ["--purpose", "payload", "--type", "image/png"],
    }.items():
        for plaintext in ["picture.png", "text.json", "empty.json"]:
            yield f"seal {plaintext}, {name}", [*base, "--from", plaintext, *options]
    yield "seal to stdout", ["blob", "seal", "--reference", "new.ref"], {"stdin": "picture.png", "is_data": False}
    yield "seal over a file", ["blob", "seal", "--reference", "inner.json"], {"stdin": "picture.png"}
    for blob in ["attachment.blob", "payload.blob", "cut.blob", "flipped.blob", "inner.json", "missing"]:
        for reference in ["attachment.ref", "payload.ref", "inner.json", "missing"]:
            yield f"open {blob} with {reference}", [
                "blob", "open", "--reference", reference, "--from", blob, "--output", "new.out"]
    yield "open over a file", [
        "blob", "open", "--reference", "attachment.ref", "--from", "attachment.blob", "--output", "inner.json"]


def creates(kids):
    base = ["keys", "create"]
    for kind in ["recipient", "sender", "shared", "master", ""]:
        for name, options in {
            "plain": ["--insecure-plaintext"], "json": ["--insecure-plaintext", "--json"], "no secret": [],
            "x25519": ["--suite", "x25519", "--insecure-plaintext"], "psk": ["--psk", "--insecure-plaintext"],
            "bad suite": ["--suite", "x448", "--insecure-plaintext"], "secret unused": [
                "--insecure-plaintext", "--passphrase-file", "pass"],
            "policy": ["--rotate-every", "30d", "--publish-lead", "3d", "--overlap", "31d", "--keep", "3",
                       "--insecure-plaintext"],
            "coverage": ["--require-coverage", "95%", "--insecure-plaintext"],
            "reason": ["--reason", "because", "--insecure-plaintext"],
        }.items():
            yield f"{kind or 'no kind'}, {name}", [*base, "Keys/new", "--kind", kind, "--at", NOW, *options]
    for place in ["Keys/shared", "missing/new", "Keys/../Keys/new", "new", "/", "", "Keys/a b", "inner.json",
                  "Keys/" + "x" * 300]:
        yield f"at {place[:20]}", [*base, place, "--kind", "sender", "--insecure-plaintext", "--at", NOW]
    for name, options in {
        "passphrase": ["--passphrase-file", "pass"], "empty passphrase": ["--passphrase-file", "empty-pass"],
        "loose passphrase": ["--passphrase-file", "loose-pass"], "no passphrase": ["--passphrase-file", "missing"],
        "command": ["--wrap-command", "./wrap.sh"], "failing command": ["--wrap-command", "./failing.sh"],
        "no command": ["--wrap-command", "./missing"], "closed descriptor": ["--passphrase-fd", "9"],
    }.items():
        yield name, [*base, "Keys/new", "--kind", "shared", "--at", NOW, *options]
    yield "from the environment", [*base, "Keys/new", "--kind", "sender", "--at", NOW], {
        "environment": {"PUSHCRYPT_PASSPHRASE": "secret words"}}


def lists(kids):
    for place in ["Keys", "Keys/rotated", "Keys/rotated-p256", "Keys/enc-rotated", "Keys/p256", "Keys/psk", "Keys/gated",
                  "Keys/wrapped", "p256.jwk", "shared.jwk", "sender.set.json", "psk.registration", "device.jwk",
                  "missing", "inner.json", "Broken", "Broken/empty"]:
        for at in [START, NOW, "2026-06-25T00:00:00Z", "2030-01-01T00:00:00Z"]:
            yield f"{place} at {at}", ["keys", "list", place, "--at", at]
            yield f"{place} at {at}, JSON", ["keys", "list", place, "--json", "--at", at]
    for picture in ["new.svg", "new.html", "new.png", "missing/new.svg"]:
        yield f"picture {picture}", ["keys", "list", "Keys/rotated", "--picture", picture, "--at", NOW]
    for number in range(3):
        for name in ["rotated", "rotated-p256", "enc-rotated"]:
            for at in [NOW, "2026-06-26T12:00:00Z", "2027-01-01T00:00:00Z"]:
                kid = kids[f"{name}.{number}"]
                yield f"show {name} {number} at {at}", ["keys", "show", f"Keys/{name}", "--at", at, "--", kid]
                yield f"show {name} {number} at {at}, JSON", [
                    "keys", "show", f"Keys/{name}", "--json", "--at", at, "--", kid]
    for kid in ["AAAAAAAAAAA", "short", ""]:
        yield f"show {kid}", ["keys", "show", "Keys/shared", kid]


def changes(kids):
    times = {"now": NOW, "early": "2026-01-02T00:00:00Z", "late": LATER, "far": "2031-01-01T00:00:00Z",
             "before": "2025-01-01T00:00:00Z"}
    for name in ["shared", "rotated", "gated", "p256"]:
        for label, at in times.items():
            base = [f"Keys/{name}", "--at", at]
            newest = kids.get(f"{name}.2", kids[name])
            yield f"add {name} {label}", ["keys", "add", *base, "--json"]
            yield f"add {name} {label}, forced", ["keys", "add", *base, "--force"]
            yield f"add {name} {label}, at", ["keys", "add", *base, "--activates-at", "2026-09-01T00:00:00Z"]
            yield f"prune {name} {label}", ["keys", "prune", *base, "--yes"]
            yield f"prune {name} {label}, unasked", ["keys", "prune", *base]
            yield f"prune {name} {label}, clock", ["keys", "prune", *base, "--yes", "--confirm-clock", "--json"]
            for verb in ["promote", "retire", "revoke", "destroy"]:
                yield f"{verb} {name} {label}", ["keys", verb, *base, "--yes", "--", newest]
                yield f"{verb} {name} {label}, forced", ["keys", verb, *base, "--force", "--json", "--", newest]
    for verb in ["promote", "retire", "revoke", "destroy"]:
        yield f"{verb} an unknown key", ["keys", verb, "Keys/shared", "AAAAAAAAAAA", "--yes"]
        yield f"{verb} a revoked key", ["keys", verb, "Keys/rotated", "--yes", "--at", LATER, "--", kids["rotated.0"]]
    yield "revoke and promote", [
        "keys", "revoke", "Keys/rotated", "--promote", kids["rotated.2"], "--yes", "--at", "2026-06-26T10:00:00Z", "--",
        kids["rotated.1"]]


def policies(kids):
    for flag, values in {
        "--rotate-every": ["1d", "90d", "10y", "P1Y", "0d", "-1d", "x", "999999999999d"],
        "--publish-lead": ["0s", "1h", "30d", "200d", "x"], "--overlap": ["1d", "30d", "365d", "x"],
        "--keep": ["1", "2", "100", "0", "-1", "x", "9223372036854775807"],
        "--require-coverage": ["none", "0", "50%", "100%", "101%", "0.5", "x"],
    }.items():
        for value in values:
            yield f"{flag} {value}", ["keys", "policy", "Keys/shared", flag, value, "--at", NOW]
            yield f"{flag} {value}, JSON", ["keys", "policy", "Keys/enc-shared", flag, value, "--at", NOW, "--json",
                                            "--passphrase-file", "pass"]
    for name in ["shared", "gated", "enc-p256"]:
        yield f"shown {name}", ["keys", "policy", f"Keys/{name}"]
        yield f"shown {name}, JSON", ["keys", "policy", f"Keys/{name}", "--json"]


def imports(kids):
    for name in ["p256", "x25519", "psk", "sender"]:
        for form in ["private.jwk", "private.pem", "private.der", "private.raw", "encrypted.pem", "jwk", "pem", "set.json"]:
            base = ["keys", "import", "Keys/new", "--from", f"{name}.{form}", "--at", NOW]
            yield f"{name}.{form}", [*base, "--insecure-plaintext"]
            kind = "sender" if name == "sender" else "recipient"
            yield f"{name}.{form} as {kind}", [*base, "--insecure-plaintext", "--kind", kind]
            yield f"{name}.{form} with a passphrase", [
                *base, "--insecure-plaintext", "--key-passphrase-file", "pass", "--json"]
            yield f"{name}.{form} into a keyset", [
                "keys", "import", "Keys/rotated-p256", "--from", f"{name}.{form}", "--at", LATER]
    for file in ["shared.jwk", "device.jwk", "off-curve.jwk", "inner.json", "empty.json", "missing", "picture.png"]:
        yield file, ["keys", "import", "Keys/new", "--from", file, "--insecure-plaintext", "--at", NOW]
    yield "its own key", ["keys", "import", "Keys/p256", "--from", "p256.private.jwk", "--at", NOW]


def exports(kids):
    for name in ["p256", "x25519", "psk", "sender", "shared", "rotated", "enc-p256"]:
        secret = ["--passphrase-file", "pass"] if name.startswith("enc") else []
        for label, options in {
            "set": [], "set JSON": ["--json"], "registration": ["--registration"], "device": ["--device", "phone-1"],
            "jwk": ["--format", "jwk"], "pem": ["--format", "pem"], "der": ["--format", "der"], "raw": ["--format", "raw"],
            "pem JSON": ["--format", "pem", "--json"], "der JSON": ["--format", "der", "--json"],
            "private": ["--private"], "private jwk": ["--private", "--format", "jwk", "--insecure-plaintext"],
            "private pem": ["--private", "--format", "pem", "--export-passphrase-file", "pass"],
            "kid": ["--kid", kids[name]], "unknown kid": ["--kid", "AAAAAAAAAAA"], "bad format": ["--format", "xml"],
        }.items():
            yield f"{name}, {label}", ["keys", "export", f"Keys/{name}", *options, *secret, "--at", NOW], {"is_data": True}


def secrets(kids):
    yield "passwd to a passphrase", ["keys", "passwd", "Keys/enc-p256", "--passphrase-file", "pass",
                                     "--new-passphrase-file", "pass2", "--at", NOW]
    yield "passwd to a command", ["keys", "passwd", "Keys/enc-p256", "--passphrase-file", "pass",
                                  "--new-wrap-command", "./wrap.sh", "--at", NOW, "--json"]
    yield "passwd to plain text", ["keys", "passwd", "Keys/enc-p256", "--passphrase-file", "pass",
                                   "--insecure-plaintext", "--at", NOW]
    yield "passwd of a plain one", ["keys", "passwd", "Keys/p256", "--new-passphrase-file", "pass", "--at", NOW]
    yield "passwd, wrong", ["keys", "passwd", "Keys/enc-p256", "--passphrase-file", "pass2",
                            "--new-passphrase-file", "pass", "--at", NOW]
    yield "passwd, same", ["keys", "passwd", "Keys/enc-p256", "--passphrase-file", "pass",
                           "--new-passphrase-file", "pass", "--at", NOW]
    for command in [["keys", "add"], ["keys", "verify"], ["keys", "export"], ["keys", "log", "--verify"], ["rotate"],
                    ["keys", "policy", "--keep", "3"]]:
        for label, options in {
            "right": ["--passphrase-file", "pass"], "wrong": ["--passphrase-file", "pass2"], "none": [],
            "command": ["--wrap-command", "./wrap.sh"], "loose": ["--passphrase-file", "loose-pass"],
        }.items():
            for name in ["enc-sender", "sender", "wrapped"]:
                yield f"{' '.join(command)} of {name}, {label}", [
                    *command[:2 if command[0] == "keys" else 1], f"Keys/{name}",
                    *command[2 if command[0] == "keys" else 1:], *options, "--at", LATER]


def rotations(kids):
    for name in ["shared", "p256", "gated", "rotated", "rotated-p256", "sender"]:
        for at in ["2026-01-05T00:00:00Z", "2026-03-24T23:59:59Z", "2026-03-25T00:00:00Z", NOW, LATER,
                   "2026-12-01T00:00:00Z", "2029-01-01T00:00:00Z", "2025-06-01T00:00:00Z"]:
            base = ["rotate", f"Keys/{name}", "--at", at]
            yield f"{name} at {at}", [*base, "--yes"]
            yield f"{name} at {at}, JSON", [*base, "--yes", "--json"]
            yield f"{name} at {at}, dry", [*base, "--dry-run"]
            yield f"{name} at {at}, dry, JSON", [*base, "--dry-run", "--json"]
            yield f"{name} at {at}, now", [*base, "--now", "--yes"]
            yield f"{name} at {at}, clock", [*base, "--yes", "--confirm-clock"]
    yield "all", ["rotate", "--all", "Keys", "--yes", "--at", LATER]
    yield "all, dry, JSON", ["rotate", "--all", "--dry-run", "--json", "--at", LATER]
    yield "several", ["rotate", "Keys/shared", "Keys/p256", "Keys/missing", "--yes", "--at", LATER]
    yield "emergency", ["rotate", "Keys/shared", "--emergency", "--revoke", kids["shared"], "--yes", "--at", NOW]
    yield "emergency, JSON", ["rotate", "Keys/sender", "--emergency", "--yes", "--json", "--at", NOW,
                              f"--revoke={kids['sender']}"]
    yield "emergency without a key", ["rotate", "Keys/shared", "--emergency", "--yes", "--at", NOW]
    yield "emergency, another key", ["rotate", "Keys/shared", "--emergency", "--revoke", "AAAAAAAAAAA", "--yes"]
    yield "with reports", ["rotate", "Keys/gated", "--reports", "reports.jsonl", "--yes", "--at", NOW]
    yield "nothing named", ["rotate", "--yes"]


def logs(kids):
    for name in ["rotated", "shared", "enc-sender", "wrapped", "missing"]:
        for label, options in {"shown": [], "JSON": ["--json"], "verified": ["--verify"],
                               "verified, JSON": ["--verify", "--json"],
                               "begun again": ["--start-new", "--yes", "--reason", "why"],
                               "begun without a reason": ["--start-new", "--yes"]}.items():
            yield f"{name}, {label}", ["keys", "log", f"Keys/{name}", *options, "--at", LATER]


def verifications(kids):
    for name in ["rotated", "p256", "psk", "enc-sender", "wrapped", "missing"]:
        for options in [[], ["--json"], ["--passphrase-file", "pass"]]:
            yield f"{name} {' '.join(options)}", ["keys", "verify", f"Keys/{name}", *options, "--at", LATER]


def examinations(kids):
    for place in ["Keys", "Keys/rotated", "Keys/p256", "Keys/enc-sender", "Broken", "missing", "inner.json"]:
        for at in [NOW, LATER, "2029-01-01T00:00:00Z"]:
            yield f"{place} at {at}", ["keys", "doctor", place, "--at", at]
            yield f"{place} at {at}, JSON", ["keys", "doctor", place, "--json", "--at", at]


def rehearsals(kids):
    base = ["keys", "rehearse", "Keys/shared", "--devices", "2000", "--refresh-p50", "6h", "--refresh-p99", "20d"]
    for label, options in {
        "plain": [], "JSON": ["--json"], "lead": ["--publish-lead", "30d"], "offline": ["--offline", "10%"],
        "bad offline": ["--offline", "200%"], "seed": ["--seed", "5", "--json"], "picture": ["--picture", "new.svg"],
        "no pushes": ["--pushes-per-day", "0"], "many": ["--pushes-per-day", "1000", "--json"],
        "backwards": ["--refresh-p50", "30d"],
    }.items():
        yield label, [*base, *options]
    yield "fleet", ["keys", "rehearse", "Keys/sender", "--fleet", "fleet.json", "--json"]
    yield "recipient keys", ["keys", "rehearse", "Keys/p256", "--fleet", "fleet.json"]
    yield "bad fleet", ["keys", "rehearse", "Keys/shared", "--fleet", "inner.json"]


def coverages(kids):
    for name in ["gated", "shared", "p256", "missing"]:
        for reports in ["reports.jsonl", "empty.json", "mixed.jsonl", "missing"]:
            for options in [[], ["--json"], ["--picture", "new.html"]]:
                yield f"{name}, {reports} {' '.join(options)}", [
                    "keys", "coverage", f"Keys/{name}", "--reports", reports, "--at", NOW, *options]


def recipients(kids):
    for name in ["recipients.jsonl", "recipients-twice.jsonl", "recipients-bad.jsonl", "recipients-loose.jsonl",
                 "recipients.db", "empty.json", "missing", "inner.json", "Keys"]:
        yield f"check {name}", ["recipients", "check", name]
        yield f"check {name}, JSON", ["recipients", "check", name, "--json"]
        yield f"import {name}", ["recipients", "import", name, "--into", "new.db"]
        yield f"import {name}, JSON", ["recipients", "import", name, "--into", "recipients.db", "--json"]


def broken_keysets(kids):
    for name in ["cut", "flipped", "garbage", "no-public", "no-log", "cut-log", "loose", "loose-file", "other-public",
                 "unfinished", "link", "empty"]:
        place = f"Broken/{name}"
        for label, arguments in {
            "list": ["keys", "list", place], "verify": ["keys", "verify", place],
            "verify JSON": ["keys", "verify", place, "--json"], "doctor": ["keys", "doctor", place],
            "rotate": ["rotate", place, "--yes"], "dry": ["rotate", place, "--dry-run"], "log": ["keys", "log", place],
            "log verify": ["keys", "log", place, "--verify"], "add": ["keys", "add", place],
            "begin": ["keys", "log", place, "--start-new", "--yes", "--reason", "r"],
            "export": ["keys", "export", place], "policy": ["keys", "policy", place, "--keep", "4"],
            "open": ["open", "--keys", place, "--topic", TOPIC], "seal": ["seal", "--to", place, "--topic", TOPIC],
        }.items():
            yield f"{name}, {label}", [*arguments, "--at", LATER], {"stdin": "text.json"}


def numbers(kids):
    """Numbers at the limits of their types, for every option that accepts a number."""
    places = {
        "seal --limit": ["seal", "--to", "p256.jwk", "--topic", TOPIC, "--limit"],
        "seal --pad": ["seal", "--to", "p256.jwk", "--topic", TOPIC, "--pad"],
        "seal --expires": ["seal", "--to", "p256.jwk", "--topic", TOPIC, "--expires"],
        "seal --jobs": ["seal", "--batch", "--to", "p256.jwk", "--topic", TOPIC, "--jobs"],
        "seal --resume-from": ["seal", "--batch", "--to", "p256.jwk", "--topic", TOPIC, "--resume-from"],
        "inspect --limit": ["inspect", "--limit"], "list --at": ["keys", "list", "Keys/rotated", "--at"],
        "policy --keep": ["keys", "policy", "Keys/shared", "--keep"],
        "rehearse --seed": ["keys", "rehearse", "Keys/shared", "--fleet", "fleet.json", "--seed"],
        "create --passphrase-fd": ["keys", "create", "Keys/new", "--kind", "sender", "--at", NOW, "--passphrase-fd"],
    }
    values = ["0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "9007199254740993",
              "1e400", "0x10", "1.5", "٣"]
    for name, arguments in places.items():
        for value in values:
            yield f"{name} {value}", [*arguments, value], {"stdin": "text.json"}
