"""Runs pushcrypt at a time of the virtual clock, and the hosts that do so."""
from __future__ import annotations

import datetime
import json
import re
import shutil
import subprocess
from pathlib import Path

TOPIC = "com.example.app"
# A program that settings name must not be below a folder that others can write, as /tmp is.
KMS = Path(__file__).resolve().parent / "kms"


class CheckFailed(Exception):
    """Something that the policy or a page promises didn't happen."""


def rfc3339(time: datetime.datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


class Clock:
    """The time of the year, which every command gets by --at."""

    def __init__(self) -> None:
        self.start = datetime.datetime(datetime.date.today().year + 1, 1, 1, tzinfo=datetime.timezone.utc)
        self.now = self.start

    def set(self, day: int, hour: int, minute: int = 0) -> None:
        self.now = self.start + datetime.timedelta(days=day, hours=hour, minutes=minute)

    @property
    def day(self) -> int:
        return (self.now - self.start).days


class Tool:
    """The binary as one host runs it, in a folder and under the name of this host."""

    def __init__(self, binary: Path, clock: Clock, folder: Path, name: str, vault: Path) -> None:
        self.binary, self.clock, self.folder = binary, clock, folder
        self.lag = datetime.timedelta()  # how far the clock of this host is behind
        self.folder.mkdir(parents=True, exist_ok=True)
        self.environment = {"PATH": "/usr/bin:/bin", "PUSHCRYPT_WRITER": name, "HOME": str(folder), "LC_ALL": "C.UTF-8",
                            "YEAR_VAULT": str(vault)}

    def run(self, command: str, *arguments: str, kid: str | None = None, exit: int | None = 0,
            input: str | None = None, at: datetime.datetime | None = None) -> str:
        """Runs a command, checks its exit status and returns its stdout and, after a failure, its stderr."""
        time = at or self.clock.now - self.lag
        words = [*command.split(), *arguments, "--at", rfc3339(time), *(["--", kid] if kid else [])]
        result = subprocess.run([str(self.binary), *words], cwd=self.folder, env=self.environment, input=input,
                                stdin=subprocess.DEVNULL if input is None else None, capture_output=True, text=True)
        if exit is not None and result.returncode != exit:
            printed = result.stdout + result.stderr
            raise CheckFailed(f"pushcrypt {' '.join(words)}\nexit status {result.returncode} instead of {exit}\n{printed}")
        return result.stdout + (result.stderr if result.returncode else "")


class Host(Tool):
    """A host with settings. `init` makes all of the first one; the others get the files that they need."""

    def __init__(self, name: str, work: Path, binary: Path, clock: Clock) -> None:
        super().__init__(binary, clock, work / name, name, work / "vault")
        self.name, self.web = name, work / "www"
        self.settings, self.keys = self.folder / "pushcrypt.json", self.folder / "Keys"
        self.environment["PUSHCRYPT_SETTINGS"] = str(self.settings)

    def initialise(self, kind: str) -> Path:
        """Returns the pins of the app. The KMS opens the keysets; it or a passphrase opens the publisher."""
        self.run(f"init --keystore Keys --publisher-keystore Publisher --history history --publish-to {self.web} "
                 f"--settings {self.settings} --topic {TOPIC} --sender senders --{kind} fleet --yes")
        self.run(f"keys secret set --all --new-wrap-command {KMS}")
        self.run(f"keys secret add app --name kms --new-wrap-command {KMS}")
        settings = json.loads(self.settings.read_text())
        if kind == "shared":
            (self.folder / "outbox").mkdir()
            settings["devices"] = {"fleet": {"list": "devices", "to": "outbox"}}
        self.settings.write_text(json.dumps(settings | {"secret": {"command": str(KMS)}}))
        self.open_publisher({"command": str(KMS)})
        return self.folder / "sender-pins.json"

    def open_publisher(self, secret: dict[str, str]) -> None:
        """With a passphrase, scrypt takes most of a day's time."""
        settings = json.loads(self.settings.read_text())
        self.settings.write_text(json.dumps(settings | {"secrets": {"app": secret}}))

    def take_settings(self, other: Host) -> None:
        """The settings of the other host, with the places of this one and without a publisher."""
        self.settings.write_text(re.sub(f"{other.folder}(?=/)", str(self.folder), other.settings.read_text()))
        self.forget_publisher()

    def forget_publisher(self) -> None:
        settings = json.loads(self.settings.read_text())
        keep = {"keystores": [str(self.keys)], "expected": ["senders", "fleet"], "secrets": {}}
        self.settings.write_text(json.dumps(settings | keep))

    def status(self, *options: str) -> tuple[int, str]:
        """The exit status for a monitor, and the codes of what is worse than a notice."""
        output = self.run("status --json", *options, exit=None)
        report = json.loads(output[output.index("{"):output.rindex("}") + 1])
        codes = {finding["code"] for finding in report["findings"] if finding["severity"] != "notice"}
        return ["ok", "warning", "critical"].index(report["status"]), " ".join(sorted(codes))

    def key(self, keyset: str, state: str) -> str:
        return next(key["kid"] for key in json.loads(self.run(f"keys list Keys/{keyset} --json")) if key["state"] == state)

    def contents(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.keys.glob("*.keyset"))}

    def copy_keysets(self, target: Path, *folders: str) -> None:
        """A backup, or what another host gets, with any program that copies files."""
        target.mkdir(mode=0o700, exist_ok=True)
        for folder in folders or ("Keys",):
            for path in (self.folder / folder).glob("*.keyset"):
                shutil.copy2(path, target)
