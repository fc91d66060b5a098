import { ascii, hmac, isSame, sha256, unb64 } from "./sender/bytes.js";
import { reading, refuse } from "./sender/errors.js";
import { natural, readObject, type Json, type JsonObject } from "./sender/json.js";
import { type Key } from "./sender/key.js";
import { Keyset, useOf } from "./keyset.js";
import { listOf, membersOf, readRow, type Point } from "./keyset-line.js";
import { KeysetLog, readExactly, type LoggedKey } from "./keyset-log.js";
import { keysetKeyOf, openEnc, readLock, type KeysetSecret } from "./keyset-secret.js";

const MAX_FILE = 4 * 2 ** 20; // bytes
const LF = 10;

/** A keyset's file: *(LINE LF) LAST LF                                              (docs/keyset-log.md, "Rows" and "Material") */
export class KeysetFile {
  readonly log: KeysetLog;
  readonly #material: readonly Key[] | undefined;

  private constructor(log: KeysetLog, material: readonly Key[] | undefined) {
    [this.log, this.#material] = [log, material];
  }

  /**
   * Reads a file, and decrypts its keys if a secret is given; then it refuses keys in clear. Without a secret, nothing proves that the
   * log of encrypted keys is genuine. Refuses with the codes of docs/keyset-log.md and `facts.row`, with `wrapCommandFailed`, and with
   * `olderThanHistory` if the log doesn't go on from the point `seen`.
   */
  static async read(data: Uint8Array, options: { readonly secret?: KeysetSecret; readonly seen?: Point } = {}): Promise<KeysetFile> {
    const { secret, seen } = options;
    if (data.length > MAX_FILE) refuse("tooLarge", `the file has more than ${MAX_FILE} bytes`, { row: 0 });
    if (data[data.length - 1] !== LF) refuse("incomplete", "the file is empty, or its end is missing", { row: 0 });
    const rows: Uint8Array[] = [];
    for (let start = 0, end; start < data.length; start = end + 1) rows.push(data.subarray(start, (end = data.indexOf(LF, start))));
    const [row, lastRow] = [rows.length, rows.pop() as Uint8Array];
    const inRow = <T>(read: () => T): T => reading(`row ${row}`, read, {}, { row });
    const last = inRow(() => readRow(lastRow));
    if (!last.has("v") && last.has("prev")) refuse("incomplete", "the last row is missing", { row: 0 });
    if (inRow(() => natural(last.get("v"), "v")) !== 1) refuse("unsupportedVersion", "the file has another version", { row });
    const log = new KeysetLog(rows);
    const history = Buffer.from(data.subarray(0, data.length - 1 - lastRow.length));
    const sealed = last.has("sealed") ? inRow(() => readSealed(last)) : undefined;
    const keysetKey = sealed && secret && await keysetKeyOf(sealed.locks, secret, row);
    const material = inRow(() => {
      const keys = sealed === undefined ? plainKeys(last, history, !!secret) : keysetKey && unlocked(sealed, keysetKey, history, log);
      return keys && materialOf(keys, log.keys);
    });
    if (seen !== undefined && !log.extends(seen)) refuse("olderThanHistory", `line ${seen.n} that was seen is missing`, { row: 0 });
    return new KeysetFile(log, material);
  }

  /** The keys with their times, without destroyed and lost ones. Refuses with `secretNeeded`. */
  keyset(): Keyset {
    const { keys, head, lines } = this.log;
    const material = this.#material ?? refuse("secretNeeded", "the keys are encrypted", { row: lines.length + 1 });
    return new Keyset(material.map((key) => {
      const { times, psk } = keys.get(key.kid) as LoggedKey;
      const { revokedAt } = times; // a revocation counts at once
      return { key, times: { ...times, ...(revokedAt !== undefined && { revokedAt: Math.min(revokedAt, head.at) }) }, demandsPsk: psk };
    }), head.n, head.at);
  }
}

/** {"v": 1, "keys": [JWK, ...], "digest": SHA-256(bytes of all rows before, with each LF ‖ bytes of the value of "keys")} */
function plainKeys(last: JsonObject, history: Buffer, isSecretGiven: boolean): Json[] {
  const keys = listOf(membersOf(last, "v keys digest").get("keys"), 0, Infinity, (jwk) => jwk);
  const digest = sha256(history, Buffer.from(last.raw("keys"), "utf8"));
  if (!isSame(unb64(last.get("digest"), 32, "digest"), digest)) refuse("wrongDigest", "the digest isn't that of the rows and the keys");
  return isSecretGiven ? refuse("notEncrypted", "the keys are in clear, although a secret was given") : keys;
}

type Sealed = ReturnType<typeof readSealed>;

/** {"v": 1, "sealed": {"locks": [ENTRY, ... 1 to 8], "dataKey": B64(60), "keys": B64(sealed keys)}, "mac": B64(32)} */
function readSealed(last: JsonObject) {
  const sealed = membersOf(membersOf(last, "v sealed mac").get("sealed"), "locks dataKey keys");
  const locks = listOf(sealed.get("locks"), 1, 8, readLock);
  if (new Set(locks.map(({ name }) => name)).size < locks.length) refuse("malformed", "two of the secrets have the same name");
  const keys = unb64(sealed.get("keys"), undefined, "keys");
  if (keys.length < 28) refuse("malformed", "keys of sealed is too short");
  const [dataKey, mac] = [unb64(sealed.get("dataKey"), 60, "dataKey"), unb64(last.get("mac"), 32, "mac")];
  return { locks, keys, dataKey, mac, raw: Buffer.from(sealed.raw("locks"), "utf8") };
}

/**
 * dataKey     = ENC(keyset key, "pushcrypt/1 data key", data key)
 * sealed keys = ENC(data key, "pushcrypt/1 keyset" ‖ 0x00 ‖ bytes of the value of "locks" ‖ 0x00 ‖ bytes of all rows before, with each LF,
 *                   {"keys": [JWK, ...], "history": B64(history key)})
 * mac         = HMAC-SHA-256(history key, bytes of all rows before, with each LF)
 */
function unlocked({ locks, keys, dataKey, mac, raw }: Sealed, keysetKey: Buffer, history: Buffer, log: KeysetLog): Json[] {
  const aad = Buffer.concat([ascii("pushcrypt/1 keyset\0"), raw, Buffer.of(0), history]);
  const root = membersOf(readObject(openEnc(openEnc(keysetKey, dataKey, ascii("pushcrypt/1 data key")), keys, aad)), "keys history");
  const jwks = listOf(root.get("keys"), 0, Infinity, (jwk) => jwk);
  if (!isSame(hmac(unb64(root.get("history"), 32, "history"), history), mac)) refuse("notAuthentic", "the mac isn't that of the rows");
  const names = locks.map(({ name }) => name);
  return names.sort().join() === [...log.secrets].sort().join() ? jwks : refuse("otherSecrets", "its secrets aren't those of the log");
}

/** The private key of every logged key that has material, and no other. */
function materialOf(jwks: readonly Json[], logged: ReadonlyMap<string, LoggedKey>): readonly Key[] {
  const keys = jwks.map((jwk) => readExactly(jwk, true));
  const wanted = [...logged].filter(([, { times, lost }]) => times.destroyedAt === undefined && !lost).map(([kid]) => kid);
  if (keys.map(({ kid }) => kid).sort().join() !== wanted.sort().join()) refuse("otherKeys", "a key is missing or too many");
  for (const key of keys) {
    const { key: known, psk } = logged.get(key.kid) as LoggedKey;
    if (key.device !== undefined) refuse("malformed", `key ${key.kid} is that of a device`);
    const isKnown = known === undefined ? key.kind.use === "shared" : useOf(known) === useOf(key) && known.publicKey.equals(key.publicKey);
    const isWhole = key.secret !== undefined && (key.psk !== undefined) === psk;
    if (!isKnown || !isWhole) refuse("otherKeys", `key ${key.kid} is another one than that of the log, or incomplete`);
  }
  return keys;
}
