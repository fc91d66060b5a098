"""The command lines: every command and option, with valid and invalid values."""

import os
import shutil
from dataclasses import dataclass, field
from typing import Callable, Optional, Union

from fixtures import NOW, PAYLOADS, PROFILES, SETTINGS, START, TOPIC

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
                  imports, exports, secrets, rotations, places, logs, rehearsals, coverages, recipients, broken_keysets,
                  numbers]:
        for name, arguments, *more in group(kids):
            options = more[0] if more else {}
            found.append(Case(f"{group.__name__}/{name}", arguments, **options))
    return found


FLEET = ["--devices", "2000", "--refresh-p50", "6h", "--refresh-p99", "20d"]
COMMANDS = {
    "demo": [], "seal": ["--to", "p256.jwk", "--topic", TOPIC], "open": ["--keys", "Keys/p256", "--topic", TOPIC],
    "inspect": [], "reseal": ["--keys", "Keys/shared", "--topic", TOPIC, "--errors", "errors.jsonl"],
    "blob seal": ["--reference", "new.ref"], "blob open": ["--reference", "attachment.ref", "--output", "new.png"],
    "keys create": ["Keys/new", "--kind", "sender"], "keys list": ["Keys/rotated"], "keys policy": ["Keys/shared"],
    "keys destroy": ["Keys/shared", "KID"], "keys import": ["Keys/new", "sender.private.jwk"],
    "keys export": ["Keys/p256"], "keys log": ["Keys/rotated"], "keys secret add": ["Keys/enc-p256", "--name", "more"],
    "keys secret set": ["Keys/enc-p256"], "keys secret remove": ["Keys/enc-p256", "--name", "passphrase"],
    "keys secret list": ["Keys/enc-p256"], "keys rehearse": ["Keys/shared", *FLEET],
    "keys coverage": ["Keys/gated", "--reports", "reports.jsonl"], "init": ["--topic", TOPIC], "rotate": ["Keys/shared"],
    "publish": ["Keys/sender"], "revoke": ["Keys/shared", "KID"], "restore": ["Keys/shared"], "status": [],
    "recipients check": ["recipients.db"], "recipients import": ["recipients.jsonl", "--into", "new.db"],
}


# These commands have no --at.
WITHOUT_TIME = {"demo", "blob seal", "blob open", "keys log", "keys secret list", "keys rehearse", "recipients check", "recipients import"}


def help_texts(kids):
    for command in ["", "keys", "keys secret", "blob", "recipients", *COMMANDS]:
        yield f"{command or 'pushcrypt'} --help", [*command.split(), "--help"]
        yield f"help {command}", ["help", *command.split()]
    yield "version", ["--version"]
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
            yield f"{lines} with {keys}", [*base, "--keys", keys, "--at", "2026-07-10T00:00:00Z"], {"stdin": lines}
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
            "plain": ["--insecure-plaintext"], "no secret": [],
            "x25519": ["--suite", "x25519", "--insecure-plaintext"], "psk": ["--psk", "--insecure-plaintext"],
            "bad suite": ["--suite", "x448", "--insecure-plaintext"], "secret unused": [
                "--insecure-plaintext", "--passphrase-file", "pass"],
            "policy": ["--rotate-every", "30d", "--publish-lead", "3d", "--overlap", "31d", "--keep", "3",
                       "--insecure-plaintext"],
            "coverage": ["--require-coverage", "95%", "--insecure-plaintext"],
        }.items():
            yield f"{kind or 'no kind'}, {name}", [*base, "Keys/new", "--kind", kind, "--at", NOW, *options]
    for place in ["Keys/shared", "missing/new", "Keys/../Keys/new", "new", "/", "", "Keys/a b", "inner.json",
                  "Keys/" + "x" * 300]:
        yield f"at {place[:20]}", [*base, place, "--kind", "sender", "--insecure-plaintext", "--at", NOW]
    for name, options in {
        "passphrase": ["--passphrase-file", "pass"], "empty passphrase": ["--passphrase-file", "empty-pass"],
        "loose passphrase": ["--passphrase-file", "loose-pass"], "no passphrase": ["--passphrase-file", "missing"],
        "command": ["--wrap-command", "./wrap.sh"], "failing command": ["--wrap-command", "./failing.sh"],
        "no command": ["--wrap-command", "./missing"], "closed descriptor": ["--passphrase-file", "/dev/fd/9"],
    }.items():
        yield name, [*base, "Keys/new", "--kind", "shared", "--at", NOW, *options]
    yield "from the environment", [*base, "Keys/new", "--kind", "sender", "--at", NOW], {
        "environment": {"PUSHCRYPT_PASSPHRASE": "secret words"}}


def lists(kids):
    for place in ["Keys", "Keys/rotated", "Keys/rotated-p256", "Keys/enc-rotated", "Keys/p256", "Keys/psk", "Keys/gated",
                  "Keys/wrapped", "p256.jwk", "shared.jwk", "sender.set.json", "psk.registration", "device.jwk",
                  "missing", "inner.json", "Broken", "Twice"]:
        for at in [START, NOW, "2026-06-25T00:00:00Z", "2030-01-01T00:00:00Z"]:
            yield f"{place} at {at}", ["keys", "list", place, "--at", at]
            yield f"{place} at {at}, JSON", ["keys", "list", place, "--json", "--at", at]


def changes(kids):
    times = {"now": NOW, "early": "2026-01-02T00:00:00Z", "late": LATER, "far": "2031-01-01T00:00:00Z",
             "before": "2025-01-01T00:00:00Z"}
    for name in ["shared", "rotated", "gated", "p256", "sender"]:
        for label, at in times.items():
            oldest, newest = kids.get(f"{name}.1", kids[name]), kids.get(f"{name}.2", kids[name])
            for verb in [["revoke"], ["keys", "destroy"]]:
                for options in [["--yes"], ["--dry-run"], []]:
                    for key, kid in {"oldest": oldest, "newest": newest}.items():
                        yield f"{verb[-1]} {key} of {name} {label} {' '.join(options)}", [
                            *verb, f"Keys/{name}", "--at", at, *options, "--", kid]
    for verb in [["revoke"], ["keys", "destroy"]]:
        yield f"{verb[-1]} an unknown key", [*verb, "Keys/shared", "AAAAAAAAAAA", "--yes"]
        yield f"{verb[-1]} a revoked key", [*verb, "Keys/rotated", "--yes", "--at", LATER, "--", kids["rotated.0"]]
    yield "revoke, JSON", ["revoke", "Keys/shared", "--yes", "--json", "--at", NOW, "--", kids["shared"]]


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
            base = ["keys", "import", "Keys/new", f"{name}.{form}", "--at", NOW]
            yield f"{name}.{form}", [*base, "--insecure-plaintext"]
            kind = "sender" if name == "sender" else "recipient"
            yield f"{name}.{form} as {kind}", [*base, "--insecure-plaintext", "--kind", kind]
            yield f"{name}.{form} with a passphrase", [
                *base, "--insecure-plaintext", "--key-passphrase-file", "pass"]
            yield f"{name}.{form} into a keyset", [
                "keys", "import", "Keys/rotated-p256", f"{name}.{form}", "--at", LATER]
    for file in ["shared.jwk", "device.jwk", "off-curve.jwk", "inner.json", "empty.json", "missing", "picture.png"]:
        yield file, ["keys", "import", "Keys/new", file, "--insecure-plaintext", "--at", NOW]
    yield "its own key", ["keys", "import", "Keys/p256", "p256.private.jwk", "--at", NOW]


def exports(kids):
    for name in ["p256", "x25519", "psk", "sender", "shared", "rotated", "enc-p256"]:
        secret = ["--passphrase-file", "pass"] if name.startswith("enc") else []
        for label, options in {
            "set": [], "registration": ["--registration"], "device": ["--device", "phone-1"],
            "jwk": ["--format", "jwk"], "pem": ["--format", "pem"], "der": ["--format", "der"], "raw": ["--format", "raw"],
            "private": ["--private"], "private jwk": ["--private", "--format", "jwk", "--insecure-plaintext"],
            "private pem": ["--private", "--format", "pem", "--new-passphrase-file", "pass"],
            "kid": ["--", kids[name]], "unknown kid": ["AAAAAAAAAAA"], "bad format": ["--format", "xml"],
        }.items():
            yield f"{name}, {label}", ["keys", "export", f"Keys/{name}", *secret, "--at", NOW, *options], {"is_data": True}


def secrets(kids):
    right, new = ["--passphrase-file", "pass"], ["--new-passphrase-file", "pass2"]
    for label, arguments in {
        "set a passphrase": ["set", "Keys/enc-p256", *right, *new],
        "set a command": ["set", "Keys/enc-p256", *right, "--new-wrap-command", "./wrap.sh"],
        "set plain text": ["set", "Keys/enc-p256", *right, "--insecure-plaintext"],
        "encrypt plain keys": ["set", "Keys/p256", *new], "set with a wrong one": ["set", "Keys/enc-p256", *new, *new],
        "set the same": ["set", "Keys/enc-p256", *right, "--new-passphrase-file", "pass"],
        "add": ["add", "Keys/enc-p256", "--name", "safe", *right, *new],
        "add a name twice": ["add", "Keys/enc-p256", "--name", "passphrase", *right, *new],
        "add a failing command": ["add", "Keys/enc-p256", "--name", "kms", *right, "--new-wrap-command", "./failing.sh"],
        "remove the last": ["remove", "Keys/enc-p256", "--name", "passphrase", *right],
        "remove another": ["remove", "Keys/enc-p256", "--name", "none", *right],
    }.items():
        yield label, ["keys", "secret", *arguments, "--at", NOW]
    for name in ["enc-p256", "p256", "wrapped", "missing"]:
        yield f"list {name}", ["keys", "secret", "list", f"Keys/{name}"]
        yield f"list {name}, JSON", ["keys", "secret", "list", f"Keys/{name}", "--json"]
    for label, options in {
        "right": right, "wrong": ["--passphrase-file", "pass2"], "none": [], "command": ["--wrap-command", "./wrap.sh"],
        "loose": ["--passphrase-file", "loose-pass"],
    }.items():
        for name in ["enc-sender", "sender", "wrapped"]:
            place = f"Keys/{name}"
            yield f"log of {name}, {label}", ["keys", "log", place, *options]
            for command in [["rotate", place], ["keys", "export", place], ["keys", "policy", place, "--keep", "3"]]:
                yield f"{' '.join(command[:2])} of {name}, {label}", [*command, *options, "--at", LATER]


def rotations(kids):
    for name in ["shared", "p256", "gated", "rotated", "rotated-p256", "sender"]:
        for at in ["2026-01-05T00:00:00Z", "2026-03-24T23:59:59Z", "2026-03-25T00:00:00Z", NOW, LATER,
                   "2026-12-01T00:00:00Z", "2029-01-01T00:00:00Z", "2025-06-01T00:00:00Z"]:
            base = ["rotate", f"Keys/{name}", "--at", at]
            for options in [[], ["--json"], ["--dry-run"], ["--dry-run", "--json"], ["--now"], ["--now", "--at-once"],
                            ["--confirm-clock"]]:
                yield f"{name} at {at} {' '.join(options)}", [*base, *options]
    yield "several", ["rotate", "Keys/shared", "Keys/p256", "Keys/missing", "--at", LATER]
    yield "with reports", ["rotate", "Keys/gated", "--reports", "reports.jsonl", "--at", NOW]
    yield "nothing named", ["rotate"]


def places(kids):
    """Keystores with settings: publication, mishaps and their examination."""
    senders, served = "Place/keystore/senders", "Place/publish-to"

    def old_copy(folder):
        shutil.copy(f"{folder}/old.keyset", f"{folder}/{senders}.keyset")

    def other_host(folder):
        shutil.copy(f"{folder}/Other/keystore/senders.keyset", f"{folder}/{senders}.keyset")

    def lost_keyset(folder):
        os.remove(f"{folder}/{senders}.keyset")

    def lost_history(folder):
        shutil.rmtree(f"{folder}/Place/history")

    def junk_served(folder):
        for name in os.listdir(f"{folder}/{served}"):
            with open(f"{folder}/{served}/{name}", "w") as file:
                file.write("junk")

    def renamed(folder):
        os.rename(f"{folder}/{senders}.keyset", f"{folder}/Place/keystore/renamed.keyset")

    mishaps = [None, old_copy, other_host, lost_keyset, lost_history, junk_served, renamed]
    for prepare in mishaps:
        for at in ["2026-03-28T00:00:00Z", LATER, "2025-06-01T00:00:00Z", "2029-01-01T00:00:00Z"]:
            for command in [
                ["rotate"], ["rotate", "--dry-run", "--json"], ["publish"], ["publish", "--json"], ["restore"],
                ["restore", "--over", "--json"], ["restore", "--confirm-clock"], ["restore", "old.keyset"],
                ["restore", "Other/keystore/senders.keyset", "--over"], ["status"], ["status", "--json", "--long"],
                ["status", "--prometheus", "new.prom"], ["keys", "list"], ["keys", "export", senders, "--pins"],
                ["publish", "--unsigned", "new.log", senders],
            ]:
                name = prepare.__name__ if prepare else "in order"
                yield f"{name}: {' '.join(command)} at {at}", [*command, "--at", at], {
                    "environment": SETTINGS, "prepare": prepare}
    yield "codes", ["status", "--codes"]
    yield "no settings", ["status", "--at", NOW]
    yield "init again", ["init", "--topic", TOPIC, "--settings", "Place/settings", "--yes", "--at", NOW]


def logs(kids):
    for name in ["rotated", "shared", "enc-sender", "wrapped", "missing"]:
        for options in [[], ["--json"]]:
            yield f"{name} {' '.join(options)}", ["keys", "log", f"Keys/{name}", *options]


def rehearsals(kids):
    for label, options in {
        "plain": [], "JSON": ["--json"], "lead": ["--publish-lead", "30d"], "offline": ["--offline", "10%"],
        "bad offline": ["--offline", "200%"], "backwards": ["--refresh-p50", "30d"],
    }.items():
        yield label, ["keys", "rehearse", "Keys/shared", *FLEET, *options]
    yield "sender keys", ["keys", "rehearse", "Keys/sender", *FLEET, "--json"]
    yield "recipient keys", ["keys", "rehearse", "Keys/p256", *FLEET]


def coverages(kids):
    for name in ["gated", "shared", "p256", "missing"]:
        for reports in ["reports.jsonl", "empty.json", "mixed.jsonl", "missing"]:
            for options in [[], ["--json"]]:
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
    names = ["cut", "half", "flipped", "no-material", "no-line", "garbage", "later", "other-keys", "loose", "link", "folder"]
    for place in [f"Broken/{name}" for name in names] + ["Twice/one", "Open/shared"]:
        yield f"{place}, log", ["keys", "log", place]
        for label, arguments in {
            "list": ["keys", "list", place], "rotate": ["rotate", place], "dry": ["rotate", place, "--dry-run"],
            "now": ["rotate", "--now", place], "restore": ["restore", place], "export": ["keys", "export", place],
            "policy": ["keys", "policy", place, "--keep", "4"], "open": ["open", "--keys", place, "--topic", TOPIC],
            "seal": ["seal", "--to", place, "--topic", TOPIC],
        }.items():
            yield f"{place}, {label}", [*arguments, "--at", LATER], {"stdin": "text.json"}


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
        "rehearse --devices": ["keys", "rehearse", "Keys/shared", *FLEET, "--devices"],
        "create --passphrase-file": ["keys", "create", "Keys/new", "--kind", "sender", "--at", NOW, "--passphrase-file"],
    }
    values = ["0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "9007199254740993",
              "1e400", "0x10", "1.5", "٣"]
    for name, arguments in places.items():
        for value in values:
            yield f"{name} {value}", [*arguments, value], {"stdin": "text.json"}
