"""Changes sender.py in one place after the other, and shows which case of the kit finds the change first: python3 mutants.py

A change that no case finds makes the run fail, and so does a change whose text isn't in sender.py exactly once. With arguments, only the
mutants whose names contain one of them run.
"""
from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, Sequence

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "runner" / "src"))

from pushcrypt_conformance.cases import Case, run  # noqa: E402
from pushcrypt_conformance.material import Vectors, found  # noqa: E402
from pushcrypt_conformance.program import Program  # noqa: E402
from pushcrypt_conformance.suite import cases_of  # noqa: E402


class Mutant(NamedTuple):
    name: str
    text: str
    changed: str


MUTANTS = (
    # Wrong constants: nothing opens.
    Mutant("another label of info", 'b"pushcrypt/1\\x00" + bytes', 'b"pushcrypt/2\\x00" + bytes'),
    Mutant("info without the suite", "bytes([1, (1 if psk else 0) | 2])", "bytes([(1 if psk else 0) | 2])"),
    Mutant("the psk bit is never set", "bytes([1, (1 if psk else 0) | 2])", "bytes([1, 2])"),
    Mutant("the signed bit is never set", "bytes([1, (1 if psk else 0) | 2])", "bytes([1, 1 if psk else 0])"),
    Mutant("kid and skid are swapped in info", "lp16(kid) + lp16(skid)", "lp16(skid) + lp16(kid)"),
    Mutant("lengths are little-endian", 'to_bytes(2, "big") + text.encode()', 'to_bytes(2, "little") + text.encode()'),
    Mutant("the signature lacks the recipient", "info + name + message)", "info + message)"),
    Mutant("R is of the coordinates alone", "hashlib.sha256(point).digest()", "hashlib.sha256(point[1:]).digest()"),
    Mutant("psk_id is the 8 bytes of the kid", "psk, kid.encode(), info", "psk, base64.urlsafe_b64decode(kid + '='), info"),
    Mutant("the psk is used in mode base", 'mode = b"\\x01" if psk else b"\\x00"', 'mode = b"\\x00"'),
    Mutant("enc isn't in the KEM's context", "enc + point, 32)", "point, 32)"),
    # The message and its padding.
    Mutant("the capacity forgets the signature", "// 4 - 65 - 16 - 64", "// 4 - 65 - 16"),
    Mutant("the capacity is rounded up", "capacity = 3 * (limit - len((head + tail).encode())) // 4",
           "capacity = -(-3 * (limit - len((head + tail).encode())) // 4)"),
    Mutant("the frame counts characters", "len((head + tail).encode())", "len(head + tail)"),
    Mutant("the message counts characters", "check(len(message) <= capacity", "check(len(message.decode()) <= capacity"),
    Mutant("a full multiple gets another one", "-(-len(message) // pad) * pad", "(len(message) // pad + 1) * pad"),
    Mutant("the padding is line breaks", 'message.ljust(size, b" ")', 'message.ljust(size, b"\\n")'),
    Mutant("the last multiple isn't cut at the limit", "min(-(-len(message) // pad) * pad, capacity)",
           "max(len(message), min(-(-len(message) // pad) * pad, capacity // pad * pad))"),
    Mutant("the message is signed before it is padded", "name + message)", 'name + message.rstrip(b" "))'),
    Mutant("the message stands before its signature", "info, signature + message)", "info, message + signature)"),
    Mutant("the aad isn't empty", "encrypt(nonce, plaintext, b\"\")", "encrypt(nonce, plaintext, info)"),
    Mutant("a limit is ignored", 'request.get("limit", 4_096), request', "4_096, request"),
    Mutant("the header stands behind the white space", '[:-1].rstrip(" \\t\\r\\n"))\n    message', "[:-1])\n    message"),
    Mutant("exp is the lifetime", '"exp":{at + lifetime}}}', '"exp":{lifetime}}}'),
    Mutant("a lifetime of 30 days and a second", 'is_number(lifetime, 1, longest, (int,))', "is_number(lifetime, 1, longest + 1, (int,))"),
    # Day keys.
    Mutant("the MAC of a device set isn't compared", 'hmac.compare_digest(mac, hmac.digest(k_set, content.encode(), "sha256"))', "True"),
    Mutant("K_set is of every record with the psk", 'device set\\x00" + lp16(kid)', 'device set\\x00"'),
    Mutant("a device set may belong to another record", 'member.get("registration") == kid and 1', "1"),
    Mutant("17 day keys", "len(jwks) <= 16", "len(jwks) <= 17"),
    Mutant("the record's key may be a day key", "kid not in keys and ", ""),
    Mutant("an entry may have more members", 'set(entry) == {"activatesAt"', 'set(entry) >= {"activatesAt"'),
    Mutant("a key for 8 days", "end - start <= 604_800", "end - start <= 691_200"),
    Mutant("a key from another time than midnight", "start % 86_400 == 0 and end % 86_400 == 0 and ", ""),
    Mutant("a key expires at any time", " and expiry == end + flight + 600", ""),
    Mutant("two keys have one day", "one[1] <= other[0] for", "one[0] < other[0] for"),
    Mutant("a day begins a second late", "start <= at < end", "start < at < end"),
    Mutant("a day ends a second late", "start <= at < end", "start <= at <= end"),
    Mutant("a day key may have a psk", '{"psk", "deviceSet"} & set(key)', '{"deviceSet"} & set(key)'),
    Mutant("a day key isn't used", "recipient(day) if day else (kid, key, point)", "(kid, key, point)"),
    Mutant("a day key is used without the psk", "recipient(day) if day else (kid, key, point)",
           'recipient(day) if day else (kid, key, point)\n        psk = b"" if day else psk'),
    Mutant("a signature names the day key", "recipient(day) if day else (kid, key, point)",
           "recipient(day) if day else (kid, key, point)\n        name = hashlib.sha256(point).digest()"),
    Mutant("the policy is ignored", 'check(day or not request.get("requiresDayKey"), "noDayKey")', "pass"),
    Mutant("a push outlives the flight", 'day, longest = device_set(record["deviceSet"], kid, psk, at)',
           'day, _ = device_set(record["deviceSet"], kid, psk, at)'),
    Mutant("the last-resort key isn't told", '"deviceSet" in record and day is None}', "False}"),
    # Randomness.
    Mutant("one ephemeral key for all pushes", "ephemeral = ec.generate_private_key(ec.SECP256R1())",
           "ephemeral = ec.derive_private_key(7, ec.SECP256R1())"),
    Mutant("an id of one byte", "b64(os.urandom(16))", "b64(bytes(15) + os.urandom(1))"),
    # Missing checks.
    Mutant("a name may stand twice", 'check(len({name for name, _ in pairs}) == len(pairs), "twice")', "pass"),
    Mutant("65 levels", "levels(value) <= 64", "levels(value) <= 65"),
    Mutant("lone surrogates are kept", '.encode("utf-8")  #', '.encode("utf-8", "surrogatepass")  #'),
    Mutant("NaN is a number", "parse_constant=lambda name: check(False, name)", "parse_constant=lambda name: 0.0"),
    Mutant("base64url with trailing bits", "b64(data) == text and len(data) == size", "len(data) == size"),
    Mutant("the kid isn't computed", 'check(record.get("kid") == kid, "kid")\n    return kid', 'return str(record.get("kid"))'),
    Mutant("private records are sealed to", '{"d", "priv", "device"} & set(record)', '{"priv", "device"} & set(record)'),
    Mutant("a publisher's key signs", '{"role", "psk", "priv", "device"}', '{"psk", "priv", "device"}'),
    Mutant("a psk of any length", 'unb64(record["psk"], 32) if',
           'base64.urlsafe_b64decode(record["psk"] + "=" * (-len(record["psk"]) % 4)) if'),
    Mutant("the pushcrypt member isn't noticed", '"pushcrypt" not in root and ', ""),
    Mutant("Live Activities are sealed", ' and of_activity == [None] * 3 and aps.get("event") not in ("start", "update", "end")', ""),
    Mutant("a variation selector is visible", "\\ufe00-\\ufe0f", ""),
    Mutant("the range of tags ends early", "\\U000e0000-\\U000e0fff", "\\U000e0000-\\U000e0ffe"),
    Mutant("white space alone is invisible", "not INVISIBLE.fullmatch(text)", "text.strip() != ''"),
    Mutant("a subtitle's key is a text", '"loc-key", "title-loc-key")', '"loc-key", "title-loc-key", "subtitle-loc-key")'),
    Mutant("a boolean is exposed as a badge", '"badge": is_number(value, 0, 2**53 - 1, (int,))',
           '"badge": isinstance(value, int) and 0 <= value'),
    Mutant("a quiet sound is audible", 'not in (None, "", {})', 'not in (None, "")'),
    Mutant("content-available true is exposed", 'if is_number(aps.get("content-available"), 1, 1, (int,))',
           'if aps.get("content-available") == 1'),
    Mutant("an exposed number is written again", "copies[name]", "json.dumps(aps[name], ensure_ascii=False)"),
    Mutant("an object of sound has any member", 'set(value) <= {"critical", "name", "volume"} and ', ""),
    Mutant("33 names are exposed", "len(names) <= 32", "len(names) <= 33"),
    Mutant("a topic may have an underscore", "[A-Za-z0-9.-]{1,155}", "[A-Za-z0-9._-]{1,155}"),
    Mutant("skid stands before sealed", '''"kid":"{kid}","sealed":"', f'","skid":"{skid}"}}}}\'''',
           '''"kid":"{kid}","skid":"{skid}","sealed":"', '"}}\''''),
)


def first_failure(source: str, cases: Sequence[Case]) -> str | None:
    """The name of the first case that fails."""
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "sender.py"
        path.write_text(source, encoding="utf-8")
        with Program([sys.executable, str(path)]) as program:
            last = run(cases, program, stop_at_first_failure=True)[-1]
    return last.case.name if last.outcome == "failed" else None


def main() -> int:
    folder = found(None, Path.cwd())
    if folder is None:
        print("the folder of the vectors isn't there", file=sys.stderr)
        return 2
    source, wanted = (HERE / "sender.py").read_text(encoding="utf-8"), sys.argv[1:]
    # The quick cases first: the others seal thousands of pushes.
    cases = sorted(cases_of(Vectors(folder), "sender"), key=lambda case: case.group in ("freshness", "limits", "padding"))
    survivors = []
    mutants = [mutant for mutant in MUTANTS if not wanted or any(text in mutant.name for text in wanted)]
    start = time.monotonic()
    if not wanted and (failed := first_failure(source, cases)) is not None:
        print(f"sender.py itself fails {failed}", file=sys.stderr)
        return 2
    for mutant in mutants:
        if source.count(mutant.text) != 1:
            print(f"{mutant.name}: its text is {source.count(mutant.text)} times in sender.py", file=sys.stderr)
            return 2
        failed = first_failure(source.replace(mutant.text, mutant.changed), cases)
        survivors += [mutant.name] if failed is None else []
        print(f"{mutant.name} -> {failed or 'SURVIVES'}", flush=True)
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mutants are found, in {time.monotonic() - start:.0f} seconds")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
