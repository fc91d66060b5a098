import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PushCryptError } from "../src/sender/errors.js";
import { readObject } from "../src/sender/json.js";
import { readKey, type Key } from "../src/sender/key.js";
import { KINDS } from "../src/suites.js";

function folder(): string {
  for (let at = process.cwd(); at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, "Conformance", "vectors"))) return join(at, "Conformance", "vectors");
  }
  throw new Error("run the tests inside of the repository: Conformance/vectors isn't in a folder above");
}

// The vectors are test data of this repository, not input of the library.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export function vectors(name: string): any {
  return JSON.parse(readFileSync(join(folder(), name), "utf8"));
}

export const hex = (text: string): Buffer => Buffer.from(text, "hex");
export const text64 = (text: string): Buffer => Buffer.from(text, "base64url");

/** A key as it is in a record, also a private one. */
export function keyOf(record: unknown): Key {
  return readKey(readObject(typeof record === "string" ? record : JSON.stringify(record)), KINDS);
}

/** The code of the refusal, or null if nothing was refused. Other errors are thrown. */
export function codeOfRefusal(run: () => unknown): string | null {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof PushCryptError) return error.code;
    throw error;
  }
}

export async function codeOfAsync(run: () => Promise<unknown>): Promise<string | null> {
  try {
    await run();
    return null;
  } catch (error) {
    if (error instanceof PushCryptError) return error.code;
    throw error;
  }
}
