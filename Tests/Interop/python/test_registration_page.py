"""The statements of docs/registration.md, from an upload to a refusal of APNs, in SQLite and PostgreSQL:
python -m unittest test_registration_page

It needs psycopg, and initdb of PostgreSQL, which it runs in a folder of its own, on a socket there.
"""
from __future__ import annotations

import glob
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
from typing import Any, Iterator

import psycopg
from pushcrypt import Opener, Pending, RecipientKey, Registration, RegistrationChange, SenderKey, StoredRegistration, challenge, pinned, possession

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "registration.md"
TOPIC, HOST, NOW = "com.example.app", "push.example.com", 1_800_000_000_000
BACKEND = SenderKey.generate()
SCHEMA, PEND, TAKE, SELECT, WRITE, REMOVE, SEND, CLEAN, GONE = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.S)
Row = dict[str, Any]


class Database:
    """Runs a statement with named parameters, in the transaction of a block."""

    def __init__(self, connection: Any, begin: str) -> None:
        self.connection, self.begin = connection, begin

    def __call__(self, sql: str, **values: Any) -> list[Row]:
        if isinstance(self.connection, psycopg.Connection):
            sql = re.sub(r":([a-z_]+)", r"%(\1)s", sql)
        cursor = self.connection.execute(sql, values)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row)) for row in cursor.fetchall()] if names else []


class Backend:
    """What the page describes, with the Python package."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def upload(self, record: str, account: str, token: str, environment: str, now: int) -> str:
        registration = Registration.from_json(record, requiring=("psk", "asymmetric"))
        made = challenge(registration, host=HOST, topic=TOPIC, signer=BACKEND, clock=lambda: now / 1_000)
        self.database(PEND, id=made.pending.id, account=account, device_token=token, environment=environment,
                      pending=made.pending.to_json(), now=now)
        return made.json

    def confirm(self, answer: str, account: str, now: int) -> None:
        rows = self.database(TAKE, id=json.loads(answer)["registration"], account=account, now=now)
        if not rows:
            raise LookupError
        taken = rows[0]
        registration = Pending.from_json(taken["pending"]).confirm(answer, clock=lambda: now / 1_000)
        upload = StoredRegistration(registration, account, taken["device_token"], taken["environment"])
        self.database(self.database.begin)
        stored = {row["kid"]: row for row in self.database(SELECT, kid=upload.kid, device_token=upload.device_token)}
        change = RegistrationChange.storing(upload, over=map(self.row, stored.values()), is_proven=True)
        for kid in change.removed:
            self.database(REMOVE, kid=kid, account=stored[kid]["account"])
        self.database(WRITE, kid=upload.kid, account=account, device_token=upload.device_token, environment=upload.environment,
                      record=registration.record.decode(), now=now)
        self.database("COMMIT")

    @staticmethod
    def row(row: Row) -> StoredRegistration:
        registration = Registration.from_json(row["record"], requiring=())
        return StoredRegistration(registration, row["account"], row["device_token"], row["environment"])


class Phone:
    def __init__(self) -> None:
        self.key = RecipientKey.generate()
        self.record = json.dumps(self.key.registration_record())

    def answer(self, text: str) -> str:
        opener = Opener(TOPIC, self.key, senders=pinned(BACKEND.public_jwk()))
        return possession.answer(text, record=self.record.encode(), host=HOST, opener=opener)


def databases() -> Iterator[tuple[str, Database]]:
    yield "sqlite", Database(sqlite3.connect(":memory:", isolation_level=None), "BEGIN IMMEDIATE")
    programs = [folder for pattern in ("/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql*/bin") for folder in glob.glob(pattern)]
    if not programs:
        raise (RuntimeError if os.environ.get("CI") else unittest.SkipTest)("PostgreSQL isn't installed: apt-get install postgresql")
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as folder:
        # The server refuses to run as root.
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if user:
            shutil.chown(folder, "postgres")

        def run(program: str, *arguments: str) -> None:
            subprocess.run([*user, f"{programs[-1]}/{program}", *arguments], check=True, stdout=subprocess.DEVNULL, cwd=folder)

        run("initdb", "--pgdata", f"{folder}/data", "--username", "backend", "--auth", "trust", "--no-sync")
        run("pg_ctl", "--pgdata", f"{folder}/data", "--log", f"{folder}/log", "--wait", "--options", f"-h '' -k {folder}", "start")
        try:
            with psycopg.connect(host=folder, user="backend", dbname="postgres", autocommit=True) as connection:
                yield "postgresql", Database(connection, "BEGIN ISOLATION LEVEL SERIALIZABLE")
        finally:
            run("pg_ctl", "--pgdata", f"{folder}/data", "--mode", "immediate", "stop")


class RegistrationPageTests(unittest.TestCase):
    def test_the_statements_do_what_the_page_says(self) -> None:
        for name, database in databases():
            with self.subTest(name):
                for statement in SCHEMA.split(";")[:-1]:
                    database(statement)
                self.life(database)

    def life(self, database: Database) -> None:
        backend, phone = Backend(database), Phone()
        text = backend.upload(phone.record, "zoe", "aa", "production", NOW)
        answer = phone.answer(text)
        with self.assertRaises(LookupError):
            backend.confirm(answer, "other", NOW)
        backend.confirm(answer, "zoe", NOW + 1_000)
        with self.assertRaises(LookupError):  # a challenge has one answer
            backend.confirm(answer, "zoe", NOW + 1_000)
        expected = {"kid": phone.key.kid, "device_token": "aa", "environment": "production", "record": phone.record}
        self.assertEqual(database(SEND, account="zoe"), [expected])
        # Late answers, and what is left of them.
        late = phone.answer(backend.upload(phone.record, "zoe", "aa", "production", NOW))
        with self.assertRaises(LookupError):
            backend.confirm(late, "zoe", NOW + 600_001)
        database(CLEAN, now=NOW + 600_001)
        self.assertEqual(database("SELECT * FROM pending_registration"), [])
        # The app is installed again: another key with the same token. Then its token changes.
        again = Phone()
        for token, environment in (("aa", "production"), ("bb", "sandbox")):
            made = backend.upload(again.record, "zoe", token, environment, NOW + 2_000)
            backend.confirm(again.answer(made), "zoe", NOW + 2_000)
            rows = database(SEND, account="zoe")
            self.assertEqual([(row["kid"], row["device_token"], row["environment"]) for row in rows], [(again.key.kid, token, environment)])
        # APNs refuses the token: of another environment, before the app has registered again, and after it.
        for environment, timestamp, count in (("production", NOW + 9_000, 1), ("sandbox", NOW + 2_000, 1), ("sandbox", NOW + 2_001, 0)):
            database(GONE, device_token="bb", environment=environment, timestamp=timestamp)
            self.assertEqual(len(database(SEND, account="zoe")), count)
        # Another account signs in on the phone, and out again.
        backend.confirm(phone.answer(backend.upload(phone.record, "max", "aa", "production", NOW)), "max", NOW)
        database(REMOVE, kid=phone.key.kid, account="zoe")
        self.assertEqual(len(database(SEND, account="max")), 1)
        database(REMOVE, kid=phone.key.kid, account="max")
        self.assertEqual(database(SEND, account="max"), [])


if __name__ == "__main__":
    unittest.main()
