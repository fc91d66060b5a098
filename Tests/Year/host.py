"""A host with a keystore, set up as Examples/operations describes."""
from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

from tool import Clock, Tool

OPERATIONS = Path(__file__).resolve().parents[2] / "Examples/operations"
KEYSETS = ["fleet", "senders"]


class Host:
    def __init__(self, name: str, work: Path, binary: Path, clock: Clock) -> None:
        self.name = name
        self.root = work / name
        self.home = self.root / "srv/push"
        self.keys = self.home / "Keys"
        self.secrets = self.root / "etc/push"
        self.web = work / "www"
        self.tool = Tool(binary, clock, self.home, name)
        for folder in (self.home / "devices", self.home / "outbox", self.keys,
                       self.secrets, self.root / "var/log/push", self.web):
            folder.mkdir(parents=True, exist_ok=True)
        # Both hosts may use the same KMS.
        self.kms = work / "kms/kms"
        self.publish = self.secrets / "publish"
        self._install("publish", self.publish)
        self._install("crontab", self.root / "crontab")

    def _install(self, name: str, target: Path) -> None:
        """Copies a file of Examples/operations with the paths of this host and its KMS in place of a passphrase."""
        places = {
            "/srv/www/push": self.web, "/srv/push": self.home, "/var/log/push": self.root / "var/log/push",
            "--passphrase-file /etc/push/passphrase": f"--wrap-command {self.kms}",
            '--passphrase-file "$secrets/passphrase"': f"--wrap-command {self.kms}", "/etc/push": self.secrets}
        pattern = "|".join(map(re.escape, places))
        text = re.sub(pattern, lambda match: str(places[match[0]]), (OPERATIONS / name).read_text())
        target.write_text(text)
        target.chmod(0o755)

    def cron(self) -> str:
        """Runs the line of the crontab and returns what cron would mail."""
        line = next(line for line in (self.root / "crontab").read_text().splitlines() if line.startswith("0 4 "))
        command = line.split("push  ", 1)[1]
        return self.tool.shell(f"({command}) 2>&1")

    def run(self, command: str, *arguments: str, **options: object) -> str:
        """Runs a command with the secret of the keysets."""
        return self.tool.run(command, *arguments, "--wrap-command", str(self.kms), **options)

    def change(self, command: str, *arguments: str, **options: object) -> str:
        """Runs a command that changes a keyset, and publishes the change."""
        return self.run(command, *arguments, "--exec-on-change", str(self.publish), **options)

    def date_files(self) -> None:
        """The file system gives a changed file the real time; `doctor` compares it with the time of the change."""
        for path in [self.keys, *self.keys.rglob("*"), *(self.home / "Publisher").rglob("*")]:
            if path.stat().st_mtime < self.tool.clock.start.timestamp():
                os.utime(path, (self.tool.clock.now.timestamp(),) * 2)

    def status(self) -> tuple[int, str]:
        """The exit status of a monitor's plugin and its lines."""
        self.date_files()
        lines = self.tool.shell("pushcrypt status Keys Publisher; echo $?").splitlines()
        return int(lines[-1]), "\n".join(lines[:-1])

    def key(self, keyset: str, state: str) -> str:
        listed = json.loads(self.tool.run(f"keys list Keys/{keyset} --json"))
        return next(key["kid"] for key in listed if key["state"] == state)

    def contents(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.keys)): path.read_bytes()
                for path in sorted(self.keys.rglob("*")) if path.is_file()}

    def copy_keys(self, other: Host) -> None:
        """Replaces the other host's keystore in one step, as rsync --delay-updates does for each file."""
        if other.contents() == self.contents():
            return
        new, old = other.home / "Keys.incoming", other.home / "Keys.outgoing"
        shutil.copytree(self.keys, new)
        os.rename(other.keys, old)
        os.rename(new, other.keys)
        shutil.rmtree(old)
