#!/usr/bin/env python3
"""Kills each command that changes a keystore, at each system call that writes, and fails if a kill loses anything.

strace sends SIGKILL at the first, second, ... call until the command ends without one. After each kill each log has all lines
that it had, each key that isn't destroyed has its material, no host has seen lines that the keyset lacks, and no revocation is
gone. Then the same command succeeds or says that it is done, one more `rotate` publishes a set with all keys and revocations,
the run after it has nothing to do, and no temporary file stays.
"""
from __future__ import annotations

import argparse
import base64
import collections
import datetime
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

START = datetime.datetime(2027, 1, 1, tzinfo=datetime.timezone.utc)
CALLS = "write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,linkat,fchmod,chmod"


class Lost(Exception):
    """What a kill has lost."""


def need(condition: bool, what: object) -> None:
    if not condition:
        raise Lost(what)


class Keyset:
    """A keyset's file, without a check of its digest or its encryption: the tool checks these."""

    def __init__(self, path: pathlib.Path) -> None:
        *lines, self.last = path.read_bytes().splitlines(keepends=True)
        self.log = b"".join(lines)
        self.lines = [json.loads(line) for line in lines]
        self.hashes = [hashlib.sha256(line[:-1]).digest() for line in lines]
        self.id = self.lines[0]["id"]
        self.keys: dict[str, dict[str, object]] = collections.defaultdict(dict)
        for line in self.lines:
            for kid, change in line.get("keys", {}).items():
                kept = {member: self.keys[kid][member] for member in ("revokedAt", "destroyedAt") if member in self.keys[kid]}
                self.keys[kid] |= {key: value for key, value in change.items() if value is not None} | kept

    def having(self, *members: str) -> set[str]:
        return {kid for kid, key in self.keys.items() if any(member in key for member in members)}

    def live(self) -> list[str]:
        return sorted(set(self.keys) - self.having("destroyedAt", "lost", "revokedAt"))


class Host:
    """A host with all that `init` makes, and devices."""

    def __init__(self, tool: pathlib.Path, folder: pathlib.Path) -> None:
        self.tool, self.folder, self.day = tool, folder, 0
        self.settings = folder / "pushcrypt.json"

    def run(self, *words: str, environment: dict[str, str] | None = None, expect: tuple[int, ...] = (0,), strace: tuple[str, ...] = ()) -> str:
        """Runs a command, perhaps under strace, and returns what it prints."""
        variables = {"PUSHCRYPT_WRITER": "a", "HOME": str(self.folder), "PATH": "/usr/bin:/bin"} | (
            environment or {"PUSHCRYPT_SETTINGS": str(self.settings)})
        at = (START + datetime.timedelta(days=self.day)).strftime("%Y-%m-%dT%H:%M:%SZ")
        end = words.index("--") if "--" in words else len(words)
        result = subprocess.run([*strace, str(self.tool), *words[:end], "--at", at, *words[end:]], cwd=self.folder, env=variables,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True)
        printed = result.stdout + result.stderr
        need(result.returncode in expect, f"{' '.join(words)} exits {result.returncode}: {printed}")
        return printed

    def kill(self, number: int, words: list[str]) -> tuple[bool, bool]:
        """Kills a command at this call. Returns whether it lived so long, and whether it had written to a file before."""
        trace = self.folder.with_name("trace")
        self.run(*words, expect=(0, -9, 137), strace=(
            "strace", "-qq", "-y", "-o", str(trace), "-e", f"trace={CALLS}", "-e", f"inject={CALLS}:signal=KILL:when={number}"))
        *calls, last = trace.read_text().splitlines()
        return "killed by SIGKILL" in last, any(re.match(r"p?write\w*\(\d+<" + re.escape(str(self.folder)), call) for call in calls[:-1])

    def initialise(self) -> None:
        self.folder.mkdir(mode=0o700)
        self.run(*self.init_words())
        self.add_devices()
        self.run("rotate")

    def run_on(self, day: int) -> None:
        self.day = day
        self.run("rotate")

    def init_words(self) -> list[str]:
        return ["init", "--keystore", "Keys", "--publisher-keystore", "Publisher", "--history", "history", "--settings",
                str(self.settings), "--publish-to", "www", "--pins", "pins.json", "--topic", "com.example.app", "--sender",
                "senders", "--recipient", "inbox", "--shared", "fleet", "--insecure-plaintext", "--yes"]

    def add_devices(self) -> None:
        (self.folder / "list").write_text("one\ntwo\n")
        (self.folder / "outbox").mkdir(mode=0o700)
        self.edit_settings(devices={"fleet": {"list": "list", "to": "outbox"}})

    def edit_settings(self, **members: object) -> None:
        self.settings.write_text(json.dumps(json.loads(self.settings.read_text()) | members))

    def temporaries(self) -> list[str]:
        """Not those beside a file that the operator has named."""
        return [path.name for path in self.folder.glob("*/*") if ".new-" in path.name]

    def keysets(self) -> dict[str, Keyset]:
        return {path.stem: Keyset(path) for path in sorted(self.folder.glob("*/*.keyset"))}

    def path(self, name: str) -> pathlib.Path:
        return self.folder / ("Publisher" if name == "app" else "Keys") / f"{name}.keyset"

    def history(self, keyset: Keyset) -> bytes:
        path = self.folder / "history" / keyset.id
        return b"".join(path.read_bytes().splitlines(keepends=True)[:-1]) if path.exists() else b""

    # MARK: - Checks

    def require_whole(self, before: dict[str, Keyset]) -> None:
        """What holds directly after a kill."""
        after = self.keysets()
        for name, old in before.items():
            new = after[name]
            need(new.log.startswith(old.log), f"{name} lacks lines that it had")
            need(new.log.startswith(self.history(new)), f"the host has seen lines that {name} lacks")
            last = json.loads(new.last)
            if "keys" in last:
                found = {key["kid"] for key in last["keys"]}
                need(found == set(new.keys) - new.having("destroyedAt", "lost"), f"{name} lacks material")

    def require_converged(self) -> None:
        """What holds after the next run, on the next day: so it unlocks every keyset."""
        self.day += 1
        self.run("rotate")
        output = self.run("rotate")
        need(not output, f"the second run prints {output}")
        keysets = self.keysets()
        self.require_served(keysets["senders"])
        inbox = json.loads((self.folder / f"www/{keysets['inbox'].id}.jwks.json").read_text())["keys"]
        need({key["kid"] for key in inbox} >= set(keysets["inbox"].live()), "the public keys lack one")
        for keyset in keysets.values():
            need(self.history(keyset) == keyset.log, "the history lacks lines")
        need(not self.temporaries(), f"{self.temporaries()} stay")

    def require_served(self, keyset: Keyset) -> None:
        document = json.loads((self.folder / f"www/{keyset.id}.1.json").read_text())
        payload = json.loads(base64.urlsafe_b64decode(document["payload"] + "=="))["pushcrypt"]
        line = next(index for index, line in enumerate(keyset.lines) if line["n"] == payload["seq"])
        need(keyset.lines[line]["what"] == "published", "the set isn't of a line that publishes")
        need(base64.urlsafe_b64decode(payload["head"] + "=") == keyset.hashes[line], "the set has another head")
        need(set(payload["keys"]) >= keyset.having("revokedAt") | set(keyset.live()), "the set lacks a key")
        for kid in keyset.having("revokedAt"):
            need("revokedAt" in payload["keys"][kid], f"the set lacks the revocation of {kid}")


# MARK: - Commands. Each prepares the host, and returns what is killed and the exit statuses of a command that is done already.

Killed = tuple[list[str], tuple[int, ...]]


def init(host: Host) -> Iterator[Killed]:
    shutil.rmtree(host.folder)
    host.folder.mkdir(mode=0o700)
    yield host.init_words(), ()


def rotate(host: Host) -> Iterator[Killed]:
    for day in (25, 50, 75):
        host.run_on(day)
    for words in ([], ["--now", "senders"], ["--now", "fleet", "--at-once"], ["--now", "app"]):
        host.day = 90  # each key needs its successor
        yield ["rotate", *words], ()
    for day in (90, 115, 140):
        host.run_on(day)
    host.day = 160  # the old keys are erased, and sets are signed again
    yield ["rotate"], ()


def publish(host: Host) -> Iterator[Killed]:
    host.run("rotate", "--now", "Keys/senders.keyset", environment={"PUSHCRYPT_HISTORY": "history"})
    yield ["publish"], ()
    for file in host.folder.glob("www/*"):
        file.unlink()
    yield ["publish"], ()
    yield ["publish", "--unsigned", "sent", "senders"], ()
    host.run("rotate", "--now", "senders")
    host.run("publish", "--unsigned", "sent", "senders")
    (host.folder / "elsewhere").mkdir()
    yield ["publish", "--sign", "sent", "--to", "elsewhere", "--yes"], ()


def revoke(host: Host) -> Iterator[Killed]:
    for name in ("senders", "fleet", "inbox", "app"):
        if name == "app":
            host.run("rotate", "--now", "app")
        yield ["revoke", "--yes", name, "--", host.keysets()[name].live()[0]], ()


def restore(host: Host) -> Iterator[Killed]:
    """An old copy comes back, is there twice, or comes back after the file was lost; or the clock was wrong."""
    for name in ("senders", "fleet"):
        path, copy = host.path(name), host.folder / f"{name}.keyset"
        shutil.copy2(path, copy)
        host.run("rotate", "--now", name)
        host.run("revoke", "--yes", name, "--", host.keysets()[name].live()[0])
        words = ["restore", name, str(copy), "--over"]
        newest = path.read_bytes()
        shutil.copy2(copy, path)
        yield words, ()
        path.write_bytes(newest)
        shutil.copy2(copy, path.with_name("twice.keyset"))
        yield words, ()
        path.with_name("twice.keyset").unlink()
        path.unlink()
        yield words, ()
        path.write_bytes(newest)
    host.day = 401
    host.run("rotate", "--confirm-clock")
    host.day = 2
    yield ["restore", "--confirm-clock"], ()


def create(host: Host) -> Iterator[Killed]:
    for kind in ("sender", "shared", "recipient", "publisher"):
        yield ["keys", "create", "Keys/more", "--kind", kind, "--insecure-plaintext"], (73,)


def import_key(host: Host) -> Iterator[Killed]:
    (host.folder / "key").write_bytes(base64.b64encode(bytes(range(32))) + b"\n")
    for name in ("fleet", "more"):
        more = ["--insecure-plaintext"] if name == "more" else []
        yield ["keys", "import", f"Keys/{name}", "key", "--kind", "shared", *more], (64, 65, 73)


def policy(host: Host) -> Iterator[Killed]:
    for name in ("fleet", "inbox", "senders"):
        yield ["keys", "policy", name, "--keep", "3"], ()
    yield ["keys", "policy", "senders", "--topic", "com.example.other", "--valid-for", "30d"], ()


def destroy(host: Host) -> Iterator[Killed]:
    for name in ("fleet", "senders"):
        kid = host.keysets()[name].live()[0]
        host.run("revoke", "--yes", name, "--", kid)
        yield ["keys", "destroy", name, "--yes", "--", kid], (65,)


def secret(host: Host) -> Iterator[Killed]:
    for name in ("one", "two", "three"):
        (host.folder / name).write_text(f"passphrase {name}\n")
    host.run("keys", "create", "Keys/more", "--kind", "shared", "--passphrase-file", "one")
    host.edit_settings(secrets={"more": {"file": "one"}})
    yield ["keys", "secret", "add", "more", "--name", "b", "--new-passphrase-file", "two"], (64, 73)
    host.run("keys", "secret", "add", "more", "--name", "b", "--new-passphrase-file", "two")
    yield ["keys", "secret", "set", "more", "--name", "b", "--new-passphrase-file", "three"], ()
    yield ["keys", "secret", "remove", "more", "--name", "b"], (66,)


COMMANDS: dict[str, Callable[[Host], Iterator[Killed]]] = {
    "init": init, "rotate": rotate, "publish": publish, "revoke": revoke, "restore": restore, "create": create,
    "import": import_key, "policy": policy, "destroy": destroy, "secret": secret}


def prepared(host: Host, name: str) -> Iterator[Killed]:
    """Each case of a command, on files that only the cases before have changed."""
    shutil.rmtree(host.folder, ignore_errors=True)
    host.day = 0
    host.initialise()
    yield from COMMANDS[name](host)


def trial(host: Host, name: str, number: int, words: list[str], done: tuple[int, ...]) -> tuple[bool, bool]:
    before = host.keysets()
    revoked = {name: keyset.having("revokedAt", "destroyedAt") for name, keyset in before.items()}
    logs = {path.name: path.read_bytes() for path in host.folder.glob("history/*")}
    was_killed, had_written = host.kill(number, words)
    if name not in ("init", "restore"):
        host.require_whole(before)
    host.run(*words, expect=(0, *done) if was_killed else tuple(range(256)))
    if name == "init":
        host.add_devices()
        need(json.loads((host.folder / "pins.json").read_text())["set"] == host.keysets()["senders"].id, "pins of another set")
    for keyset in host.keysets().values():
        seen = b"".join(logs.get(keyset.id, b"").splitlines(keepends=True)[:-1])
        need(keyset.log.startswith(seen), "a keyset lacks lines that the host has seen")
    for name, keyset in host.keysets().items():
        need(revoked.get(name, set()) <= keyset.having("revokedAt", "destroyedAt"), f"{name} lacks a revocation")
    host.require_converged()
    return was_killed, had_written


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pushcrypt", type=pathlib.Path, required=True, help="the binary")
    parser.add_argument("--step", type=int, default=1, help="kill at each STEP-th call")
    parser.add_argument("--rounds", type=int, default=4, help="how often, each time with other keys and ids")
    parser.add_argument("--commands", nargs="*", choices=COMMANDS, default=list(COMMANDS))
    options = parser.parse_args()
    os.umask(0o077)
    kills, late = 0, 0
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        host = Host(options.pushcrypt.resolve(), pathlib.Path(folder) / "host")
        saved = pathlib.Path(folder) / "saved"
        for name in options.commands * options.rounds:
            tally: collections.Counter[str] = collections.Counter()
            for words, done in prepared(host, name):
                shutil.copytree(host.folder, saved)
                day = host.day
                for number in itertools.count(1, options.step):
                    try:
                        was_killed, had_written = trial(host, name, number, words, done)
                    except Lost as lost:
                        kept = shutil.copytree(host.folder, tempfile.mkdtemp(), dirs_exist_ok=True)
                        print(f"{' '.join(words)}, killed at call {number}: {lost}; the files are in {kept}", file=sys.stderr)
                        return 1
                    shutil.rmtree(host.folder)
                    shutil.copytree(saved, host.folder)
                    host.day = day
                    tally["killed"] += was_killed
                    tally["after the first byte"] += was_killed and had_written
                    if not was_killed:
                        break
                shutil.rmtree(saved)
            kills, late = kills + tally["killed"], late + tally["after the first byte"]
            print(f"{name}: {tally['killed']} kills, {tally['after the first byte']} after the first byte was written", flush=True)
    print(f"{kills} kills, {late} after the first byte was written; nothing was lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
