"""Runs the code of the package's README: python -m unittest test_readme"""
from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from pushcrypt import RecipientKey, _keys
from test_keyset_log import created, plain
from test_keyset_watcher import COMMAND, encrypted

README = Path(__file__).resolve().parents[3] / "Senders" / "python" / "README.md"
#: What the program has beside the README's code: an upload of an app, and where it sends, stores and reports.
BEFORE = """
sent, stored, reports, files = [], [], [], {}
last_head, device_token, token, store_head, report, put = None, "ab12", "t", stored.append, reports.append, files.__setitem__
class client:
    post = lambda path, content, headers: sent.append((path, content, headers))
"""
#: What the program must have done. It seals once more, through the README's last block.
AFTER = """
from pushcrypt import Opener, RecipientKey
(path, content, headers), = sent
assert path == "/3/device/ab12" and headers["authorization"] == "bearer t" and headers["apns-topic"] == "com.example.app"
opener = Opener("com.example.app", RecipientKey.from_jwk(phone), senders=KeysetWatcher("Keys/backend.keyset").keyset)
assert opener.open(content).payload == payload
assert signer.reload() and signer.sender_key().kid and not reports and not files and push.offloaded is None
"""
LONG = "payload = {**payload, 'x': 'y' * 5000}\n"
TOO_LONG = "payload = {'aps': {'alert': 'y' * 5000}}\n"


class ReadmeTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "Keys").mkdir()
        key = _keys.generate("ed25519")
        self.write("Keys/backend.keyset", plain(created("sender", key), keys=(key,)))
        self.write("Keys/secret.keyset", encrypted(created("sender", key, secrets=["words", "kms"]), keys=(key,)))
        self.write("kms-client", f'#!/bin/sh\ntest "$*" = "push unwrap" && exec {COMMAND[0]} -c "{COMMAND[2]}"\n'.encode())
        phone = RecipientKey.generate()
        self.names = f"phone = {phone.private_jwk()!r}\nupload = {json.dumps(phone.registration_record())!r}\n" + BEFORE
        self.blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)

    def write(self, name: str, data: bytes) -> None:
        path = self.folder / name
        path.write_bytes(data)
        path.chmod(stat.S_IRUSR | stat.S_IWUSR | (0 if name.startswith("Keys") else stat.S_IXUSR))

    def run_program(self, *parts: str) -> None:
        environment = {**os.environ, "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run([sys.executable, "-"], input="\n".join((self.names, *parts)), cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stderr, done.returncode), ("", 0))

    def test_its_code_runs_as_one_program_which_seals_signs_and_reports_nothing(self) -> None:
        self.assertEqual(len(self.blocks), 3)
        self.run_program(*self.blocks, AFTER)

    def test_its_code_offloads_a_payload_that_does_not_fit_and_reports_a_text_that_is_too_long(self) -> None:
        first, _, errors = self.blocks
        self.run_program(first, LONG, errors, "assert list(files.values()) == [push.offloaded.data] and not reports")
        self.run_program(first, TOO_LONG, errors, "assert len(reports) == 1 and 'bytes too many' in reports[0]")


if __name__ == "__main__":
    unittest.main()
