import { ascii, hmac, isSame, sha256 } from "./sender/bytes.js";
import { reading, refuse, rethrow } from "./sender/errors.js";
import { anything, bytes, closed, distinct, integer, list, where } from "./sender/forms.js";
import { MAX_BYTES, readObject, type JsonObject } from "./sender/json.js";
import { type Key } from "./sender/key.js";
import { Keyset } from "./keyset.js";
import { KeysetLog, readExactly, readRow, type LoggedKey, type Point } from "./keyset-log.js";
import { keysetKeyOf, lockForm, openEnc, type KeysetSecret } from "./keyset-secret.js";

const locksForm = distinct(lockForm, 1, 8, ({ name }) => name);
const sealedKeys = where("28 bytes or more", bytes(), ({ length }) => length >= 28);
/** {"v": 1, "keys": [JWK, ...], "digest": B64(32)} */
const PLAIN = closed({ v: anything, keys: list(anything), digest: bytes(32) });
/** {"v": 1, "sealed": {"locks": [ENTRY, ... 1 to 8], "dataKey": B64(60), "keys": B64(sealed keys)}, "mac": B64(32)} */
const SEALED = closed({ locks: locksForm, dataKey: bytes(60), keys: sealedKeys });
const ENCRYPTED = closed({ v: anything, sealed: SEALED, mac: bytes(32) });
const MATERIAL = closed({ keys: list(anything), history: bytes(32) });

/** How to read a file. */
export interface ReadOptions {
  /** Decrypts the keys. With a secret, keys in clear are refused. */
  readonly secret?: KeysetSecret;
  /** A point of the log that was seen before: an older file is refused. */
  readonly seen?: Point;
}

/** A keyset's file: *(LINE LF) LAST LF                                              (docs/keyset-log.md, "Rows" and "Material") */
export class KeysetFile {
  readonly #material: readonly Key[] | undefined;
  #keyset: Keyset | undefined;

  /** @internal */
  private constructor(
    readonly log: KeysetLog,
    material: readonly Key[] | undefined,
  ) {
    this.#material = material;
  }

  /**
   * Reads a file, and decrypts its keys if a secret is given. Without a secret, nothing proves that the log of encrypted keys is
   * genuine. Refuses with the codes of docs/keyset-log.md and `facts.row`, with `wrapCommandFailed`, and with `olderThanHistory` if
   * the log doesn't go on from the point `seen`.
   */
  static async read(data: Uint8Array, { secret, seen }: ReadOptions = {}): Promise<KeysetFile> {
    if (data.length > MAX_BYTES) refuse("tooLarge", "the file has more than 4 MiB", { row: 0 });
    const text = Buffer.from(data).toString("latin1"); // a character for each byte
    if (!text.endsWith("\n")) refuse("incomplete", "the file is empty, or its end is missing", { row: 0 });
    const rows = text.slice(0, -1).split("\n").map(ascii);
    const [row, lastRow] = [rows.length, rows.pop() as Buffer];
    const last = reading(`row ${row}`, () => readRow(lastRow), {}, row);
    if (!last.has("v") && last.has("prev")) refuse("incomplete", "the last row is missing", { row: 0 });
    const version = reading(`row ${row}`, () => integer(0)(last.get("v"), "v"), {}, row);
    if (version !== 1) refuse("unsupportedVersion", "the file has another version", { row });
    const log = new KeysetLog(rows);
    const history = ascii(text.slice(0, -1 - lastRow.length));
    const material = await keysOf(last, history, log, secret).catch((error) => rethrow(error, `row ${row}`, {}, row));
    if (seen !== undefined && !log.extends(seen)) {
      refuse("olderThanHistory", `the log doesn't go on from line ${seen.n}, which was seen`, { row: 0 });
    }
    return new KeysetFile(log, material);
  }

  /** The keys with their times, without destroyed and lost ones. Refuses with `secretNeeded`. */
  keyset(): Keyset {
    if (this.#keyset !== undefined) return this.#keyset;
    const { keys, head, lines, kind } = this.log;
    const material = this.#material ?? refuse("secretNeeded", "the keys are encrypted", { row: lines.length + 1 });
    const entries = material.map((key) => {
      const { times, psk } = keys.get(key.kid) as LoggedKey;
      const { revokedAt } = times; // a revocation counts at once
      const ends = revokedAt !== undefined && { revokedAt: Math.min(revokedAt, head.at) };
      return { key, times: { ...times, ...ends }, demandsPsk: psk };
    });
    return (this.#keyset = new Keyset(entries, head.n, head.at, kind));
  }
}

/** The private keys, or undefined if they are encrypted and no secret is given. */
async function keysOf(last: JsonObject, history: Buffer, log: KeysetLog, secret?: KeysetSecret) {
  if (last.has("sealed")) return secretKeysOf(last, history, log, secret);
  const { keys, digest } = PLAIN(last, "it");
  // digest = SHA-256(bytes of all rows before, with each LF ‖ bytes of the value of "keys")
  const isRight = isSame(digest, sha256(history, Buffer.from(last.raw("keys"), "utf8")));
  if (!isRight) refuse("wrongDigest", "the digest isn't that of the rows and the keys");
  if (secret !== undefined) refuse("notEncrypted", "the keys are in clear, although a secret was given");
  return keysInLog(keys, log);
}

/**
 * dataKey     = ENC(keyset key, "pushcrypt/1 data key", data key)
 * sealed keys = ENC(data key, "pushcrypt/1 keyset" ‖ 0x00 ‖ bytes of the value of "locks" ‖ 0x00 ‖ bytes of all rows before, with each
 *                   LF, {"keys": [JWK, ...], "history": B64(history key)})
 * mac         = HMAC-SHA-256(history key, bytes of all rows before, with each LF)
 */
async function secretKeysOf(last: JsonObject, history: Buffer, log: KeysetLog, secret?: KeysetSecret) {
  const { sealed, mac } = ENCRYPTED(last, "it");
  if (secret === undefined) return undefined;
  const dataKey = openEnc(await keysetKeyOf(sealed.locks, secret), sealed.dataKey, ascii("pushcrypt/1 data key"));
  const locks = Buffer.from((last.get("sealed") as JsonObject).raw("locks"), "utf8");
  const aad = Buffer.concat([ascii("pushcrypt/1 keyset\0"), locks, ascii("\0"), history]);
  const material = MATERIAL(readObject(openEnc(dataKey, sealed.keys, aad)), "the material");
  if (!isSame(hmac(material.history, history), mac)) refuse("notAuthentic", "the mac isn't that of the rows");
  const names = sealed.locks.map(({ name }) => name).sort();
  if (names.join() !== [...log.secrets].sort().join()) refuse("otherSecrets", "its secrets aren't those of the log");
  return keysInLog(material.keys, log);
}

/** The private key of every logged key that has material, and no other. */
function keysInLog(jwks: readonly unknown[], log: KeysetLog): readonly Key[] {
  const keys = jwks.map((jwk) => readExactly(jwk, true));
  const present = [...log.keys].filter(([, { times, lost }]) => times.destroyedAt === undefined && !lost);
  const names = keys.map(({ kid }) => kid).sort();
  const wanted = present.map(([kid]) => kid).sort();
  if (names.join() !== wanted.join()) refuse("otherKeys", "a key is missing or too many");
  for (const key of keys) {
    const { key: known, psk } = log.keys.get(key.kid) as LoggedKey;
    if (key.device !== undefined) refuse("malformed", `key ${key.kid} is that of a device`);
    const isKnown =
      known === undefined ? key.use === "shared" : known.use === key.use && known.publicKey.equals(key.publicKey);
    const isWhole = key.secret !== undefined && (key.psk !== undefined) === psk;
    if (!isKnown || !isWhole) refuse("otherKeys", `key ${key.kid} is another one than that of the log, or incomplete`);
  }
  return keys;
}
