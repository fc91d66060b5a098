"""Makes the folder whose copies the cases use: keystores, keys, payloads and broken files, made by one tool."""

import base64
import json
import os
import shutil
import subprocess

START = "2026-01-01T00:00:00Z"
NOW = "2026-06-01T00:00:00Z"
TOPIC = "com.example.app"

WRAP = """#!/bin/sh
# Simulates a key service: wraps by encoding.
case "$1" in
wrap) base64 -w0 ;;
unwrap) base64 -d ;;
*) exit 64 ;;
esac
"""

SETTINGS = {"PUSHCRYPT_SETTINGS": "Place/settings"}

PAYLOADS = {
    "inner.json": b'{"aps":{"alert":{"title":"Anna","body":"See you at eight"},"badge":3,"sound":"ping.caf",'
                  b'"interruption-level":"active","relevance-score":0.5,"thread-id":"t1","content-available":1},'
                  b'"chat":"17"}\n',
    "text.json": b'{"aps":{"alert":"Hello"}}',
    "silent.json": b'{"aps":{"content-available":1}}',
    "long.json": json.dumps({"aps": {"alert": {"title": "T", "body": "x" * 5000}}}).encode(),
    "duplicate.json": b'{"aps":{"alert":"a","alert":"b"}}',
    "trailing.json": b'{"aps":{"alert":"a"}} x',
    "array.json": b"[1,2]",
    "empty.json": b"",
    "sealed-before.json": b'{"aps":{"alert":"a"},"pushcrypt":{}}',
    "unicode.json": '{"aps":{"alert":{"title":"Žluťoučký 🐎","body":"\\u00e9"}}}'.encode(),
    "not-utf8.json": b'{"aps":{"alert":"\xff"}}',
    "deep.json": b'{"aps":{"alert":"a"},"d":' + b"[" * 100 + b"]" * 100 + b"}",
    "picture.png": bytes.fromhex("89504e470d0a1a0a") + bytes(range(256)) * 40,
}


class Tool:
    """Runs a tool in a folder."""

    def __init__(self, path, folder, environment):
        self.path, self.folder, self.environment = path, folder, environment

    def __call__(self, *arguments, stdin=b"", status=0, **more):
        process = subprocess.run([self.path, *arguments], cwd=self.folder, input=stdin, capture_output=True,
                                 env={**self.environment, **more})
        if status is not None and process.returncode != status:
            raise RuntimeError(f"{arguments}: {process.returncode}: {process.stderr.decode(errors='replace')}")
        return process.stdout


def write(folder, name, content, mode=0o600):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, mode)


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def make(path, folder, environment):
    """- Returns: the kid of the first key of each keyset, and of the keys of `rotated` by their state."""
    os.makedirs(folder)
    tool = Tool(path, folder, environment)
    write(folder, "pass", b"correct horse battery staple\n")
    write(folder, "pass2", b"another passphrase\n")
    write(folder, "empty-pass", b"")
    write(folder, "loose-pass", b"correct horse battery staple\n", 0o644)
    write(folder, "wrap.sh", WRAP.encode(), 0o700)
    write(folder, "failing.sh", b"#!/bin/sh\nexit 3\n", 0o700)
    os.makedirs(os.path.join(folder, "Keys"), mode=0o700)
    for name, content in PAYLOADS.items():
        write(folder, name, content, 0o644)
    kids = {}

    def create(name, *options):
        kids[name] = tool("keys", "create", f"Keys/{name}", "--at", START, *options).decode().strip()

    plain, encrypted = ["--insecure-plaintext"], ["--passphrase-file", "pass"]
    create("p256", "--kind", "recipient", *plain)
    create("x25519", "--kind", "recipient", "--suite", "x25519", *plain)
    create("psk", "--kind", "recipient", "--psk", *plain)
    create("sender", "--kind", "sender", *plain)
    create("shared", "--kind", "shared", *plain)
    create("gated", "--kind", "shared", "--require-coverage", "90%", *plain)
    create("enc-p256", "--kind", "recipient", *encrypted)
    create("enc-sender", "--kind", "sender", *encrypted)
    create("enc-shared", "--kind", "shared", *encrypted)
    create("wrapped", "--kind", "shared", "--wrap-command", "./wrap.sh")
    for name, kind in [("rotated", "shared"), ("rotated-p256", "recipient"), ("enc-rotated", "sender")]:
        secret = encrypted if name.startswith("enc") else []
        create(name, "--kind", kind, *(secret or plain))
        for day in ["2026-03-26", "2026-06-24"]:
            tool("rotate", f"Keys/{name}", "--at", f"{day}T00:00:00Z", *secret)
        states = json.loads(tool("keys", "list", f"Keys/{name}", "--json", "--at", "2026-06-25T00:00:00Z"))
        for number, key in enumerate(states):
            kids[f"{name}.{number}"] = key["kid"]
    tool("revoke", "Keys/rotated", kids["rotated.0"], "--yes", "--at", "2026-06-26T00:00:00Z")
    place(tool, folder)
    damage(folder)
    files(tool, folder, kids)
    sealed(tool, folder, kids)
    return kids


def place(tool, folder):
    """Makes keystores with settings, a history and a served folder, and copies for mishaps."""
    os.makedirs(os.path.join(folder, "Place"))
    names = ["keystore", "publisher-keystore", "publish-to", "history", "settings", "pins"]
    options = [word for name in names for word in (f"--{name}", f"Place/{name}")]
    tool("init", *options, "--topic", TOPIC, "--insecure-plaintext", "--yes", "--at", START)
    # Paths are relative to the settings, so that copies of the folder use their own keystores.
    settings = read(folder, "Place/settings").replace(os.path.join(os.path.realpath(folder), "Place/").encode(), b"")
    write(folder, "Place/settings", settings, 0o644)
    senders = os.path.join(folder, "Place/keystore/senders.keyset")
    shutil.copy(senders, os.path.join(folder, "old.keyset"))
    tool("rotate", "--at", "2026-03-26T00:00:00Z", **SETTINGS)
    # A host that has changed an old copy.
    shutil.copytree(os.path.join(folder, "Place"), os.path.join(folder, "Other"))
    for name in ["Place", "Other"]:
        tool("rotate", "--now", "--at-once", f"{name}/keystore/senders", "--at", "2026-03-27T00:00:00Z",
             PUSHCRYPT_SETTINGS=f"{name}/settings")


def damage(folder):
    """Makes broken keysets, each with a different defect."""
    broken = os.path.join(folder, "Broken")
    os.makedirs(broken, mode=0o700)
    keyset = read(folder, "Keys/rotated.keyset")
    rows = keyset.splitlines(keepends=True)
    for name, text in {
        "cut": keyset[:200], "half": keyset[:-40], "flipped": keyset.replace(b'"who":"', b'"who":"x', 1),
        "no-material": b"".join(rows[:-1]), "no-line": b"".join(rows[:1] + rows[2:]), "garbage": b"\x00\x01garbage",
        "later": b"".join(rows[:-1]) + b'{"v":2}\n', "other-keys": rows[0] + read(folder, "Keys/shared.keyset"),
    }.items():
        write(broken, f"{name}.keyset", text)
    write(broken, "loose.keyset", keyset, 0o644)
    os.symlink("../Keys/shared.keyset", os.path.join(broken, "link.keyset"))
    os.makedirs(os.path.join(broken, "folder.keyset"))
    for name in ["one", "two"]:
        write(folder, f"Twice/{name}.keyset", read(folder, "Keys/p256.keyset"))
    os.makedirs(os.path.join(folder, "Open"))
    os.chmod(os.path.join(folder, "Open"), 0o755)
    write(folder, "Open/shared.keyset", read(folder, "Keys/shared.keyset"))


def files(tool, folder, kids):
    """Makes files of keys."""
    at = ["--at", NOW]
    for name in ["p256", "x25519", "psk", "sender"]:
        write(folder, f"{name}.set.json", tool("keys", "export", f"Keys/{name}", *at), 0o644)
        write(folder, f"{name}.jwk", tool("keys", "export", f"Keys/{name}", "--format", "jwk", *at), 0o644)
        write(folder, f"{name}.pem", tool("keys", "export", f"Keys/{name}", "--format", "pem", *at), 0o644)
        private = ["--private", "--insecure-plaintext"]
        for form in ["jwk", "pem", "der", "raw"]:
            write(folder, f"{name}.private.{form}",
                  tool("keys", "export", f"Keys/{name}", "--format", form, *private, *at))
        write(folder, f"{name}.encrypted.pem", tool(
            "keys", "export", f"Keys/{name}", "--format", "pem", "--private", "--new-passphrase-file", "pass", *at))
    write(folder, "psk.registration", tool("keys", "export", "Keys/psk", "--registration", *at))
    write(folder, "device.jwk", tool("keys", "export", "Keys/shared", "--device", "phone-1", *at))
    write(folder, "shared.jwk", tool(
        "keys", "export", "Keys/shared", "--format", "jwk", "--private", "--insecure-plaintext", *at))
    wrong = json.loads(read(folder, "p256.jwk"))
    wrong["x"], wrong["y"] = wrong["y"], wrong["x"]
    write(folder, "off-curve.jwk", json.dumps(wrong).encode(), 0o644)
    records = [read(folder, "psk.registration"), read(folder, "device.jwk"), read(folder, "x25519.jwk")]
    lines = b"".join(json.dumps(first(json.loads(record))).encode() + b"\n" for record in records)
    write(folder, "recipients.jsonl", lines)
    write(folder, "recipients-twice.jsonl", lines + lines)
    write(folder, "recipients-bad.jsonl", lines + b'{"kty":"EC"}\n' + b"not json\n")
    write(folder, "recipients-loose.jsonl", lines, 0o644)
    tool("recipients", "import", "recipients.jsonl", "--into", "recipients.db")
    reports = "".join(
        json.dumps({"device": f"d{number}", "kid": kids["gated"], "seenAt": "2026-05-30T00:00:00Z"}) + "\n"
        for number in range(50))
    write(folder, "reports.jsonl", reports.encode())


def first(record):
    return record["keys"][0] if "keys" in record else record


def sealed(tool, folder, kids):
    """Seals one payload for each kind of key and profile."""
    seal = ["seal", "--topic", TOPIC, "--at", NOW]
    inner = PAYLOADS["inner.json"]
    for name, options in PROFILES.items():
        write(folder, f"sealed/{name}.json", tool(*seal, *options[0], stdin=inner))
    outer = json.loads(read(folder, "sealed/p256.json"))
    for name, change in {
        "v0": ("v", 0), "v2": ("v", 2), "no-kid": ("kid", None), "bad-kid": ("kid", "AAAAAAAAAAA"),
        "short": ("sealed", outer["pushcrypt"]["sealed"][:20]), "padded": ("sealed", outer["pushcrypt"]["sealed"] + "="),
        "flipped": ("sealed", "B" + outer["pushcrypt"]["sealed"][1:]), "skid": ("skid", "AAAAAAAAAAA"),
    }.items():
        changed = json.loads(json.dumps(outer))
        if change[1] is None:
            del changed["pushcrypt"][change[0]]
        else:
            changed["pushcrypt"][change[0]] = change[1]
        write(folder, f"sealed/bad-{name}.json", json.dumps(changed, separators=(",", ":")).encode())
    write(folder, "sealed/bad-unsealed.json", b'{"aps":{"alert":"plain","mutable-content":1}}')
    write(folder, "sealed/bad-integer.json", b'{"aps":{"alert":"plain","mutable-content":1,"badge":9},"pushcrypt":0}')
    lines = [{"payload": json.loads(PAYLOADS["text.json"]), "token": str(number)} for number in range(5)]
    write(folder, "lines.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())
    mixed = lines + [{"payload": {"aps": {}}}, {"nothing": 1}]
    write(folder, "mixed.jsonl", ("".join(json.dumps(line) + "\n" for line in mixed) + "broken\n").encode())
    to = [{"payload": {"aps": {"alert": "x"}}, "to": kids["psk"]},
          {"payload": {"aps": {"alert": "y"}}, "to": kids["shared"], "device": "phone-1"},
          {"payload": {"aps": {"alert": "z"}}, "to": "AAAAAAAAAAA"}]
    write(folder, "to.jsonl", "".join(json.dumps(line) + "\n" for line in to).encode())
    for name in ["p256", "shared", "device"]:
        line = {"payload": json.loads(read(folder, f"sealed/{name}.json")), "n": name}
        if name == "device":
            line["device"] = "phone-1"
        write(folder, f"queue/{name}.jsonl", (json.dumps(line) + "\n").encode() * 3)
    old = tool("seal", "--topic", TOPIC, "--at", "2026-06-27T00:00:00Z", "--bare", "--to", "Keys/rotated", "--expires", "30d",
               stdin=inner)
    write(folder, "queue/rotated.jsonl", b'{"payload":' + old.strip() + b'}\n')
    tool("blob", "seal", "--type", "image/png", "--url", "https://example.com/a", "--reference", "attachment.ref",
         "--output", "attachment.blob", stdin=PAYLOADS["picture.png"])
    tool("blob", "seal", "--purpose", "payload", "--url", "https://example.com/p", "--reference", "payload.ref",
         "--output", "payload.blob", stdin=PAYLOADS["text.json"])
    blob = read(folder, "attachment.blob")
    write(folder, "cut.blob", blob[:-1])
    write(folder, "flipped.blob", blob[:100] + bytes([blob[100] ^ 1]) + blob[101:])


# Options to seal, options to open.
PROFILES = {
    "p256": (["--to", "p256.jwk"], ["--keys", "Keys/p256"]),
    "p256-keystore": (["--to", "Keys/p256"], ["--keys", "p256.private.jwk"]),
    "x25519": (["--to", "x25519.jwk"], ["--keys", "Keys/x25519"]),
    "psk": (["--to", "psk.registration"], ["--keys", "Keys/psk"]),
    "signed": (["--to", "p256.jwk", "--sign-with", "Keys/sender"], ["--keys", "Keys/p256", "--trust", "sender.set.json"]),
    "psk-signed": (["--to", "psk.registration", "--sign-with", "Keys/sender"],
                   ["--keys", "Keys/psk", "--trust", "sender.set.json"]),
    "shared": (["--bare", "--to", "Keys/shared"], ["--keys", "Keys/shared"]),
    "device": (["--to", "Keys/shared", "--device", "phone-1"], ["--keys", "Keys/shared", "--device", "phone-1"]),
    "device-key": (["--to", "device.jwk"], ["--keys", "device.jwk"]),
    "device-signed": (["--to", "Keys/shared", "--device", "phone-1", "--sign-with", "Keys/sender"],
                      ["--keys", "device.jwk", "--trust", "sender.set.json"]),
    "encrypted": (["--bare", "--to", "Keys/enc-shared", "--passphrase-file", "pass"],
                  ["--keys", "Keys/enc-shared", "--passphrase-file", "pass"]),
    "wrapped": (["--bare", "--to", "Keys/wrapped", "--wrap-command", "./wrap.sh"],
                ["--keys", "Keys/wrapped", "--wrap-command", "./wrap.sh"]),
    "encrypted-signer": (["--to", "p256.jwk", "--sign-with", "Keys/enc-sender", "--passphrase-file", "pass"],
                         ["--keys", "Keys/p256", "--trust", "Keys/enc-sender", "--passphrase-file", "pass"]),
}


class Crossings:
    def __init__(self):
        self.done = self.failed = 0


def cross(old, new, made, environment, report):
    """Each tool opens the other's sealed payloads, and uses keystores that the other made or changed."""
    counts = Crossings()
    tools = {"old": old, "new": new}

    def check(name, body):
        counts.done += 1
        try:
            problem = body()
        except RuntimeError as error:
            problem = str(error)
        if problem:
            counts.failed += 1
            print(f"\ncrossing {name}: {problem}", file=report)

    for first_name, second_name in [("old", "new"), ("new", "old")]:
        folder = os.path.join(os.path.dirname(made), f"cross-{first_name}")
        shutil.copytree(made, folder, symlinks=True)
        one, two = (Tool(tools[name], folder, environment) for name in (first_name, second_name))
        for profile, (seal_options, open_options) in PROFILES.items():
            for payload in ["inner.json", "text.json", "unicode.json"]:
                def opens():
                    outer = one("seal", "--topic", TOPIC, "--at", NOW, *seal_options, stdin=PAYLOADS[payload])
                    inner = two("open", "--topic", TOPIC, "--at", NOW, *open_options, stdin=outer)
                    return None if inner.strip() == PAYLOADS[payload].strip() else f"{inner!r}"
                check(f"{first_name} seals, {second_name} opens: {profile}, {payload}", opens)
        for number, kind in enumerate(["recipient", "sender", "shared"]):
            for secret in [["--insecure-plaintext"], ["--passphrase-file", "pass"], ["--wrap-command", "./wrap.sh"]]:
                name = f"Keys/made-{number}-{secret[0][2:6]}"
                use = secret[:0] if secret[0] == "--insecure-plaintext" else secret

                def lives():
                    one("keys", "create", name, "--kind", kind, "--at", START, *secret)
                    for turn, month in enumerate(["03-26", "04-03", "06-24", "07-02", "09-22", "09-30"]):
                        (two, one)[turn % 2]("rotate", name, "--at", f"2026-{month}T00:00:00Z", *use)
                    after = ["--at", "2026-10-01T00:00:00Z"]
                    lists = [tool("keys", "list", name, "--json", *after) for tool in (one, two)]
                    for tool in (one, two):
                        tool("keys", "log", name, *use)
                    return None if lists[0] == lists[1] else "the tools list the keyset differently"
                check(f"{first_name} makes, both rotate: {kind}, {secret[0]}", lives)
        def blobs():
            one("blob", "seal", "--type", "image/png", "--url", "https://example.com/x", "--reference", "x.ref",
                "--output", "x.blob", stdin=PAYLOADS["picture.png"])
            two("blob", "open", "--reference", "x.ref", "--from", "x.blob", "--output", "x.png")
            return None if read(folder, "x.png") == PAYLOADS["picture.png"] else "another file came out"
        check(f"{first_name} seals a blob, {second_name} opens it", blobs)
    return counts
