import { open, stat } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { PushCryptError, refuse } from "./sender/errors.js";
import { MAX_BYTES } from "./sender/json.js";
import { KeysetFile, type ReadOptions } from "./keyset-file.js";
import { type Point } from "./keyset-log.js";
import { type Keyset } from "./keyset.js";
import { SenderKey } from "./keys.js";

/** How to watch a file. `seen` is the `head` of an earlier run. */
export interface WatchOptions extends ReadOptions {
  /** Milliseconds between two looks at the file; 1,000 by default. */
  readonly interval?: number;
  /** Called when a new file is in use. */
  readonly onChange?: (head: Point) => void;
  /** Called when a new file was refused, and the previous keys stay in use. */
  readonly onRefusal?: (error: Error) => void;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

/** Reads a keyset's file, which must be private (docs/keyset-log.md, "Files that are only read"). */
export async function readKeysetFile(path: string, options: ReadOptions = {}): Promise<KeysetFile> {
  const file = await open(path);
  try {
    const status = await file.stat();
    const [{ uid, mode }, user] = [status, status.isFIFO() ? undefined : process.geteuid?.()]; // a pipe has no mode
    if (user !== undefined && uid !== user && uid !== 0) refuse("foreignOwner", `${path} belongs to another user`);
    if (user !== undefined && (mode & (uid === 0 ? 0o037 : 0o077)) !== 0) {
      refuse("looseMode", `others can open ${path}: chmod 600`);
    }
    const data = await buffer(file.createReadStream({ end: MAX_BYTES, autoClose: false })); // at most a byte too many
    return await KeysetFile.read(data, options);
  } finally {
    await file.close();
  }
}

/** A keyset's file that may change while the program runs. Replace it with a rename, as `pushcrypt rotate` does. */
export class KeysetWatcher {
  readonly #path: string;
  readonly #options: WatchOptions;
  readonly #timer: NodeJS.Timeout;
  #stamp: string;
  #file: KeysetFile;
  #refusal: Error | undefined;
  /** The stamp and the reason of the last refusal, of which `onRefusal` is told once. */
  #refused = "";
  #reading: Promise<void> | undefined;

  private constructor(path: string, options: WatchOptions, stamp: string, file: KeysetFile) {
    this.#path = path;
    this.#options = options;
    this.#stamp = stamp;
    this.#file = file;
    if (this.#primaryOf(file) === undefined) refuse("noKeySeals", `no key of ${path} is active at this time`);
    this.#timer = setInterval(() => void this.#look(false), options.interval ?? 1_000).unref();
  }

  /** Reads the file, and refuses one that can't be used: a backend that can't sign should not start. Links are followed. */
  static async open(path: string, options: WatchOptions = {}): Promise<KeysetWatcher> {
    const stamp = await stampOf(path); // before the file is read, so that a change in between is found
    return new KeysetWatcher(path, options, stamp, await readKeysetFile(path, options));
  }

  /** The key that signs now. Refuses with `noKeySeals`, `wrongKind`. */
  senderKey(): SenderKey {
    return SenderKey.fromKeyset(this.keyset, { at: this.#now });
  }

  /** The keys in use. */
  get keyset(): Keyset {
    return this.#file.keyset();
  }

  /** The last line of the log in use. Store it for the `seen` of the next run. */
  get head(): Point {
    const { n, hash } = this.#file.log.head;
    return { n, hash };
  }

  /** Why the present file isn't in use, for a health check. */
  get refusal(): Error | undefined {
    return this.#refusal;
  }

  /** Reads the file now, for example after a signal. */
  async reload(): Promise<void> {
    await this.#reading;
    await this.#look(true);
  }

  /** Ends the watch. The keys stay in use. */
  close(): void {
    clearInterval(this.#timer);
  }

  get #now(): number {
    return Math.floor((this.#options.clock ?? Date.now)() / 1000);
  }

  #primaryOf(file: KeysetFile): string | undefined {
    return file.keyset().primary(this.#now)?.key.kid;
  }

  #look(isForced: boolean): Promise<void> {
    return (this.#reading ??= this.#read(isForced).finally(() => (this.#reading = undefined)));
  }

  async #read(isForced: boolean): Promise<void> {
    const head = this.head;
    let stamp = "";
    try {
      stamp = await stampOf(this.#path);
      if (!isForced && this.#stamp === stamp) return;
      this.#stamp = stamp;
      const file = await readKeysetFile(this.#path, { ...this.#options, seen: head });
      const [next, current] = [this.#primaryOf(file), this.#primaryOf(this.#file)];
      // A key in use is kept if the file only lacks one that is active, and never if the file revokes it.
      if (next === undefined && current !== undefined && !file.log.isRevoked(current))
        refuse("noKeySeals", `no key of ${this.#path} is active at this time`);
      [this.#file, this.#refusal] = [file, undefined];
    } catch (error) {
      // The same file may be valid later: the time comes, or a key server recovers.
      if (!(error instanceof PushCryptError) || ["noKeySeals", "wrapCommandFailed"].includes(error.code))
        this.#stamp = "";
      this.#refusal = error as Error;
    }
    const [changed, refusal, last] = [this.head, this.#refusal, this.#refused];
    this.#refused = refusal === undefined ? "" : `${stamp} ${refusal.message}`;
    if (changed.hash !== head.hash) void told("onChange", () => this.#options.onChange?.(changed));
    if (refusal !== undefined && this.#refused !== last)
      void told("onRefusal", () => this.#options.onRefusal?.(refusal));
  }
}

/** Calls a function of the program, whose failure is none of the watch. It may return a promise. */
async function told(name: string, call: () => unknown): Promise<void> {
  try {
    await call();
  } catch {
    console.error(`pushcrypt: ${name} of a watched keyset failed`); // its error may have a secret
  }
}

async function stampOf(path: string): Promise<string> {
  const { dev, ino, mode, uid, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return [dev, ino, mode, uid, size, mtimeNs, ctimeNs].join();
}
