"""Phones: when they fetch keys, and what they show of the pushes that arrive."""
from __future__ import annotations

import datetime
import json
import shutil
from pathlib import Path

from tool import KMS, TOPIC, Clock, Host, Tool


class Phone:
    """A phone opens with the keys and the sender set that it fetched last. A push doesn't make it fetch."""

    def __init__(self, name: str, work: Path, binary: Path, clock: Clock, every: int = 1, phase: int = 0,
                 off: bool = False) -> None:
        self.name = name
        self.every, self.phase = every, phase
        self.off = off  # whether it is switched off on the days between
        self.folder = work / "phones" / name
        self.tool = Tool(binary, clock, self.folder, name, work / "vault")
        self.clock = clock
        self.fetched = clock.now
        self.keys = "keys.json"
        self.secret: list[str] = []  # the options for the secret of its keys
        self.address: dict[str, object] = {}  # the recipient in a line for `seal`, if it isn't the fleet's key

    def is_awake(self, day: int) -> bool:
        return (day - self.phase) % self.every == 0

    def next_arrival(self, day: int) -> int:
        """The day on which a push that could arrive on this day does."""
        while self.off and not self.is_awake(day):
            day += 1
        return day

    def fetch(self, host: Host) -> None:
        """The app runs and fetches the signed set and, over its own connection, its keys."""
        (document,) = host.web.glob("*.1.json")
        self._take(document, "senders.json")
        self._fetch_keys(host)
        self.fetched = self.clock.now

    def _take(self, file: Path, name: str) -> None:
        shutil.copy(file, self.folder / name)
        (self.folder / name).chmod(0o600)

    def _fetch_keys(self, host: Host) -> None:
        """Its file of the outbox."""
        (file,) = (host.folder / "outbox").glob(f"*.{self.name}.json")
        self._take(file, self.keys)

    def open(self, payloads: dict[int, object], at: datetime.datetime) -> dict[int, str]:
        """Opens pushes by their numbers. Returns the body that the phone shows, or "!" and the class of the failure."""
        lines = "".join(json.dumps({"payload": payload, "push": number}) + "\n" for number, payload in payloads.items())
        errors = self.folder / "errors"
        errors.unlink(missing_ok=True)
        output = self.tool.run(f"open --batch --topic {TOPIC} --keys {self.keys} --trust senders.json --pins pins.json "
                               "--errors errors -q", *self.secret, input=lines, exit=None, at=at)
        shown = {}
        for line in output.splitlines():
            if line.startswith("{"):
                entry = json.loads(line)
                shown[entry["push"]] = entry["payload"]["aps"]["alert"]["body"]
        for line in errors.read_text().splitlines() if errors.exists() else []:
            entry = json.loads(line)
            shown[json.loads(entry["input"])["push"]] = "!" + entry["reason"]
        return shown


class SharingPhone(Phone):
    """A phone of a fleet with one recipient keyset: it gets a copy of the keyset."""

    def __init__(self, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self.keys, self.secret = "fleet.keyset", ["--wrap-command", str(KMS)]

    def _fetch_keys(self, host: Host) -> None:
        self._take(host.keys / self.keys, self.keys)


class RegisteredPhone(Phone):
    """A phone that makes its own keys, rotates them, and uploads its record some days later."""

    def __init__(self, name: str, work: Path, binary: Path, clock: Clock, upload_after: int, overlap: int) -> None:
        super().__init__(name, work, binary, clock)
        self.keys = "Keys/own"
        self.upload_after, self.overlap = upload_after, overlap
        self.make_keys("p256")
        self.address = {"to": self._record()}
        self.uploads: dict[int, dict[str, object]] = {}
        self.next_suite: str | None = None  # an update of the app changes over to it

    def make_keys(self, suite: str) -> None:
        (self.folder / "Keys/own.keyset").unlink(missing_ok=True)
        self.tool.run(f"keys create Keys/own --kind recipient --suite {suite} --psk --insecure-plaintext --keep 1 "
                      f"--overlap {self.overlap}d")

    def _record(self) -> dict[str, object]:
        return json.loads(self.tool.run("keys export Keys/own --registration"))

    def has_pending(self) -> bool:
        return any(key["state"] == "pending" for key in json.loads(self.tool.run("keys list Keys/own --json")))

    def rotate(self) -> None:
        """Makes the due steps once a week. A record with another key reaches the backend after the delay."""
        if self.clock.day % 7 == 6:
            if self.next_suite and not self.has_pending():
                self.tool.run(f"rotate --now Keys/own --suite {self.next_suite}")
                self.next_suite = None
            self.tool.run("rotate Keys/own")
            record = self._record()
            known = [self.address["to"], *self.uploads.values()]
            if record not in known:
                self.uploads[self.clock.day + self.upload_after] = record
        if self.clock.day in self.uploads:
            self.address = {"to": self.uploads.pop(self.clock.day)}

    def _fetch_keys(self, host: Host) -> None:
        pass
