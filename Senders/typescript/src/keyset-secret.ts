import { execFile } from "node:child_process";
import { scrypt } from "node:crypto";
import { promisify } from "node:util";
import { ascii, isSame, openGcm, unb64 } from "./sender/bytes.js";
import { PushCryptError, reading, refuse } from "./sender/errors.js";
import { natural, type Json } from "./sender/json.js";
import { membersOf, secretName } from "./keyset-line.js";

const MAX_WRAPPED = 4_096, KEY_SIZE = 32; // bytes
const MAX_MEMORY = 2 ** 30; // of scrypt, in bytes
const TIME_LIMIT = 120_000; // of a command, in milliseconds

/** What decrypts the keys: a passphrase, or a command with its arguments, which no shell runs. It gets one more argument, `unwrap`. */
export type KeysetSecret = { readonly passphrase: string | Uint8Array } | { readonly command: readonly string[] };

/** {"name": NAME, LOCK, "key": B64(wrapped)}                                                  (docs/keyset-log.md, "Material") */
export interface Lock {
  readonly name: string;
  /** Undefined for a command. */
  readonly passphrase: Record<"n" | "r" | "p", number> & Record<"salt" | "check", Buffer> | undefined;
  readonly wrapped: Buffer;
}

/** ENC(key, aad, text) = nonce(12) ‖ AES-256-GCM(key, nonce, aad, text) */
export function openEnc(key: Buffer, sealed: Buffer, aad: Buffer): Buffer {
  return openGcm(key, sealed.subarray(0, 12), aad, sealed.subarray(12)) ?? refuse("notAuthentic", "the keyset was changed");
}

export function readLock(value: Json): Lock {
  const entry = membersOf(value, "name key", "passphrase command");
  const [name, isCommand] = [secretName(entry.get("name")), entry.has("command")];
  const wrapped = unb64(entry.get("key"), isCommand ? undefined : 60, "key");
  const isRight = isCommand ? entry.get("command") === true && wrapped.length <= MAX_WRAPPED : entry.has("passphrase");
  if (!isRight || (isCommand && entry.has("passphrase"))) refuse("malformed", "a secret isn't a passphrase or a command alone");
  return { name, wrapped, passphrase: isCommand ? undefined : readScrypt(entry.get("passphrase")) };
}

/** Checks the parameters before any work. */
function readScrypt(value: Json | undefined): Lock["passphrase"] {
  const lock = membersOf(value, "n r p salt check");
  const [n, r, p] = [natural(lock.get("n"), "n", 2 ** 20), natural(lock.get("r"), "r", 32), natural(lock.get("p"), "p", 16)];
  if (n < 2 || (n & (n - 1)) !== 0 || r < 1 || p < 1 || 128 * n * r > MAX_MEMORY) refuse("malformed", "scrypt's n, r or p is out of range");
  return { n, r, p, salt: unb64(lock.get("salt"), 16, "salt"), check: unb64(lock.get("check"), 16, "check") };
}

/** The keyset key, of the first entry that the secret opens. */
export async function keysetKeyOf(locks: readonly Lock[], secret: KeysetSecret, row: number): Promise<Buffer> {
  let failure = new PushCryptError("secretNeeded", "the keyset has no secret of this kind", { row });
  for (const lock of locks) {
    if (("command" in secret) !== (lock.passphrase === undefined)) continue;
    try {
      return "command" in secret ? await unwrap(secret.command, lock.wrapped) : await unlock(lock, secret.passphrase, row);
    } catch (error) {
      if (!(error instanceof PushCryptError) || !["wrongSecret", "wrapCommandFailed"].includes(error.code)) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** KEK(32) ‖ check(16) = scrypt(passphrase, salt, N, r, p, 48); wrapped = ENC(KEK, "pushcrypt/1 keyset key", keyset key) */
async function unlock({ name, passphrase: lock, wrapped }: Lock, passphrase: string | Uint8Array, row: number): Promise<Buffer> {
  const { n: N, r, p, salt, check } = lock as NonNullable<Lock["passphrase"]>;
  const derive = promisify<string | Uint8Array, Buffer, number, object, Buffer>(scrypt);
  const derived = await derive(passphrase, salt, 48, { N, r, p, maxmem: 2 * MAX_MEMORY });
  if (!isSame(derived.subarray(32), check)) refuse("wrongSecret", `the passphrase isn't that of ${name}`, { row });
  return reading(`row ${row}`, () => openEnc(derived.subarray(0, 32), wrapped, ascii("pushcrypt/1 keyset key")), {}, { row });
}

/** COMMAND unwrap        stdin: the output of wrap        stdout: the keyset key, 32 bytes */
function unwrap([program = "", ...options]: readonly string[], wrapped: Buffer): Promise<Buffer> {
  const { PUSHCRYPT_PASSPHRASE: _, ...env } = process.env;
  const limits = { env, encoding: "buffer", timeout: TIME_LIMIT, killSignal: "SIGKILL" } as const;
  return new Promise((resolve, reject) => {
    const child = execFile(program, [...options, "unwrap"], limits, (error, key) => {
      const reason = error === null ? `wrote ${key.length} bytes and not ${KEY_SIZE}` : `failed: ${error.signal ?? error.code}`;
      if (error === null && key.length === KEY_SIZE) resolve(key);
      else reject(new PushCryptError("wrapCommandFailed", `the command that unwraps the keyset key ${reason}`));
    });
    child.stderr?.pipe(process.stderr);
    child.stdin?.on("error", () => undefined).end(wrapped); // it may end without reading
  });
}
