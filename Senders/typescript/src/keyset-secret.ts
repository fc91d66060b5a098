import { spawn, type ChildProcess } from "node:child_process";
import { scrypt } from "node:crypto";
import { promisify } from "node:util";
import { ascii, isSame, openGcm } from "./sender/bytes.js";
import { PushCryptError, refuse } from "./sender/errors.js";
import { bytes, closed, integer, oneOf, text, where } from "./sender/forms.js";

const MAX_MEMORY = 2 ** 30; // of scrypt, in bytes
const TIME_LIMIT = 120_000; // of a command, in milliseconds

/**
 * What decrypts the keys: a passphrase, or a command with its arguments, which no shell runs. It gets one more argument, `unwrap`, and
 * has no terminal: it can't ask a person. It and its child processes are killed after two minutes.
 */
export type KeysetSecret = { readonly passphrase: string | Uint8Array } | { readonly command: readonly string[] };

/** N is a power of 2, and less than 2^(128 r / 8)                                                             (RFC 7914 section 2) */
const isScrypt = ({ n, r }: { n: number; r: number }): boolean =>
  (n & (n - 1)) === 0 && n < 2 ** (16 * r) && 128 * n * r <= MAX_MEMORY;
const SCRYPT = { n: integer(2, 2 ** 20), r: integer(1, 32), p: integer(1, 16), salt: bytes(16), check: bytes(16) };

/** {"name": NAME, LOCK, "key": B64(wrapped)}                                          (docs/keyset-log.md, "Material") */
const ENTRY = closed(
  { name: text(/^[A-Za-z0-9._-]{1,64}$/), key: bytes() },
  { passphrase: where("scrypt within its limits", closed(SCRYPT), isScrypt), command: oneOf(true) },
);
export const lockForm = where("a passphrase or a command, with its key", ENTRY, ({ passphrase, command, key }) => {
  const isOne = (passphrase === undefined) !== (command === undefined);
  return isOne && (command ? key.length <= 4_096 : key.length === 60);
});
type Lock = ReturnType<typeof lockForm>;

/** ENC(key, aad, text) = nonce(12) ‖ AES-256-GCM(key, nonce, aad, text) */
export function openEnc(key: Buffer, sealed: Buffer, aad: Buffer): Buffer {
  return (
    openGcm(key, sealed.subarray(0, 12), aad, sealed.subarray(12)) ?? refuse("notAuthentic", "the keyset was changed")
  );
}

/** The keyset key, of the first entry that the secret opens. Refuses with `secretNeeded`, `wrongSecret`, `wrapCommandFailed`. */
export async function keysetKeyOf(locks: readonly Lock[], secret: KeysetSecret): Promise<Buffer> {
  const { command, passphrase } = secret as { readonly command?: readonly string[]; readonly passphrase?: unknown };
  if (command === undefined && typeof passphrase !== "string" && !(passphrase instanceof Uint8Array))
    refuse("wrongSecret", "the passphrase isn't a string or a Uint8Array"); // the error of scrypt would quote it
  let failure = new PushCryptError("secretNeeded", "the keyset has no secret of this kind");
  for (const lock of locks) {
    if ((command !== undefined) !== (lock.command === true)) continue;
    try {
      return await (command ? unwrap(command, lock.key) : unlock(lock, passphrase as string | Uint8Array));
    } catch (error) {
      if (!(error instanceof PushCryptError) || error.code === "notAuthentic") throw error;
      failure = error;
    }
  }
  throw failure;
}

/** KEK(32) ‖ check(16) = scrypt(passphrase, salt, N, r, p, 48); wrapped = ENC(KEK, "pushcrypt/1 keyset key", keyset key) */
async function unlock({ name, passphrase: lock, key }: Lock, passphrase: string | Uint8Array): Promise<Buffer> {
  const { n: N, r, p, salt, check } = lock as NonNullable<Lock["passphrase"]>;
  const derive = promisify<string | Uint8Array, Buffer, number, object, Buffer>(scrypt);
  const derived = await derive(passphrase, salt, 48, { N, r, p, maxmem: 2 * MAX_MEMORY });
  if (!isSame(derived.subarray(32), check)) refuse("wrongSecret", `the passphrase isn't that of ${name}`);
  return openEnc(derived.subarray(0, 32), key, ascii("pushcrypt/1 keyset key"));
}

/** COMMAND unwrap        stdin: the output of wrap        stdout: the keyset key, 32 bytes */
export function unwrap(command: readonly string[], wrapped: Buffer, timeLimit = TIME_LIMIT): Promise<Buffer> {
  const [program = "", ...options] = command;
  const { PUSHCRYPT_PASSPHRASE: _, ...env } = process.env;
  return new Promise((resolve, reject) => {
    const child = started(program, [...options, "unwrap"], env);
    const fail = (reason: string): void => {
      clearTimeout(timer);
      try {
        process.kill(-(child.pid ?? NaN), "SIGKILL");
      } catch {
        // All of them have ended.
      }
      reject(new PushCryptError("wrapCommandFailed", `the command that unwraps the keyset key ${reason}`));
    };
    child.on("error", ({ message }) => fail(`didn't start: ${message}`));
    const timer = setTimeout(fail, timeLimit, "needs too long");
    let key = Buffer.alloc(0);
    // Without a free file handle it has no streams.
    child.stdout?.on(
      "data",
      (part: Buffer) => (key = Buffer.concat([key, part], Math.min(key.length + part.length, 33))),
    );
    child.stdin?.on("error", () => undefined).end(wrapped); // it may end without reading
    child.on("close", (code, signal) => {
      if (code !== 0 || key.length !== 32) return fail(`failed: ${signal ?? code}, or didn't write exactly 32 bytes`);
      clearTimeout(timer);
      resolve(key);
    });
  });
}

function started(program: string, options: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  try {
    // `detached` gives it a process group, so that its child processes end with it.
    return spawn(program, options, { env, stdio: ["pipe", "pipe", "inherit"], detached: true });
  } catch {
    const reason = "is empty, or has an argument that can't be one";
    return refuse("wrapCommandFailed", `the command that unwraps the keyset key ${reason}`); // the error may quote it
  }
}
