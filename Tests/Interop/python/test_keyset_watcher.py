"""Tests of a keyset that changes while a program runs: python -m unittest test_keyset_watcher

Nothing sleeps: where a thread or a process has to do something, the test waits for that.
"""
from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from pathlib import Path
from typing import Any, Optional, Sequence
from unittest import mock

import support
from pushcrypt import (
    KeysetFileError, KeysetWatcher, Opener, Placeholder, PushCryptError, Recipient, RecipientKey, Registration, SealError, Sealer, _keys,
    _wrap_command, challenge, possession,
)
from pushcrypt.keyset_log import KeysetFile, Point
from test_keyset_log import LATER, NOW, TIME, created, plain

TOOL = Path(os.environ.get("PUSHCRYPT_TEST_TOOL", Path(__file__).resolve().parents[3] / ".build" / "debug" / "pushcrypt"))
TOPIC, WAIT = "com.example.app", 60  # seconds
AFTER = NOW + 32 * 86_400  # after LATER
PASSPHRASE, FIRST, SECOND = "correct horse é", _keys.generate("ed25519"), _keys.generate("ed25519")
PHONE = RecipientKey.generate(2)
ROTATED = {"at": TIME, "who": "a", "what": "rotated", "keys": {
    FIRST.kid: {"retiresAt": LATER}, SECOND.kid: {"jwk": SECOND.record(private=False), "activatesAt": LATER}}}
OLD, NEW = plain(created("sender", FIRST), keys=(FIRST,)), plain(created("sender", FIRST), ROTATED, keys=(FIRST, SECOND))
#: A program that unwraps what `encrypted` has wrapped.
FLIP = "import sys; sys.stdout.buffer.write(bytes(byte ^ 1 for byte in sys.stdin.buffer.read()))"
COMMAND = (sys.executable, "-c", FLIP)


def changed(kid: str, what: str = "policy", **times: str) -> dict[str, Any]:
    """A line that changes the times of a key."""
    return {"at": TIME, "who": "a", "what": what, "keys": {kid: times}}


def encrypted(*lines: dict[str, Any], keys: Sequence[_keys.Key], **secrets: Any) -> bytes:
    """A file with these secrets, by default the passphrase and the command. In the place of `...` is what the command unwraps."""
    key, rows = os.urandom(32), support.chained(lines)
    draws = iter([key])  # the keyset key is the first
    given = {name: bytes(byte ^ 1 for byte in key) if secret is ... else secret
             for name, secret in (secrets or {"words": PASSPHRASE, "kms": ...}).items()}
    members = support.sealed_members(
        rows, [one.record() for one in keys], given, lambda count: next(draws, None) or os.urandom(count))
    return rows + support.compact(members) + b"\n"


class KeysetCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "backend.keyset"
        self.heads: list[Point] = []
        self.refusals: list[Exception] = []
        self.time = NOW

    def write(self, data: bytes, mode: int = 0o600) -> None:
        following = self.folder / "next"
        following.write_bytes(data)
        following.chmod(mode)
        following.replace(self.path)

    def watcher(self, *arguments: Any, interval: Optional[float] = None, **options: Any) -> KeysetWatcher:
        """Without a thread: a test looks by itself."""
        options = {"on_change": self.heads.append, "on_refusal": self.refusals.append, "clock": lambda: self.time, **options}
        watcher = KeysetWatcher(self.path, *arguments, interval=interval, **options)
        self.addCleanup(watcher.close)
        return watcher

    def skid(self, watcher: KeysetWatcher) -> str:
        """The key that signs a push, which a device that pins the keyset opens."""
        now = self.time
        push = Sealer(TOPIC, signer=watcher, clock=lambda: now).seal(
            {"aps": {"alert": "x"}}, to=Recipient.from_jwk(PHONE.registration_record()), placeholder=Placeholder("New"))
        opened = Opener(TOPIC, PHONE, senders=watcher.keyset, clock=lambda: now).open(push.json)
        assert opened.signed_by is not None
        return opened.signed_by

    def refused(self, code: str, call: Any, *arguments: Any, **options: Any) -> None:
        with self.assertRaises(PushCryptError) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.code, code)


class FileTests(KeysetCase):
    def test_a_file_that_other_users_can_open_is_refused(self) -> None:
        for mode in (0o644, 0o660, 0o604, 0o610, 0o640):
            self.write(OLD, mode)
            if os.geteuid() == 0 and mode == 0o640:
                KeysetFile.from_path(self.path)
            else:
                self.refused("looseMode", KeysetFile.from_path, self.path)
        self.write(OLD, 0o400)
        self.assertEqual(KeysetFile.from_path(self.path).keyset().kind, "sender")
        with self.assertRaises(FileNotFoundError):
            KeysetFile.from_path(self.folder / "none")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_a_file_of_another_user_is_refused(self) -> None:
        self.write(OLD)
        os.chown(self.path, 12_345, -1)
        self.refused("foreignOwner", KeysetFile.from_path, self.path)

    def test_a_file_that_does_not_go_on_from_a_point_that_was_seen_is_refused(self) -> None:
        self.write(NEW)
        seen = KeysetFile.from_path(self.path).log.head
        self.assertEqual(KeysetFile.from_path(self.path, seen=seen).log.head, seen)
        self.write(OLD)
        self.refused("olderThanHistory", KeysetFile.from_path, self.path, seen=seen)
        self.refused("olderThanHistory", KeysetWatcher, self.path, seen=seen, interval=None)
        KeysetFile.from_path(self.path, seen=KeysetFile.from_bytes(OLD).log.head)


class SecretTests(KeysetCase):
    def setUp(self) -> None:
        super().setUp()
        self.data = encrypted(created("sender", FIRST, secrets=["words", "kms"]), keys=(FIRST,))

    def failed(self, program: str, *arguments: str) -> str:
        """What is said of a command that fails."""
        with self.assertRaises(KeysetFileError) as caught:
            KeysetFile.from_bytes(self.data, command=(sys.executable, "-c", program, *arguments))
        self.assertEqual(caught.exception.code, "wrapCommandFailed")
        return caught.exception.reason

    def test_a_passphrase_or_a_command_opens_the_keys_and_keys_in_clear_are_refused_with_a_secret(self) -> None:
        for secret in ({"passphrase": PASSPHRASE}, {"command": COMMAND}, {"command": list(COMMAND)}):
            self.assertEqual(KeysetFile.from_bytes(self.data, **secret).material, (FIRST,))  # type: ignore[arg-type]
            self.refused("notEncrypted", KeysetFile.from_bytes, OLD, **secret)
        self.refused("wrongSecret", KeysetFile.from_bytes, self.data, "another")
        self.refused("secretNeeded", KeysetFile.from_bytes(self.data).keyset)

    def test_the_command_gets_unwrap_after_its_arguments_and_no_passphrase_from_the_environment(self) -> None:
        condition = "import os, sys; assert sys.argv[1:] == ['a b', 'unwrap'] and 'PUSHCRYPT_PASSPHRASE' not in os.environ; " + FLIP
        with mock.patch.dict(os.environ, {"PUSHCRYPT_PASSPHRASE": "secret"}):
            self.assertIsNotNone(KeysetFile.from_bytes(self.data, command=(sys.executable, "-c", condition, "a b")).material)

    def test_a_command_that_fails_is_named_and_shows_nothing_of_its_output(self) -> None:
        self.assertIn("the status 3", self.failed("raise SystemExit(3)"))
        self.assertIn("the status 1", self.failed(FLIP + "; raise SystemExit(1)"))
        self.assertIn("wrote 0 bytes", self.failed(""))
        self.assertIn("wrote 31 bytes", self.failed("print('x' * 31, end='')"))
        self.assertIn("more than 32", self.failed(FLIP + "; print('x')"))
        self.assertIn("more than 32", self.failed("print('x' * 4_000_000)"))
        self.assertNotIn("xxx", self.failed("print('x' * 4_000_000)"))
        self.assertIn("the status -9", self.failed("import os; os.kill(os.getpid(), 9)"))
        for command in ((str(self.folder / "none"),), (" ".join(COMMAND),)):  # no shell splits it
            self.refused("wrapCommandFailed", KeysetFile.from_bytes, self.data, command=command)
        self.refused("notAuthentic", KeysetFile.from_bytes, self.data, command=(sys.executable, "-c", "print('x' * 32, end='')"))

    def test_at_the_time_limit_the_command_and_all_that_it_started_are_ended(self) -> None:
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        for end in ("wait", "exit 0"):  # the program runs, or has left a process that has its output
            program = f"exec 3>{fifo}; printf x >&3; sleep 10000 & {end}"
            with mock.patch.object(_wrap_command, "TIME_LIMIT_IN_SECONDS", 1.0):
                self.refused("wrapCommandFailed", KeysetFile.from_bytes, self.data, command=("/bin/sh", "-c", program))
            self.assertEqual(os.read(reader, 2), b"x")
            self.assertEqual(select.select([reader], [], [], WAIT)[0], [reader])
            self.assertEqual(os.read(reader, 1), b"")  # no process has the other end any more

    def test_each_secret_of_the_kind_that_is_given_is_tried(self) -> None:
        def file(**secrets: Any) -> bytes:
            return encrypted(created("sender", FIRST, secrets=list(secrets)), keys=(FIRST,), **secrets)

        for data, secret in ((file(old=bytes(33), kms=...), {"command": COMMAND}), (file(kms=..., a="x", b="y"), {"passphrase": "y"})):
            self.assertIsNotNone(KeysetFile.from_bytes(data, **secret).material)  # type: ignore[arg-type]
        self.refused("wrapCommandFailed", KeysetFile.from_bytes, file(old=bytes(33), words="x"), command=COMMAND)
        self.refused("wrongSecret", KeysetFile.from_bytes, file(kms=..., words="x"), "y")
        self.refused("secretNeeded", KeysetFile.from_bytes, file(words="x"), command=COMMAND)
        self.refused("secretNeeded", KeysetFile.from_bytes, file(kms=...), "x")

    def test_secrets_of_another_type_are_type_errors(self) -> None:
        for secret in ({"passphrase": b"x"}, {"passphrase": "x", "command": COMMAND}, {"command": "kms"}, {"command": ()}):
            with self.assertRaises(TypeError):
                KeysetFile.from_bytes(self.data, **secret)  # type: ignore[arg-type]


class WatcherTests(KeysetCase):
    def test_a_new_file_is_used_from_the_next_look_and_the_clock_chooses_its_key(self) -> None:
        self.write(OLD)
        watcher = self.watcher()
        before = watcher.head
        self.write(NEW)
        self.assertEqual((self.skid(watcher), watcher.head), (FIRST.kid, before))
        watcher._look()
        self.assertEqual((self.heads, watcher.head.n, watcher.refusal), ([watcher.head], 2, None))
        self.assertEqual(self.skid(watcher), FIRST.kid)
        self.time = AFTER
        self.assertEqual(self.skid(watcher), SECOND.kid)

    def test_the_file_is_read_only_if_its_attributes_have_changed_or_on_request(self) -> None:
        self.write(OLD)
        watcher = self.watcher()
        with mock.patch.object(KeysetFile, "from_path", wraps=KeysetFile.from_path) as read:
            watcher._look()
            self.assertEqual(read.call_count, 0)
            self.assertTrue(watcher.reload())
            self.assertEqual(read.call_count, 1)
            self.write(OLD)
            watcher._look()
            watcher._look()
            self.assertEqual(read.call_count, 2)
        self.assertEqual(self.heads, [])  # the content is the same

    def test_a_refused_file_is_told_once_and_the_previous_keys_stay_in_use(self) -> None:
        self.write(NEW)
        watcher, self.time = self.watcher(), AFTER
        other = plain(created("sender", SECOND), keys=(SECOND,))
        refused = ((OLD, "olderThanHistory"), (other, "olderThanHistory"), (NEW[:-1], "incomplete"), (b"{}\n", "malformed"),
                   (plain(created("sender", FIRST), ROTATED, keys=(FIRST,)), "otherKeys"))
        for count, (data, code) in enumerate(refused, 1):
            self.write(data)
            for _ in range(3):
                watcher._look()
            self.assertFalse(watcher.reload())
            self.assertEqual(([getattr(watcher.refusal, "code", None)], len(self.refusals)), ([code], count))
            self.assertEqual(self.skid(watcher), SECOND.kid)
        self.write(NEW, 0o644)
        self.assertFalse(watcher.reload())
        self.path.unlink()
        watcher._look()
        self.assertIsInstance(watcher.refusal, FileNotFoundError)
        self.assertEqual((self.skid(watcher), self.heads), (SECOND.kid, []))
        self.write(NEW)
        watcher._look()
        self.assertEqual((watcher.refusal, len(self.refusals)), (None, len(refused) + 2))

    def test_a_file_without_a_key_is_refused_until_its_time_comes(self) -> None:
        self.write(OLD)
        watcher = self.watcher()
        self.write(plain(created("sender", FIRST), changed(FIRST.kid, retiresAt=TIME), keys=(FIRST,)))
        watcher._look()
        self.assertEqual([getattr(error, "code", None) for error in self.refusals], ["noKeySeals"])
        self.assertEqual(self.skid(watcher), FIRST.kid)
        later = {**ROTATED, "keys": {**ROTATED["keys"], FIRST.kid: {"retiresAt": TIME}}}  # type: ignore[dict-item]
        self.write(plain(created("sender", FIRST), later, keys=(FIRST, SECOND)))
        watcher._look()
        self.assertEqual(self.skid(watcher), FIRST.kid)
        self.time = AFTER
        watcher._look()
        self.assertEqual((self.skid(watcher), watcher.refusal), (SECOND.kid, None))

    def test_a_revocation_is_used_at_once_although_no_other_key_signs(self) -> None:
        self.write(OLD)
        watcher = self.watcher()
        sealer = Sealer(TOPIC, signer=watcher, clock=lambda: self.time)
        self.write(plain(created("sender", FIRST), changed(FIRST.kid, "revoked", revokedAt=LATER), keys=(FIRST,)))
        watcher._look()
        self.assertIsNone(watcher.refusal)
        with self.assertRaises(SealError) as caught:
            sealer.seal({"aps": {"alert": "x"}}, to=Recipient.from_jwk(PHONE.registration_record()), placeholder=Placeholder("New"))
        self.assertEqual(caught.exception.code, "noKeySeals")
        self.refused("noKeySeals", self.watcher)

    def test_a_restored_keyset_that_never_had_the_key_in_use_is_used_at_once(self) -> None:
        first = created("sender", FIRST)
        rotated = {**ROTATED, "keys": {FIRST.kid: {"retiresAt": TIME}, SECOND.kid: {**ROTATED["keys"][SECOND.kid],  # type: ignore[index]
                                                                                    "activatesAt": TIME}}}
        restored = {"at": TIME, "who": "a", "what": "restored", "n": 3, "over": [support.head(support.chained((first, rotated)))]}
        for revoked in ({"revoked": {SECOND.kid: TIME}}, {}):
            for keys in ({}, {FIRST.kid: {"retiresAt": TIME}}):
                with self.subTest(revoked=revoked, keys=keys):
                    self.write(plain(first, rotated, keys=(FIRST, SECOND)))
                    watcher = self.watcher()
                    self.assertEqual(self.skid(watcher), SECOND.kid)
                    self.write(plain(first, {**restored, **revoked, **({"keys": keys} if keys else {})}, keys=(FIRST,)))
                    watcher._look()
                    self.assertEqual((watcher.refusal, watcher.head.n), (None, 3))
                    if keys:
                        self.refused("noKeySeals", watcher.sender_key)
                    else:
                        self.assertEqual(self.skid(watcher), FIRST.kid)

    def test_a_new_file_without_a_key_is_used_if_no_key_in_use_signs_any_more(self) -> None:
        ending = changed(FIRST.kid, retiresAt=LATER)
        self.write(plain(created("sender", FIRST), ending, keys=(FIRST,)))
        watcher, self.time = self.watcher(), AFTER
        self.refused("noKeySeals", watcher.sender_key)
        self.write(plain(created("sender", FIRST), ending, changed(FIRST.kid, expiresAt=LATER), keys=(FIRST,)))
        watcher._look()
        self.assertEqual((watcher.refusal, watcher.head.n), (None, 3))
        self.refused("noKeySeals", self.watcher)  # a backend that can't sign doesn't start

    def test_a_sealer_refuses_a_keyset_that_does_not_sign(self) -> None:
        shared = _keys.generate("oct")
        self.write(plain(created("shared", keys={shared.kid: {"activatesAt": TIME}}), keys=(shared,)))
        watcher = self.watcher()
        self.refused("wrongKind", Sealer, TOPIC, signer=watcher)
        self.assertEqual(Recipient.from_keyset(watcher.keyset, at=NOW).suite, 4)

    def test_encrypted_keys_are_read_again_with_the_same_secret(self) -> None:
        for secret in ({"passphrase": PASSPHRASE}, {"command": COMMAND}):
            self.time = NOW
            first = created("sender", FIRST, secrets=["words", "kms"])
            self.write(encrypted(first, keys=(FIRST,)))
            watcher = self.watcher(**secret)  # type: ignore[arg-type]
            self.write(encrypted(first, ROTATED, keys=(FIRST, SECOND)))
            watcher._look()
            self.time = AFTER
            self.assertEqual((self.skid(watcher), watcher.refusal), (SECOND.kid, None))
            self.write(NEW)
            watcher._look()
            self.assertEqual(getattr(watcher.refusal, "code", None), "notEncrypted")

    def test_a_command_that_failed_runs_again_for_the_same_file(self) -> None:
        works = self.folder / "works"
        works.touch()
        command = (sys.executable, "-c", f"import os\nif not os.path.exists({str(works)!r}): os._exit(1)\n" + FLIP)
        first = created("sender", FIRST, secrets=["words", "kms"])
        self.write(encrypted(first, keys=(FIRST,)))
        watcher = self.watcher(command=command)
        works.unlink()
        self.write(encrypted(first, ROTATED, keys=(FIRST, SECOND)))
        with mock.patch.object(_wrap_command.subprocess, "Popen", wraps=subprocess.Popen) as runs:
            for _ in range(2):
                watcher._look()
            self.assertEqual((runs.call_count, len(self.refusals)), (2, 1))
        works.touch()
        watcher._look()
        self.assertEqual((watcher.head.n, watcher.refusal), (2, None))

    def test_a_challenge_is_signed_with_the_key_in_use(self) -> None:
        self.write(OLD)
        watcher = self.watcher()
        record = json.dumps(PHONE.registration_record())
        made = challenge(Registration.from_json(record, requiring=()), host="a.example", topic=TOPIC, signer=watcher, clock=lambda: NOW)
        opener = Opener(TOPIC, PHONE, senders=watcher.keyset, clock=lambda: NOW)
        answer = possession.answer(made.json, record=record.encode(), host="a.example", opener=opener)
        self.assertEqual(made.pending.confirm(answer, clock=lambda: NOW).kid, PHONE.kid)

    def test_without_a_function_the_logger_hears_a_refusal(self) -> None:
        self.write(NEW)
        watcher = self.watcher(on_refusal=None)
        self.write(OLD)
        with self.assertLogs("pushcrypt", "ERROR") as logged:
            watcher._look()
        self.assertIn("olderThanHistory", logged.output[0])

    def test_many_threads_seal_while_the_file_is_read_again(self) -> None:
        self.write(OLD)
        watcher, found, ended = self.watcher(), set(), threading.Event()

        def seal() -> None:
            while not ended.is_set():
                found.add(self.skid(watcher))

        threads = [threading.Thread(target=seal) for _ in range(4)]
        for thread in threads:
            thread.start()
        self.write(NEW)
        self.assertTrue(all([watcher.reload() for _ in range(20)]))
        self.time = AFTER
        while SECOND.kid not in found and any(thread.is_alive() for thread in threads):
            watcher.reload()
        ended.set()
        for thread in threads:
            thread.join(WAIT)
        self.assertEqual((found, len(self.heads)), ({FIRST.kid, SECOND.kid}, 1))


class ThreadTests(KeysetCase):
    def setUp(self) -> None:
        super().setUp()
        self.heard = threading.Event()
        self.write(OLD)

    def test_the_thread_finds_a_new_file_goes_on_after_an_error_of_a_callback_and_ends_with_close(self) -> None:
        def on_change(head: Point) -> None:
            self.heard.set()
            raise OSError("disk full")

        with self.assertLogs("pushcrypt", "ERROR"), self.watcher(interval=0.01, on_change=on_change) as watcher:
            thread = next(one for one in threading.enumerate() if one.name == "pushcrypt-keyset")
            self.write(NEW)
            self.assertTrue(self.heard.wait(WAIT))
            self.heard.clear()
            self.write(plain(created("sender", FIRST), ROTATED, changed(FIRST.kid, expiresAt=LATER), keys=(FIRST, SECOND)))
            self.assertTrue(self.heard.wait(WAIT))
            self.assertEqual(watcher.head.n, 3)
        thread.join(WAIT)
        self.assertFalse(thread.is_alive())

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_a_forked_process_has_its_own_watch_unless_it_was_closed(self) -> None:
        open_, closed = self.watcher(interval=0.01, on_change=lambda _: self.heard.set()), self.watcher(interval=0.01)
        closed.close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            threads = [one.name for one in threading.enumerate()].count("pushcrypt-keyset")
            os._exit(0 if self.heard.wait(WAIT) and open_.head.n == 2 and threads == 1 else 1)
        self.write(NEW)
        _, status = os.waitpid(child, 0)
        self.assertEqual(status, 0)


@unittest.skipUnless(TOOL.exists(), "pushcrypt isn't built")
class ToolTests(KeysetCase):
    def tool(self, *arguments: str) -> str:
        environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"]}
        done = subprocess.run([TOOL, *arguments], cwd=self.folder, env=environment, check=True, capture_output=True, text=True, timeout=WAIT)
        return done.stdout.strip()

    def test_the_next_push_after_a_rotation_of_the_tool_has_the_new_key(self) -> None:
        command = self.folder / "kms"
        command.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{FLIP}'\n")
        command.chmod(0o700)
        passphrase = self.folder / "passphrase"
        passphrase.write_text(PASSPHRASE + "\n")
        passphrase.chmod(0o600)
        secrets: list[tuple[list[str], dict[str, Any]]] = [
            (["--insecure-plaintext"], {}), (["--wrap-command", str(command)], {"command": [str(command)]}),
            (["--passphrase-file", str(passphrase)], {"passphrase": PASSPHRASE})]
        for number, (options, secret) in enumerate(secrets):
            with self.subTest(options):
                name, self.time = f"Keys/backend{number}", NOW
                first = self.tool("keys", "create", name, "--kind", "sender", *options, "--at", TIME)
                self.path = self.folder / f"{name}.keyset"
                watcher = self.watcher(**secret)
                self.assertEqual(self.skid(watcher), first)
                needed = [] if "--insecure-plaintext" in options else options
                second = self.tool("rotate", "--now", "--at-once", name, *needed, "--at", LATER)
                watcher._look()
                self.time = AFTER
                self.assertEqual((self.skid(watcher), watcher.refusal), (second, None))


if __name__ == "__main__":
    unittest.main()
