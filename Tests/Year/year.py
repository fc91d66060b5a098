"""A year of two hosts and four phones, from day 0 to the day on which the last push arrives."""
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

from host import KEYSETS, Host
from ledger import Ledger, Push
from phone import Phone, RegisteredPhone, SharingPhone
from tool import TOPIC, CheckFailed, Clock, rfc3339

HERE = Path(__file__).resolve().parent
SEALING_DAYS = 365
LONGEST_LIFETIME = 30

# The day on which the fleet's third key seals. After a change-over it has the new suite.
CHANGE_OVER = 120
# The days of the incidents. The keysets have pending keys on the day of the leak; a key of the fleet is added on
# SECOND_HOST_WRITES, and one of the senders on PASSPHRASE_LOST.
LEAK = 165
OLD_COPY_RESTORED = 201
SECOND_HOST_WRITES = 205
SLOW_CLOCK = 206
PASSPHRASE_LOST = 235
HOST_LOST = 300


class Fault(NamedTuple):
    """A step of the policy or a runbook that is left out, and a part of the message with which the year must fail."""

    what: str
    noticed: str


FAULTS = {
    "short-lead": Fault("the next key is published 14 days before it seals, and a phone fetches keys every 21 days",
                        "shows '!unknownKey'"),
    "short-overlap": Fault("a phone's old key opens for 30 days, and its new record is uploaded after 15 days",
                           "shows '!keyExpired'"),
    "skip-reseal": Fault("the queue isn't sealed again after the leak", "and valid for 10 days, must show"),
    "skip-copy": Fault("the host that seals isn't given the revocation", "which was revoked at"),
    "restore-by-hand": Fault("the whole folder from before the leak is copied back", "which was revoked at"),
    "new-keyset": Fault("a phone changes over with a new keyset, which lacks the keys of the old suite", "shows '!unknownKey'"),
}


class Year:
    """
    Without a change-over the keyset of the fleet is a shared one. A recipient keyset and the keys that a phone makes change
    over from suite p256 to another one.
    """

    def __init__(self, binary: Path, work: Path, fault: str | None, change_over: str | None) -> None:
        self.change_over = change_over
        self.lead = 14 if fault == "short-lead" else 21  # days
        self.clock, self.ledger, self.fault, self.work = Clock(), Ledger(), fault, work
        os.umask(0o077)
        (work / "kms/vault").mkdir(parents=True)
        shutil.copy(HERE / "kms", work / "kms")
        self.a, self.b = Host("A", work, binary, self.clock), Host("B", work, binary, self.clock)
        self.writer, self.backend = self.a, self.b
        self.backups = work / "backups"
        self.backups.mkdir()
        make = (work, binary, self.clock)
        kind = SharingPhone if change_over else Phone
        self.fleet = [
            kind("daily", *make), kind("fortnight", *make, every=14, phase=3, off=True),
            # It fetches the day before a key is published, and the day before this key seals.
            kind("limit", *make, every=21, phase=17)]
        # A push that is sealed before the upload and takes 30 days arrives in the last hours of the overlap.
        self.own = RegisteredPhone("own", *make, upload_after=15, overlap=30 if fault == "short-overlap" else 45)
        self.phones = [*self.fleet, self.own]
        self.threads = ThreadPoolExecutor(os.cpu_count())
        # What goes wrong on a day: the exit status of `status` after cron, and the words that cron mails.
        self.bad_days: dict[int, tuple[int, str]] = {}

    def log(self, text: str) -> None:
        print(f"day {self.clock.day:3} {self.clock.text()}  {text}", flush=True)

    # MARK: - Day 0

    def set_up(self) -> None:
        a = self.a
        for name in ("ann", "safe"):
            (a.secrets / f"{name}.pass").write_text(secrets.token_urlsafe(18))
        shutil.copy(a.secrets / "ann.pass", a.secrets / "publisher-passphrase")
        # With one key to keep, a retired key opens for the overlap and no longer.
        kind = "recipient" if self.change_over else "shared"
        a.run(f"keys create Keys/fleet --kind {kind} --rotate-every 60d --publish-lead {self.lead}d --overlap 30d --keep 1")
        a.run("keys create Keys/senders --kind sender --rotate-every 90d --publish-lead 21d --overlap 30d --keep 1")
        a.run(f"keys policy Keys/senders --publish-topic {TOPIC} --publish-for 60d")
        ann, safe = a.secrets / "ann.pass", a.secrets / "safe.pass"
        a.tool.run("keys create Publisher/app --kind publisher --passphrase-file", str(ann))
        a.tool.run(f"keys secrets add Publisher/app --name safe --first-name ann --passphrase-file {ann} "
                   f"--new-passphrase-file {safe}")
        pins = a.run(f"keys export Publisher/app --pins-for Keys/senders --publisher-passphrase-file {ann}")
        (a.home / "devices/fleet").write_text("".join(phone.name + "\n" for phone in self.fleet))
        self.rotate()
        for phone in self.phones:
            (phone.folder / "pins.json").write_text(pins)
            phone.fetch(a)
        self.log("host A made the keysets; host B and four phones have got their keys")

    # MARK: - Every day

    def run(self) -> str:
        self.set_up()
        at_three = {OLD_COPY_RESTORED: self.put_old_copy_back, SECOND_HOST_WRITES: self.second_host_writes,
                    SLOW_CLOCK: self.slow_clock, PASSPHRASE_LOST: self.lose_passphrase}
        if self.change_over:
            # Before the rotation, which would add a key of the old suite.
            at_three[CHANGE_OVER - self.lead] = self.begin_change_over
        at_five = {OLD_COPY_RESTORED: self.restore, SLOW_CLOCK: self.set_clock,
                   PASSPHRASE_LOST + 1: self.use_second_passphrase}
        at_ten = {LEAK: self.leak, HOST_LOST: self.lose_host}
        day = 0
        while day < SEALING_DAYS or self.ledger.waiting:
            day += 1
            self.happen(day, 3, at_three)
            self.clock.set(day, 4)
            self.rotate()
            self.happen(day, 5, at_five)
            self.clock.set(day, 8, 50)
            wait = self.deliver()
            self.clock.set(day, 9)
            if day <= SEALING_DAYS:
                self.seal()
            wait()
            self.happen(day, 10, at_ten)
            self.clock.set(day, 21)
            self.fetch()
            if day % 7 == 0:
                self.back_up()
        return self.finish()

    def happen(self, day: int, hour: int, incidents: dict[int, Callable[[], None]]) -> None:
        self.clock.set(day, hour)
        if day in incidents:
            incidents[day]()

    def rotate(self) -> None:
        """cron at four o'clock, the monitor, and the copy for the other host."""
        day = self.clock.day
        mail = self.writer.cron()
        code, words = self.bad_days.get(day, (0, ""))
        has_failed = "rotate ended with exit status" in mail
        if words not in mail or has_failed != bool(words):
            raise CheckFailed(f"cron on day {day} mails instead of {words!r}:\n{mail}")
        if has_failed:
            self.log(f"cron mails: {mail.strip()}")
        self.require_status(code)
        if not has_failed:
            self.copy_keys()

    def copy_keys(self) -> None:
        if self.writer is not self.backend and not (self.fault == "skip-copy" and self.clock.day >= LEAK):
            self.writer.copy_keys(self.backend)

    def require_status(self, code: int) -> None:
        found, lines = self.writer.status()
        if found != code:
            raise CheckFailed(f"status on day {self.clock.day} is {found} instead of {code}:\n{lines}")

    def deliver(self) -> Callable[[], None]:
        """What arrives today, ten minutes before its lifetime ends if it was on its way for that long.

        The phones open it while the backend seals; the result waits for them.
        """
        arrived, now = self.ledger.waiting.pop(self.clock.day, []), self.clock.now

        def open(phone: Phone) -> list[tuple[Push, str | None]]:
            own = [push for push in arrived if push.phone is phone]
            shown = phone.open({push.number: push.payload for push in own}, at=rfc3339(now)) if own else {}
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

    def back_up(self) -> None:
        for store in ("Keys", "Publisher"):
            self.writer.tool.run(f"keys backup --all {store} --to {self.backups}/{store}-{self.clock.day:03}")

    def newest_backup(self, store: str) -> Path:
        return max(self.backups.glob(f"{store}-*"))

    # MARK: - A change-over

    def begin_change_over(self) -> None:
        """docs/rotation.md: the next key has the new suite. On the phone that makes its own keys, an update of the app adds it."""
        for tool, path in ((self.a.tool, "Keys/fleet"), (self.own.tool, "Keys/own")):
            self.ledger.old_suite |= {key["kid"] for key in json.loads(tool.run(f"keys list {path} --json"))}
        self.a.change(f"keys add Keys/fleet --suite {self.change_over}")
        if self.fault == "new-keyset":
            self.own.make_keys(self.change_over)
        else:
            self.own.next_suite = self.change_over
        self.log(f"change-over to {self.change_over}")

    # MARK: - What goes wrong

    def leak(self) -> None:
        """docs/runbooks/leaked-master-key.md and leaked-sender-key.md: a backup of host B was stolen."""
        a = self.a
        shutil.copytree(a.keys / "fleet", self.work / "before-the-leak")
        stolen = {keyset: [a.key(keyset, "primary"), a.key(keyset, "pending")] for keyset in KEYSETS}
        for keyset, (primary, pending) in stolen.items():
            why = ["--reason", "a backup of host B was stolen", "--yes"]
            a.change(f"rotate Keys/{keyset} --emergency --revoke={primary}", *why)
            a.change(f"keys revoke Keys/{keyset}", *why, kid=pending)
            self.ledger.unannounced[a.key(keyset, "primary")] = self.clock.now
            self.ledger.revoked |= {primary: self.clock.now, pending: self.clock.now}
        self.log(f"leak: revoked {', '.join(self.ledger.revoked)}")
        self.require_status(0)
        self.copy_keys()
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
        output = self.backend.run(f"reseal --keys Keys/fleet --sign-with Keys/senders --topic {TOPIC} --errors refused",
                                  input="".join(lines))
        for push, line in zip(fleet, output.splitlines(), strict=True):
            push.payload = json.loads(line)["payload"]
            self.ledger.require_valid_keys(push)

    def put_old_copy_back(self) -> None:
        """docs/runbooks/restore-a-backup.md: at three, somebody copies a file of before the leak back."""
        before = self.work / "before-the-leak"
        if self.fault == "restore-by-hand":
            shutil.rmtree(self.a.keys / "fleet")
            shutil.copytree(before, self.a.keys / "fleet")
            return
        shutil.copy(before / "keyset.json", self.a.keys / "fleet/keyset.json")
        self.bad_days[self.clock.day] = (2, "the keyset is an earlier copy, as after a restored backup")

    def restore(self) -> None:
        if self.fault == "restore-by-hand":
            return
        restored = self.a.change(f"keys restore Keys/fleet --from {self.newest_backup('Keys')}")
        # `doctor` advises it: the copy has keys that the log destroyed.
        for replaced in (self.a.keys / "fleet").glob("keyset.replaced-*"):
            self.a.tool.shell(f"shred -u {replaced}")
        self.require_status(0)
        self.copy_keys()
        self.log(restored.splitlines()[0])

    def second_host_writes(self) -> None:
        """docs/runbooks/two-hosts.md: cron also runs on host B, when a step is due."""
        before = self.b.contents()
        mail = self.b.cron()
        if "A changes this keyset, and this is B" not in mail or "exit status 75" not in mail:
            raise CheckFailed(f"cron of host B mails:\n{mail}")
        self.require_unchanged(self.b, before)
        self.log("host B wasn't allowed to rotate")

    def require_unchanged(self, host: Host, before: dict[str, bytes]) -> None:
        if host.contents() != before:
            raise CheckFailed(f"a refused command changed the keystore of host {host.name}")

    def slow_clock(self) -> None:
        """The clocks of both hosts are two days behind, before the last change of the fleet's keys."""
        for host in (self.a, self.b):
            host.tool.lag = datetime.timedelta(days=2)
        self.before = self.a.contents()
        self.bad_days[self.clock.day] = (2, "exit status 75")

    def set_clock(self) -> None:
        self.require_unchanged(self.a, self.before)
        payload = {"payload": {"aps": {"alert": "Never sealed"}}, "device": self.fleet[0].name}
        refused = self.seal_lines([json.dumps(payload) + "\n"], exit=75)
        if '"sealed"' in refused:
            raise CheckFailed(f"under a slow clock seal prints:\n{refused}")
        for host in (self.a, self.b):
            host.tool.lag = datetime.timedelta()
        self.require_status(0)
        self.log("the clocks are right again; nothing was changed or sealed under the slow ones")

    def lose_passphrase(self) -> None:
        """docs/runbooks/lost-passphrase.md: nobody knows Ann's passphrase of the publisher keyset any more."""
        self.a.secrets.joinpath("publisher-passphrase").write_text("Ann's, she believes")
        # The program of --exec-on-change fails when a key is added.
        self.bad_days |= {self.clock.day: (0, "exit status 69"), self.clock.day + 1: (0, "exit status 69")}

    def use_second_passphrase(self) -> None:
        """The passphrase in the safe is the second secret. Bob's replaces Ann's."""
        # The keys aren't published for more than a day.
        self.require_status(1)
        a, lost, safe = self.a, self.a.secrets / "publisher-passphrase", self.a.secrets / "safe.pass"
        a.tool.run(f"keys verify Publisher/app --passphrase-file {lost}", exit=77)
        del self.bad_days[self.clock.day]
        a.tool.run(f"keys secrets remove Publisher/app --name ann --passphrase-file {safe}")
        lost.write_text(secrets.token_urlsafe(18))
        a.tool.run(f"keys secrets add Publisher/app --name bob --first-name safe --passphrase-file {safe} "
                   f"--new-passphrase-file {lost}")
        self.rotate()
        self.log("the passphrase in the safe opened the publisher keyset")

    def lose_host(self) -> None:
        """docs/runbooks/two-hosts.md: host A is lost, and host B writes from now on."""
        b = self.b
        shutil.copy(self.a.secrets / "publisher-passphrase", b.secrets)
        shutil.copy(self.a.home / "devices/fleet", b.home / "devices/fleet")
        shutil.rmtree(self.a.root)
        b.tool.run(f"keys restore --from {self.newest_backup('Publisher')} --into Publisher --passphrase-file "
                   f"{b.secrets / 'publisher-passphrase'}")
        # The log was on host A, so nothing tells what was destroyed after the backup. Nothing was.
        b.tool.run(f"keys restore Publisher/app --confirm --passphrase-file {b.secrets / 'publisher-passphrase'}")
        for keyset in KEYSETS:
            b.change(f"keys policy Keys/{keyset} --writer this")
        self.writer = b
        self.require_status(0)
        self.log("host B has taken over")

    # MARK: - The end

    def finish(self) -> str:
        writer = self.writer
        for path in [*(f"Keys/{keyset}" for keyset in KEYSETS), "Publisher/app"]:
            self.log(f"{path}: log " + writer.tool.run(f"keys log {path} --verify").strip())
        for keyset in KEYSETS:
            writer.run(f"keys verify Keys/{keyset}")
        for store in ("Keys", "Publisher"):
            findings = json.loads(writer.tool.run(f"keys doctor {store} --json"))
            if findings:
                raise CheckFailed(f"doctor finds in {store}: {json.dumps(findings, indent=1)}")
        return self.ledger.report()
