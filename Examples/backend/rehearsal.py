#!/usr/bin/env python3
"""Runs push-service on this machine with a stand-in for APNs, registers phones, pushes, and compares what was accepted
with what the phones can open: each accepted push exactly once, or reported as failed.

It needs the package pushcrypt of Senders/python, which answers the service's challenges, and curl for HTTP/2.
"""
from __future__ import annotations

import argparse
import base64
import collections
import concurrent.futures
import contextlib
import hmac
import http.client
import json
import os
import pathlib
import secrets
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from typing import Any, Callable

from pushcrypt import Keyset, Opener, possession
from pushcrypt.keyset_log import KeysetFile

TOPIC, HOST = "com.example.clinic", "push.example.com"
PROVIDER = ["--provider-key-id", "KEY1234567", "--team-id", "TEAM123456"]


class Failure(Exception):
    """What isn't as it should be."""


class Refused(Exception):
    """A status that isn't a success."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"status {status}: {body}")
        self.status = status


class Scene:
    """A folder with keys that the tool has made, the stand-in, and the service as a process of its own."""

    def __init__(self, options: argparse.Namespace, folder: pathlib.Path, stack: contextlib.ExitStack) -> None:
        self.options, self.folder = options, folder
        self.environment = {**os.environ, "PUSHCRYPT_SETTINGS": str(folder / "pushcrypt.json")}
        self.service_token, self.user_key = secrets.token_urlsafe(32), secrets.token_bytes(32)
        self.phones: dict[str, str] = {}  # the device token of each user
        (folder / "user.key").write_bytes(self.user_key)
        (folder / "service.tokens").write_text(self.service_token)
        self.pushcrypt("init", "--topic", TOPIC, "--insecure-plaintext", "--yes", "--keystore", "Keys",
                       "--publisher-keystore", "Publisher", "--history", "history", "--publish-to", "www", "--pins",
                       "sender-pins.json")
        self.pushcrypt("rotate")
        self.log = stack.enter_context(open(folder / "service.log", "wb"))
        pushes = stack.enter_context(open(folder / "pushes.jsonl", "wb"))
        apns = subprocess.Popen(
            [sys.executable, "-m", "pushcrypt.standin", "--provider-key", "provider.p8", *PROVIDER, "--certificate",
             "apns.pem", "--port-file", "apns.port"], cwd=folder, stdout=pushes, stderr=subprocess.DEVNULL)
        stack.callback(self.end, apns, signal.SIGKILL)
        self.apns = f"https://127.0.0.1:{self.port_of(apns, 'apns.port')}"
        self.service_port = 0
        self.start_service()
        stack.callback(lambda: self.end(self.service, signal.SIGKILL))

    def start_service(self) -> None:
        """Starts the service, each time on the same port, and waits until it answers."""
        (self.folder / "port").unlink(missing_ok=True)
        self.service = subprocess.Popen(
            [self.options.programs / "push-service", "--topic", TOPIC, "--registration-host", HOST, "--database",
             "pushes.sqlite", "--signing-keys", "Keys/senders.keyset", "--history", "history", "--provider-key",
             "provider.p8", *PROVIDER, "--user-token-key", "user.key", "--service-tokens", "service.tokens",
             "--sandbox", self.apns, "--production", self.apns, "--trust", "apns.pem", "--port", str(self.service_port),
             "--port-file", "port"],
            cwd=self.folder, stdout=self.log, stderr=self.log)
        self.service_port = self.port_of(self.service, "port")
        self.url = f"http://127.0.0.1:{self.service_port}"

    def port_of(self, process: subprocess.Popen[bytes], name: str) -> int:
        wait(f"{name} isn't written", lambda: process.poll() is not None or (self.folder / name).exists())
        if process.poll() is not None:
            raise Failure(f"a program ended with status {process.returncode}")
        return int((self.folder / name).read_text())

    @staticmethod
    def end(process: subprocess.Popen[bytes], number: signal.Signals) -> int:
        process.send_signal(number)
        return process.wait(timeout=60)

    def pushcrypt(self, *arguments: str, given: bytes = b"") -> str:
        tool = subprocess.run([self.options.pushcrypt, *arguments], cwd=self.folder, env=self.environment, input=given,
                              check=True, stdout=subprocess.PIPE)
        return tool.stdout.decode()

    def pushes(self) -> dict[str, list[bytes]]:
        """What the stand-in has accepted, by device token, as lines for `pushcrypt open` and `pushcrypt simulate`."""
        found = collections.defaultdict(list)
        for line in (self.folder / "pushes.jsonl").read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                found[json.loads(line)["token"]].append(line)
        return found

    def receive(self, command: str, user: str, pushes: list[bytes], *arguments: str) -> str:
        """Opens or simulates pushes with the keys of the user's phone."""
        published = [str(path) for path in (self.folder / "www").glob("*.json")]
        return self.pushcrypt(command, *arguments, "-q", "--keys", f"phones/{user}", "--trust", *published, "--pins",
                              "sender-pins.json", "--topic", TOPIC, given=b"".join(pushes))

    def signing_key(self, state: str) -> str:
        keys = json.loads(self.pushcrypt("keys", "list", "senders", "--json"))
        return str(next(key["kid"] for key in keys if key["state"] == state))

    def order(self, path: str, **body: Any) -> None:
        """Sends a request to /stand-in/, which `Server.control` describes."""
        subprocess.run(["curl", "--silent", "--fail", "--cacert", self.folder / "apns.pem",
                        f"{self.apns}/stand-in/{path}", "--data", json.dumps(body)], check=True)

    def user_token(self, user: str) -> str:
        """A JWT, as the part of the backend makes it that signs users in."""
        text = ".".join(base64url(json.dumps(part).encode()) for part in (
            {"alg": "HS256", "typ": "JWT"}, {"sub": user, "exp": int(time.time()) + 86_400}))
        return f"{text}.{base64url(hmac.digest(self.user_key, text.encode(), 'sha256'))}"

    def call(self, path: str, body: bytes | None = None, *, token: str, key: str | None = None) -> bytes:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, body, headers | ({"Idempotency-Key": key} if key else {}))
        try:
            with urllib.request.urlopen(request, timeout=15) as response:
                return bytes(response.read())
        except urllib.error.HTTPError as error:
            raise Refused(error.code, error.read().decode()) from None

    def register(self, user: str, environment: str = "production") -> None:
        """What the app does at its first start."""
        token = secrets.token_hex(32)
        self.pushcrypt("keys", "create", f"phones/{user}", "--kind", "recipient", "--suite", self.options.suite,
                       "--psk", "--insecure-plaintext", "-q")
        record = self.pushcrypt("keys", "export", f"phones/{user}", "--registration")
        self.order("devices", token=token, topic=TOPIC)
        bearer = self.user_token(user)
        upload = json.dumps({"token": token, "environment": environment, "record": record}).encode()
        challenge = self.call("/v1/registrations", upload, token=bearer)
        keys = KeysetFile.from_bytes((self.folder / f"phones/{user}.keyset").read_bytes()).keyset()
        opener = Opener(TOPIC, keys, senders=Keyset.from_json(self.pushcrypt("keys", "export", "senders")))
        answer = possession.answer(challenge, record=record.encode(), host=HOST, opener=opener)
        self.call("/v1/answers", answer.encode(), token=bearer)
        self.phones[user] = token

    def send(self, user: str, text: str, title: str = "Clinic") -> str:
        """Sends until the service has accepted the message. A repeated request has the same key.

        Returns the message's id.
        """
        body = json.dumps({"user": user, "payload": {"aps": {"alert": {"title": title, "body": text}}}}).encode()
        while True:
            try:
                answer = self.call("/v1/messages", body, token=self.service_token, key=base64url(text.encode()))
                return str(json.loads(answer)["id"])
            except Refused as refused:
                if refused.status != 503:
                    raise
            except (OSError, http.client.HTTPException):
                pass  # The service is being restarted.
            time.sleep(0.2)

    def reports(self, ids: list[str], minutes: float = 1) -> list[dict[str, Any]]:
        """What became of messages, after APNs has accepted or refused all of them."""
        found: dict[str, dict[str, Any]] = {}

        def have_ended() -> bool:
            for id in ids:
                if id not in found:
                    report = json.loads(self.call(f"/v1/messages/{id}", token=self.service_token))
                    if report["queued"] or report["sent"] + sum(report["failed"].values()) < report["deliveries"]:
                        return False
                    found[id] = report
            return True

        wait("pushes wait", have_ended, 60 * minutes)
        return [found[id] for id in ids]


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def wait(failure: str, condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"{failure} for {seconds:.0f} s")
        time.sleep(0.05)


def compare(scene: Scene, accepted: list[tuple[str, str, str]], minutes: float = 1) -> set[tuple[str, str]]:
    """Compares the accepted messages (user, text, id) with what the phones can open.

    Returns whose pushes failed, and why.

    A push that arrives twice has the same message id both times, so a phone shows it once.
    """
    reports = scene.reports([id for _, _, id in accepted], minutes)
    opened, pushes = {}, scene.pushes()
    for user, token in scene.phones.items():
        lines = [json.loads(line) for line in scene.receive("open", user, pushes[token], "--batch").splitlines()]
        texts = {line["pushcrypt"]["id"]: line["payload"]["aps"]["alert"]["body"] for line in lines}
        opened[user] = collections.Counter(texts.values())
    failures: collections.Counter[tuple[str, str]] = collections.Counter()
    flaws, arrived = [], 0
    for (user, text, _), report in zip(accepted, reports):
        count = opened[user].pop(text, 0)
        arrived += count
        reasons = list(report["failed"]) if report["deliveries"] else ["no installation"]
        failures.update((user, reason) for reason in reasons)
        if count > 1 or count == 0 and not reasons:
            flaws.append(f"{text} to {user} arrived {count} times")
    flaws += [f"{user} got {text}, which wasn't accepted" for user, texts in opened.items() for text in texts]
    if flaws:
        raise Failure("\n".join(flaws))
    print(f"  accepted {len(accepted)}, opened once {arrived}, failed {sum(failures.values())}")
    for (user, reason), count in failures.items():
        print(f"    {user}: {count} {reason}")
    return set(failures)


def stop(scene: Scene) -> None:
    status = scene.end(scene.service, signal.SIGTERM)
    if status != 0:
        raise Failure(f"the service ended with status {status} after SIGTERM")
    log = (scene.folder / "service.log").read_text()
    for secret in [scene.service_token, "Message 1", "Reminder 1", *scene.phones.values()]:
        if secret in log:
            raise Failure("the service's log has a token or a text")
    print("The service ended with status 0 after SIGTERM.")


def demo(scene: Scene) -> None:
    print("The service, its database and a stand-in for APNs run on this machine.")
    scene.register("zoe")
    print("Zoe's phone has registered: a key, a device token, and the proof that it has the key.\n")
    first = scene.send("zoe", "Your results are in.", title="Dr. Amara Osei")
    scene.reports([first])
    pushes = scene.pushes()[scene.phones["zoe"]]
    print(scene.receive("simulate", "zoe", pushes))
    for push in scene.receive("simulate", "zoe", pushes, "--json", "--receipts", "json").splitlines():
        for receipt in json.loads(push)["receipts"]:
            scene.call("/v1/receipts", receipt.encode(), token=scene.user_token("zoe"))
    report = scene.reports([first])[0]
    print(f"The service knows: {report['sent']} accepted by APNs, {report['opened']} opened by the phone.\n")
    if report["opened"] != 1:
        raise Failure("the receipt had no effect")

    print("Pushes flow, and the signing key is rotated:")
    old = scene.signing_key("primary")
    accepted = [("zoe", "Your results are in.", first)]
    has_loaded = threading.Event()

    def flow() -> None:
        while len(accepted) < 200 or not has_loaded.is_set():
            text = f"Reminder {len(accepted)}"
            accepted.append(("zoe", text, scene.send("zoe", text)))

    def signers() -> list[str]:
        return [json.loads(line)["payload"]["pushcrypt"]["skid"] for line in scene.pushes()[scene.phones["zoe"]]]

    with concurrent.futures.ThreadPoolExecutor() as pool:
        flowing = pool.submit(flow)
        try:
            scene.pushcrypt("rotate", "-q", "--now", "senders")
            print("  pushcrypt rotate --now: the next key is published for the apps")
            wait("no push arrives", lambda: flowing.done() or len(signers()) > 20)
            scene.pushcrypt("rotate", "-q", "--now", "--at-once", "senders")
            new = scene.signing_key("primary")
            print(f"  pushcrypt rotate --now --at-once: {new} signs in place of {old}; the service loads it by itself")
            wait("the service doesn't load the next key", lambda: flowing.done() or new in signers())
        finally:
            has_loaded.set()
        flowing.result()
    if compare(scene, accepted):
        raise Failure("pushes failed")
    counts = collections.Counter(signers())
    print(f"  signed by key {old}: {counts[old]}, by key {new}: {counts[new]}")
    if not counts[old] or not counts[new]:
        raise Failure("the pushes aren't signed by the old key and then by the next one")
    print("None was lost, and none would be shown twice.")
    stop(scene)


def faults(scene: Scene) -> None:
    options = scene.options
    for number in range(options.phones):
        scene.register(f"user-{number}", "sandbox" if number % 4 == 3 else "production")
    users = list(scene.phones)
    accepted: list[tuple[str, str, str]] = []

    def send(number: int) -> None:
        user, text = users[number % len(users)], f"Message {number}"
        accepted.append((user, text, scene.send(user, text)))

    def fail(name: str, times: int, **details: Any) -> None:
        scene.order("faults", fault=name, times=times, **details)

    def answers() -> None:
        for reason in ["ServiceUnavailable", "TooManyRequests", "InternalServerError", "IdleTimeout"]:
            fail("answer", 10, reason=reason, retryAfter=1)

    def connections() -> None:
        fail("goAway", 2)
        fail("closeAfterAccepting", 1)
        scene.order("go-away")

    def streams() -> None:
        for name, times in [("reset", 20), ("resetAfterAccepting", 20), ("cutAnswer", 5), ("silence", 2)]:
            fail(name, times)

    def restart(number: signal.Signals, expected: int) -> None:
        status = scene.end(scene.service, number)
        scene.start_service()
        if status != expected:
            raise Failure(f"the service ended with status {status}")

    def lock() -> None:
        path = scene.folder / "pushes.sqlite"
        with contextlib.closing(sqlite3.connect(path, timeout=10, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            time.sleep(4)
            other.execute("COMMIT")

    def rotate() -> None:
        scene.pushcrypt("rotate", "-q", "--now", "senders")
        scene.pushcrypt("rotate", "-q", "--now", "--at-once", "senders")

    plan: list[tuple[float, str, Callable[[], None]]] = [
        (0.05, "APNs answers 503, 429, 500 and 400 IdleTimeout, ten times each", answers),
        (0.15, "APNs sends GOAWAY, and cuts a connection after it has accepted a push", connections),
        (0.25, "APNs resets 40 streams, half of them after it has accepted a push, cuts 5 answers, and never answers 2",
         streams),
        (0.4, "the service is killed with kill -9 and started again", lambda: restart(signal.SIGKILL, -signal.SIGKILL)),
        (0.5, "another process locks the database for 4 s, longer than the service waits", lock),
        (0.6, "the signing key is rotated", rotate),
        (0.7, "a user deletes the app: APNs answers 410",
         lambda: scene.order("devices/end", token=scene.phones[users[1]])),
        (0.8, "the service is restarted by SIGTERM", lambda: restart(signal.SIGTERM, 0)),
        (0.9, "the service is killed again", lambda: restart(signal.SIGKILL, -signal.SIGKILL)),
    ]
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        sending = [pool.submit(send, number) for number in range(options.pushes)]
        try:
            for share, text, step in plan:
                wait("no push is accepted", lambda: len(accepted) >= share * options.pushes, 60 * options.patience)
                step()
                print(f"  {share:.0%}: {text}", flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        for each in sending:
            each.result()
    for user in users:
        # Each phone gets a push after the last fault.
        accepted.append((user, f"Last to {user}", scene.send(user, f"Last to {user}")))
    failures = compare(scene, accepted, options.patience)
    print(f"  {options.phones} phones with keys of {options.suite}; {time.monotonic() - start:.0f} s")
    expected = {(users[1], reason) for reason in ["Unregistered", "no installation"]}
    if (users[1], "Unregistered") not in failures or not failures <= expected:
        raise Failure("the pushes to the user who deleted the app fail, and no others")
    stop(scene)


def serve(scene: Scene) -> None:
    scene.register("zoe")
    tokens = {"PUSH_USER_TOKEN": scene.user_token("zoe"), "PUSH_SERVICE_TOKEN": scene.service_token}
    status = subprocess.run(scene.options.program, env={**os.environ, "PUSH_URL": scene.url, **tokens}).returncode
    stop(scene)
    if status != 0:
        sys.exit(status)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pushcrypt", type=pathlib.Path, required=True, help="the tool pushcrypt")
    parser.add_argument("--programs", type=pathlib.Path, required=True,
                        help="the folder with push-service")
    parser.add_argument("--suite", default="p256", help="the suite of the phones' keys")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("demo", help="show one phone and a rotation").set_defaults(run=demo)
    command = commands.add_parser(
        "faults", help="push while the service is killed, APNs fails, and the signing key is rotated")
    command.add_argument("--pushes", type=int, default=2_000)
    command.add_argument("--phones", type=int, default=20)
    command.add_argument("--patience", type=float, default=5, help="how many minutes pushes may take after a fault")
    command.set_defaults(run=faults)
    command = commands.add_parser(
        "serve", help="run a program with PUSH_URL, PUSH_USER_TOKEN (of the user zoe, whose phone is registered) and "
                      "PUSH_SERVICE_TOKEN in its environment")
    command.add_argument("program", nargs=argparse.REMAINDER)
    command.set_defaults(run=serve)
    options = parser.parse_args()
    options.pushcrypt, options.programs = options.pushcrypt.resolve(), options.programs.resolve()
    # So that the started programs are ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.umask(0o077)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        try:
            options.run(Scene(options, pathlib.Path(folder), stack))
        except (Failure, Refused) as error:
            log = pathlib.Path(folder, "service.log")
            lines = log.read_text().splitlines() if log.exists() else []
            tail = [line for line in lines if '"level":"info"' not in line][-20:]
            sys.exit("\n".join([*tail, f"{type(error).__name__}: {error}"]))


if __name__ == "__main__":
    main()
