#!/usr/bin/env python3
"""Searches processes for the keys that they had. See Tests/deep/memory/run."""

import argparse
import base64
import hashlib
import hmac
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PASSPHRASE = b"correct horse battery staple 7391"


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def forms(secret):
    """The halves of the secret as bytes, as OpenSSL's words of a number, in base64url, base64 and hexadecimal digits.

    Halves, because the allocator writes its own data to the beginning of freed memory.
    """
    texts = [base64.urlsafe_b64encode(secret), base64.b64encode(secret), secret.hex().encode()]
    whole = {secret, secret[::-1], secret.hex().upper().encode()} | {text.rstrip(b"=") for text in texts}
    return {half for form in whole for half in (form[: len(form) // 2], form[len(form) // 2 :])}


def device_key(master, kid, device):
    """PROTOCOL section 3, "Device keys"."""
    def lp16(text):
        return len(text).to_bytes(2, "big") + text.encode()
    prk = hmac.digest(bytes(32), master, hashlib.sha256)
    return hmac.digest(prk, b"pushcrypt/1 device\0" + lp16(kid) + lp16(device) + b"\x01", hashlib.sha256)


def secrets(folder):
    """The secrets in the plain keysets: name and bytes."""
    found = {"passphrase": PASSPHRASE}
    for name in ["ios", "master", "push"]:
        key = json.loads((folder / "Keys" / f"{name}.keyset").read_text().splitlines()[-1])["keys"][0]
        for member in ["d", "k", "psk"]:
            if member in key:
                found[f"{name} {member}"] = decode(key[member])
        if "k" in key:
            found["device key"] = device_key(decode(key["k"]), key["kid"], "phone-1")
    return found


def writable_memory(process):
    """The bytes of each writable mapping."""
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", 0) as memory:
        for line in maps:
            place, access = line.split()[:2]
            if "w" not in access:
                continue
            start, end = (int(number, 16) for number in place.split("-"))
            try:
                memory.seek(start)
                yield memory.read(end - start)
            except OSError:
                pass


def counts(pieces, wanted):
    found = {name: 0 for name in wanted}
    for piece in pieces:
        for name, secret in wanted.items():
            found[name] += sum(piece.count(form) for form in forms(secret))
    return found


class Report:
    def __init__(self):
        self.failed = False

    def control(self, where, found, needed):
        print(f"{where}, in use: {found}")
        missing = [name for name in needed if found[name] == 0]
        if missing:
            self.failed = True
            print(f"  FLAW the search doesn't find {', '.join(missing)} in use")

    def closed(self, where, found):
        print(f"{where}, afterwards: {sum(found.values())} found")
        for name, count in found.items():
            if count:
                self.failed = True
                print(f"  FLAW {name}: {count} times")


def search_library(built, folder, wanted, report):
    process = subprocess.Popen([built / "PushCryptMemory", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for state in [b"held\n", b"idle\n", b"closed\n"]:
        line = process.stdout.readline()
        if line != state:
            sys.exit(f"the program printed {line} instead of {state}")
        found = counts(writable_memory(process.pid), wanted)
        if state == b"held\n":
            report.control("library", found, wanted)
        elif state == b"idle\n":
            report.closed("library, its thread idle", found)
        else:
            report.closed("library, its thread ended", found)
        process.stdin.write(b"\n")
        process.stdin.flush()
    process.wait()


def dump(built, folder, arguments, payload, stop):
    """Runs the tool to its first system call of this name, and returns its core."""
    environment = {"PATH": os.environ["PATH"], "SWIFT_BACKTRACE": "enable=no"}
    (folder / "input").write_bytes(payload)
    commands = ["set pagination off", "set confirm off", f"catch syscall {stop}", f"run {shlex.join(arguments)} < input > output", "gcore core"]
    script = [word for command in commands for word in ("-ex", command)]
    result = subprocess.run(
        ["gdb", "-batch", *script, built / "pushcrypt"], cwd=folder, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    core = folder / "core"
    if not core.exists():
        sys.exit(f"no dump of {arguments} at {stop}: {result.stdout.decode()[-2000:]}")
    content = core.read_bytes()
    core.unlink()
    return content


def search_tool(built, folder, arguments, payload, stop, wanted, needed, report):
    """Searches the core files of the tool while it uses the keys and at its end. Returns its output."""
    name = " ".join(arguments[:3])
    report.control(name, counts([dump(built, folder, arguments, payload, stop)], wanted), needed)
    report.closed(name, counts([dump(built, folder, arguments, payload, "exit_group")], wanted))
    return (folder / "output").read_bytes()


KMS = r"""case $1 in
wrap) printf W; LC_ALL=C tr '\000-\377' '\200-\377\000-\177' ;;
unwrap) dd bs=1 skip=1 2>/dev/null | LC_ALL=C tr '\000-\377' '\200-\377\000-\177' ;;
esac
"""


def calls(built, folder, arguments, environment):
    """What the tool and its children pass to the system: arguments and environments, names of files, written bytes.

    The first line, with which the caller starts the tool, isn't part of it.
    """
    traced = "execve,open,openat,creat,rename,renameat,renameat2,link,linkat,symlinkat,write,writev,pwrite64,sendto,sendmsg"
    subprocess.run(
        ["strace", "-f", "-v", "-xx", "-s", "1000000", "-e", "trace=" + traced, "-o", folder / "calls",
         built / "pushcrypt", *arguments],
        cwd=folder, env={"PATH": os.environ["PATH"], **environment}, check=True, input=b"", stdout=subprocess.DEVNULL)
    lines = (folder / "calls").read_bytes().splitlines()[1:]
    (folder / "calls").unlink()
    return [re.sub(rb"\\x(..)", lambda match: bytes.fromhex(match[1].decode()), line) for line in lines]


def search_calls(built, folder, wanted, report):
    """Neither the arguments and environments of child processes nor any file or stream gets a secret."""
    (folder / "kms").write_text(KMS)
    passphrase = {"PUSHCRYPT_PASSPHRASE": PASSPHRASE.decode()}
    wrap = ["--wrap-command", "sh kms"]
    report.control("written", counts(calls(built, folder, ["keys", "export", "Plain/master", "--device", "phone-1"], {}),
                                     wanted), ["device key"])
    for arguments, environment in [
        (["rotate", "--now", "--at-once", "Keys/ios"], passphrase),
        (["rotate", "--now", "Keys/push"], passphrase),
        (["keys", "secret", "set", "Keys/master", "--new-wrap-command", "sh kms"], passphrase),
        (["rotate", "--now", "--at-once", "Keys/master", *wrap], {}),
        (["keys", "log", "Keys/master", *wrap], {}),
    ]:
        lines = calls(built, folder, arguments, environment)
        report.closed(" ".join(arguments[:3]) + ", calls", counts(lines, wanted))
        made = {line.split(b'"')[1].decode() for line in lines if b"O_CREAT" in line}
        outside = [name for name in made if name.startswith("/") and not name.startswith((str(folder), "/dev/"))]
        print(f"  {len(lines)} calls, {len(made)} files created, outside of the keystore: {outside or 'none'}")
        report.failed |= bool(outside)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--built", type=pathlib.Path, required=True)
    built = parser.parse_args().built.resolve()
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "passphrase").write_bytes(PASSPHRASE + b"\n")
        (folder / "passphrase").chmod(0o600)

        def run(*arguments):
            subprocess.run([built / "pushcrypt", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)

        os.umask(0o077)
        (folder / "Keys").mkdir()
        for keyset, options in {
            "ios": ["--kind", "recipient", "--psk"], "master": ["--kind", "shared"], "push": ["--kind", "sender"],
        }.items():
            run("keys", "create", f"Keys/{keyset}", *options, "--insecure-plaintext")
        wanted = secrets(folder)
        shutil.copytree(folder / "Keys", folder / "Plain")
        for keyset in ["ios", "master", "push"]:
            run("keys", "secret", "set", f"Keys/{keyset}", "--new-passphrase-file", "passphrase")
        search_library(built, folder, wanted, report)
        topic = ["--topic", "com.example.app"]
        inner = b'{"aps":{"alert":"Results"}}'
        for keys, unlock in [("Keys", ["--passphrase-file", "passphrase"]), ("Plain", [])]:
            def search(*arguments, payload=b"", stop, needed):
                return search_tool(built, folder, [*arguments, *unlock], payload, stop, wanted, needed, report)

            sealed = search(
                "seal", "--to", f"{keys}/ios", "--sign-with", f"{keys}/push", *topic, payload=inner, stop="write",
                needed=["ios psk"])
            search(
                "open", "--keys", f"{keys}/ios", "--trust", f"{keys}/push", *topic, payload=sealed, stop="write",
                needed=["ios d", "ios psk"])
            search("rotate", "--now", "--at-once", f"{keys}/ios", stop="fsync", needed=["ios d", "ios psk"])
            search("rotate", "--now", f"{keys}/master", stop="fsync", needed=["master k"])
        search_calls(built, folder, wanted, report)
    print("failed" if report.failed else "passed")
    sys.exit(report.failed)


main()
