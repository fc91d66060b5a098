"""Two years of two hosts and four phones, from day 0 to the day on which the last push arrives."""
from __future__ import annotations

import datetime
import itertools
import json
import os
import secrets
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from ledger import Ledger, Push
from phone import Phone, RegisteredPhone, SharingPhone
from tool import KMS, TOPIC, CheckFailed, Clock, Host

SEALING_DAYS = 730
LONGEST_LIFETIME = 30

# The day on which the fleet's third key seals. After a change-over it has the new suite.
CHANGE_OVER = 120
# The days of the incidents. The keysets have pending keys on the day of the first leak. A key of the fleet is added on
# SECOND_HOST_WRITES, and one of the senders on PASSPHRASE_LOST.
LEAKS = (165, 430)
OLD_COPY_RETURNS = 201
SECOND_HOST_WRITES = 205
SLOW_CLOCK = 206
PASSPHRASE_LOST = 235
PUBLISHER_MOVES = 400
HOST_LOST = 600


class Fault(NamedTuple):
    """A step of the policy or a page that is left out, and a part of the message with which the year must fail."""

    what: str
    noticed: str


FAULTS = {
    "short-lead": Fault("the next key is published 14 days before it seals, and a phone fetches keys every 21 days",
                        "shows '!unknownKey'"),
    "short-overlap": Fault("a phone's old key opens for 30 days, and its new record is uploaded after 15 days",
                           "shows '!keyExpired'"),
    "skip-reseal": Fault("the queue isn't sealed again after the leak", "and valid for 10 days, must show"),
    "skip-copy": Fault("the host that seals isn't given the revocation", "which was revoked at"),
    "skip-restore": Fault("a snapshot of before the leak stays", "is 2 (oldCopy)"),
    "skip-sign": Fault("the publisher is on another host, which doesn't sign", "(unpublished) instead of 0"),
    "new-keyset": Fault("a phone changes over with a new keyset, which lacks the keys of the old suite", "shows '!unknownKey'"),
}


class Year:
    """
    Without a change-over the keyset of the fleet is a shared one. A recipient keyset and the keys that a phone makes change
    over from suite p256 to another one.
    """

    def __init__(self, binary: Path, work: Path, fault: str | None, change_over: str | None, days: int) -> None:
        self.change_over, self.days = change_over, days
        self.lead = 14 if fault == "short-lead" else 21  # days
        self.clock, self.ledger, self.fault, self.work = Clock(), Ledger(), fault, work
        os.umask(0o077)
        for folder in ("vault", "www", "backups"):
            (work / folder).mkdir()
        make = (work, binary, self.clock)
        # B seals; C is the publisher's host later.
        self.a, self.b, self.c = (Host(name, *make) for name in "ABC")
        self.writer, self.backend, self.publisher = self.a, self.b, self.a
        kind = SharingPhone if change_over else Phone
        self.fleet = [
            kind("daily", *make), kind("fortnight", *make, every=14, phase=3, off=True),
            # It fetches the day before a key is published, and the day before this key seals.
            kind("limit", *make, every=21, phase=17)]
        # A push that is sealed before the upload and takes 30 days arrives in the last hours of the overlap.
        self.own = RegisteredPhone("own", *make, upload_after=15, overlap=30 if fault == "short-overlap" else 45)
        self.phones = [*self.fleet, self.own]
        self.threads = ThreadPoolExecutor(os.cpu_count())
        # What goes wrong on a day: the exit status of `rotate`, words that cron mails, and what `status` finds.
        self.bad_days: dict[int, tuple[int, str, str]] = {}

    def log(self, text: str) -> None:
        print(f"day {self.clock.day:3} {self.clock.now:%F %R}  {text}", flush=True)

    def set_up(self) -> None:
        a = self.a
        pins = a.initialise("recipient" if self.change_over else "shared")
        (a.folder / "devices").write_text("".join(phone.name + "\n" for phone in self.fleet))
        # With one key to keep, a retired key opens for the overlap and no longer.
        a.run(f"keys policy fleet --rotate-every 60d --publish-lead {self.lead}d --overlap 30d --keep 1")
        a.run("keys policy senders --rotate-every 90d --publish-lead 21d --overlap 30d --keep 1")
        (a.folder / "safe").write_text(secrets.token_urlsafe(18))
        a.run("keys secret add app --name safe --new-passphrase-file safe")
        self.b.take_settings(a)
        a.copy_keysets(self.b.keys)
        self.rotate()
        for phone in self.phones:
            shutil.copy(pins, phone.folder / "pins.json")
            phone.fetch(a)
        self.log("host A made the keysets; host B and four phones have got their keys")

    # MARK: - Every day

    def run(self) -> str:
        self.set_up()
        at_three = {OLD_COPY_RETURNS: self.return_old_copy, SECOND_HOST_WRITES: self.second_host_writes,
                    SLOW_CLOCK: self.slow_clock, PASSPHRASE_LOST: self.lose_passphrase, PUBLISHER_MOVES: self.move_publisher}
        if self.change_over:
            # Before the rotation, which would add a key of the old suite.
            at_three[CHANGE_OVER - self.lead] = self.begin_change_over
        at_five = {OLD_COPY_RETURNS: self.restore, SLOW_CLOCK: self.set_clock,
                   PASSPHRASE_LOST + 1: self.use_second_passphrase}
        at_ten = {HOST_LOST: self.lose_host} | dict.fromkeys(LEAKS, self.leak)
        day = 0
        while day < self.days or self.ledger.waiting:
            day += 1
            self.happen(day, 3, at_three)
            self.clock.set(day, 4)
            self.rotate()
            self.happen(day, 5, at_five)
            self.clock.set(day, 8, 50)
            wait = self.deliver()
            self.clock.set(day, 9)
            if day <= self.days:
                self.seal()
            wait()
            self.happen(day, 10, at_ten)
            self.clock.set(day, 21)
            self.fetch()
            if day % 7 == 0:
                self.writer.copy_keysets(self.work / "backups", "Keys", "Publisher")
        self.require_status("", "--long")
        return self.ledger.report()

    def happen(self, day: int, hour: int, incidents: dict[int, Callable[[], None]]) -> None:
        self.clock.set(day, hour)
        if day in incidents:
            incidents[day]()

    def rotate(self) -> None:
        """cron at four o'clock, the signature of another host, the monitor, and the copy for the host that seals."""
        status, words, codes = self.bad_days.get(self.clock.day, (0, "", ""))
        mail = self.writer.run("rotate", exit=status)
        if words not in mail:
            raise CheckFailed(f"rotate on day {self.clock.day} prints instead of {words!r}:\n{mail}")
        if words:
            self.log(f"cron mails: {mail.strip()}")
        self.share(codes)

    def share(self, codes: str = "") -> None:
        if not codes:
            self.sign()
        self.require_status(codes)
        if not codes and self.writer is not self.backend and not (self.fault == "skip-copy" and self.clock.day >= LEAKS[0]):
            self.writer.copy_keysets(self.backend.keys)

    def sign(self) -> None:
        """Once the publisher is on another host, an operator carries a file there."""
        if self.publisher is self.writer or self.fault == "skip-sign":
            return
        file = self.publisher.folder / "senders.log"
        self.writer.run(f"publish --unsigned {file} senders")
        self.publisher.run(f"publish --sign {file} --to {self.publisher.web} --yes")

    def require_status(self, codes: str, *options: str) -> None:
        found, shown = self.writer.status(*options)
        if shown != codes or (found == 0) != (codes == ""):
            raise CheckFailed(f"status on day {self.clock.day} is {found} ({shown}) instead of {codes or 0}")

    def deliver(self) -> Callable[[], None]:
        """What arrives today, ten minutes before its lifetime ends if it was on its way for that long.

        The phones open it while the backend seals; the result waits for them.
        """
        arrived, now = self.ledger.waiting.pop(self.clock.day, []), self.clock.now

        def open(phone: Phone) -> list[tuple[Push, str | None]]:
            own = [push for push in arrived if push.phone is phone]
            shown = phone.open({push.number: push.payload for push in own}, at=now) if own else {}
            return [(push, shown.get(push.number)) for push in own]

        opened = self.threads.map(open, self.phones)

        def wait() -> None:
            for push, shown in itertools.chain.from_iterable(opened):
                self.ledger.record(push, shown, now)

        return wait

    def seal(self) -> None:
        """The backend seals four pushes to each phone: three leave now, and one in three days."""
        day, pushes = self.clock.day, []
        for phone in self.phones:
            for lifetime, way, wait in ((2, 1, 0), (7, 7, 0), (LONGEST_LIFETIME, LONGEST_LIFETIME, 0), (10, 4, 3)):
                number = len(self.ledger.pushes) + len(pushes) + 1
                pushes.append(Push(
                    number, phone, f"Message {number} for {phone.name}", self.clock.now,
                    datetime.timedelta(days=lifetime), arrives=phone.next_arrival(day + way),
                    leaves=self.clock.now + datetime.timedelta(days=wait)))
        self.seal_pushes(pushes)
        for push in pushes:
            self.ledger.add(push)

    def seal_pushes(self, pushes: list[Push]) -> None:
        output = self.seal_lines(
            json.dumps({"payload": {"aps": {"alert": {"title": "Clinic", "body": push.body}}},
                        "device": push.phone.name, "expires": f"{push.lifetime.days}d", **push.phone.address}) + "\n"
            for push in pushes)
        for push, line in zip(pushes, output.splitlines(), strict=True):
            push.payload, push.sealed = json.loads(line)["payload"], self.clock.now
            self.ledger.require_valid_keys(push)

    def seal_lines(self, lines, exit: int = 0) -> str:
        return self.backend.run(f"seal --batch --to Keys/fleet --sign-with Keys/senders --topic {TOPIC}",
                                input="".join(lines), exit=exit)

    def fetch(self) -> None:
        def run(phone: Phone) -> None:
            if isinstance(phone, RegisteredPhone):
                phone.rotate()
            if phone.is_awake(self.clock.day):
                phone.fetch(self.writer)
        list(self.threads.map(run, self.phones))

    def begin_change_over(self) -> None:
        """docs/rotation.md: the next key has the new suite. On the phone that makes its own keys, an update of the app adds it."""
        for tool, path in ((self.a, "Keys/fleet"), (self.own.tool, "Keys/own")):
            self.ledger.old_suite |= {key["kid"] for key in json.loads(tool.run(f"keys list {path} --json"))}
        self.a.run(f"rotate --now fleet --suite {self.change_over}")
        if self.fault == "new-keyset":
            self.own.make_keys(self.change_over)
        else:
            self.own.next_suite = self.change_over
        self.log(f"change-over to {self.change_over}")

    # MARK: - What goes wrong

    def leak(self) -> None:
        """A backup of host B was stolen: what seals and what will seal is revoked."""
        a = self.a
        a.copy_keysets(self.work / "snapshot")
        for keyset in ("fleet", "senders"):
            listed = json.loads(a.run(f"keys list Keys/{keyset} --json"))
            # Once the pending key is revoked, the primary's successor is one that no thief has.
            for key in sorted((key for key in listed if key["sealsNow"] or key["state"] == "pending"),
                              key=lambda key: key["sealsNow"]):
                a.run(f"revoke {keyset} --yes", kid=key["kid"], exit=78 if keyset == "senders" and self.publisher is not a else 0)
                self.ledger.revoked[key["kid"]] = self.clock.now
            self.ledger.unannounced[a.key(keyset, "primary")] = self.clock.now
        self.log(f"leak: revoked {', '.join(self.ledger.revoked)}")
        self.share()
        if self.fault != "skip-reseal":
            self.reseal()

    def reseal(self) -> None:
        """A backend can open what was sealed with a shared key. It seals its other messages from their text."""
        queue = self.ledger.queue(self.clock.now)
        fleet = [push for push in queue if push.phone in self.fleet and not self.change_over]
        if fleet:
            self.reseal_fleet(fleet)
        self.seal_pushes([push for push in queue if push not in fleet])
        self.log(f"sealed {len(queue)} queued pushes again")

    def reseal_fleet(self, fleet: list[Push]) -> None:
        lines = [json.dumps({"payload": push.payload, "device": push.phone.name}) + "\n" for push in fleet]
        output = self.backend.run(f"reseal --keys Keys/fleet --sign-with Keys/senders --topic {TOPIC} --errors refused-{self.clock.day}",
                                  input="".join(lines))
        for push, line in zip(fleet, output.splitlines(), strict=True):
            push.payload = json.loads(line)["payload"]
            self.ledger.require_valid_keys(push)

    def return_old_copy(self) -> None:
        """At three, somebody brings a snapshot of before the leak back."""
        for path in (self.work / "snapshot").iterdir():
            shutil.copy2(path, self.a.keys)
        self.bad_days[self.clock.day] = (78, "is an old copy", "oldCopy")

    def restore(self) -> None:
        """The history has the revocations, and the newest backup the keys that were made since."""
        if self.fault != "skip-restore":
            restored = self.a.run(f"restore {self.work}/backups/fleet.keyset {self.work}/backups/senders.keyset")
            self.log(restored.splitlines()[0])
            self.a.run("rotate")
        self.share()

    def second_host_writes(self) -> None:
        """cron also runs on host B, when a step is due."""
        before = self.b.contents()
        mail = self.b.run("rotate", exit=78)
        if "A changes this keyset" not in mail:
            raise CheckFailed(f"cron of host B mails:\n{mail}")
        self.require_unchanged(self.b, before)
        self.log("host B wasn't allowed to rotate")

    def require_unchanged(self, host: Host, before: dict[str, bytes]) -> None:
        if host.contents() != before:
            raise CheckFailed(f"a refused command changed the keystore of host {host.name}")

    def slow_clock(self) -> None:
        """The clocks of both hosts are two days behind, before the last change of the fleet's keys."""
        for host in (self.a, self.b):
            host.lag = datetime.timedelta(days=2)
        self.before = self.a.contents()
        self.bad_days[self.clock.day] = (78, "the clock is before the last change", "clock")

    def set_clock(self) -> None:
        self.require_unchanged(self.a, self.before)
        payload = {"payload": {"aps": {"alert": "Never sealed"}}, "device": self.fleet[0].name}
        refused = self.seal_lines([json.dumps(payload) + "\n"], exit=78)
        if '"sealed"' in refused:
            raise CheckFailed(f"under a slow clock seal prints:\n{refused}")
        for host in (self.a, self.b):
            host.lag = datetime.timedelta()
        self.a.run("rotate")
        self.share()
        self.log("the clocks are right again; nothing was changed or sealed under the slow ones")

    def lose_passphrase(self) -> None:
        """Nobody knows the passphrase of the publisher any more."""
        self.passphrase = self.a.folder / "publisher-passphrase"
        self.passphrase.write_text("Ann's, she believes")
        self.a.open_publisher({"file": str(self.passphrase)})
        self.bad_days |= dict.fromkeys((self.clock.day, self.clock.day + 1), (77, "the passphrase is wrong", "runFailed"))

    def use_second_passphrase(self) -> None:
        """The passphrase in the safe is the second secret, and replaces the first."""
        a = self.a
        (a.folder / "new").write_text(secrets.token_urlsafe(18))
        a.run("keys secret set app --name passphrase --passphrase-file safe --new-passphrase-file new "
              f"--remaining-wrap-command {KMS}")
        (a.folder / "new").rename(self.passphrase)
        a.run("rotate")
        a.open_publisher({"command": str(KMS)})
        self.share()
        self.log("the passphrase in the safe opened the publisher keyset")

    def move_publisher(self) -> None:
        """The publisher goes to host C, which has no other key."""
        shutil.move(self.a.folder / "Publisher", self.c.folder)
        with (self.c.folder / "Publisher/app.keyset").open() as file:
            identifier = json.loads(file.readline())["id"]
        (self.c.folder / "history").mkdir(mode=0o700)
        shutil.move(self.a.folder / "history" / identifier, self.c.folder / "history")
        self.c.settings.write_text(json.dumps(
            {"keystores": ["Publisher"], "history": "history", "secret": {"command": str(KMS)}}))
        self.a.forget_publisher()
        self.publisher = self.c
        self.log("host C has the publisher")

    def lose_host(self) -> None:
        """Host A is lost, and host B writes from now on."""
        b = self.b
        b.take_settings(self.a)
        shutil.copy(self.a.folder / "devices", b.folder)
        (b.folder / "outbox").mkdir()
        shutil.rmtree(self.a.folder)
        self.log(b.run("restore").strip())
        self.writer = b
        b.run("rotate")
        self.share()
        self.log("host B has taken over")
