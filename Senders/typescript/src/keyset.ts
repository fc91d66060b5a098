import { reading, refuse } from "./sender/errors.js";
import { JsonObject, natural, readObject, type Json, type Text } from "./sender/json.js";
import { readKey, type Key } from "./sender/key.js";
import { KINDS, rankOf } from "./suites.js";

/** A JWK or a JWK set: its JSON, or the value. */
export type RecordText = Text | Readonly<Record<string, unknown>>;
export type KeyUse = "recipient" | "shared" | "sender" | "publisher";

export const MOMENTS = ["createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt", "destroyedAt"] as const;
/** Unix times in seconds. */
export type Moments = Readonly<Partial<Record<(typeof MOMENTS)[number], number>>>;

const TIME = /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/i;
const YEAR_0 = -62_167_219_200, YEAR_10000 = 253_402_300_800; // seconds
const DAY = 86_400, FOUR_CENTURIES = 146_097 * DAY; // seconds

/** A key of a set, with its times. */
export interface Entry {
  readonly key: Key;
  readonly times: Moments;
  /** Whether messages to the key are sealed with a psk. */
  readonly demandsPsk: boolean;
}

export const useOf = ({ isPublisher, kind }: Key): KeyUse => (isPublisher ? "publisher" : kind.use);

/** Keys of one kind with their times (PROTOCOL sections 3 and 9). */
export class Keyset {
  readonly use: KeyUse;
  /** It grows with every change. Store it, and pass it as `minimumSequence`. Undefined for a JWK. */
  readonly sequence: number | undefined;
  readonly #entries: readonly Entry[];
  readonly #updatedAt: number;

  /** @internal */
  constructor(entries: readonly Entry[], sequence?: number, updatedAt = -Infinity) {
    [this.#entries, this.sequence, this.#updatedAt] = [entries, sequence, updatedAt];
    this.use = entries[0] === undefined ? refuse("malformed", "it has no keys") : useOf(entries[0].key);
    if (entries.some(({ key }) => useOf(key) !== this.use)) refuse("wrongKind", "the set has keys of several kinds");
    if (new Set(entries.map(({ key }) => key.kid)).size < entries.length) refuse("duplicateKey", "the set has two keys of one kid");
  }

  /**
   * Reads one JWK, whose key always seals, or a JWK set. Refuses with `malformed`, `unsupportedKey`, `unsupportedSuite`, `invalidKey`,
   * `kidMismatch`, `duplicateKey`, `wrongKind`, `invalidDeviceID`; `rolledBack` for a set that is older than one you have seen.
   */
  static fromJson(text: RecordText, { minimumSequence = 0 }: { readonly minimumSequence?: number } = {}): Keyset {
    const json = typeof text === "string" || text instanceof Uint8Array ? text : JSON.stringify(text) ?? "";
    const keyset = reading("the key record or set", () => readSet(readObject(json)));
    if ((keyset.sequence ?? Infinity) >= minimumSequence) return keyset;
    return refuse("rolledBack", `the set is older than ${minimumSequence}: someone serves an old set`);
  }

  /** The ids of the keys. */
  get kids(): string[] { return this.#entries.map(({ key }) => key.kid); }

  /** @internal The key that seals or signs at a Unix time. */
  static primaryOf(keyset: Keyset, at: number): Entry | undefined {
    const now = Math.max(at, keyset.#updatedAt); // states only move forward
    const seals = ({ times: { activatesAt = Infinity, retiresAt, expiresAt, revokedAt, destroyedAt } }: Entry): boolean =>
      activatesAt <= now && destroyedAt === undefined && [retiresAt, expiresAt, revokedAt].every((end = Infinity) => end > now);
    return keyset.#entries.filter(seals).reduce(newest, undefined);
  }

  /** @internal The only key of a set that has no end, so that its use needs no clock. */
  static onlyOf(keyset: Keyset): Entry {
    const [entry, ...others] = keyset.#entries as [Entry, ...Entry[]];
    const { createdAt: _, activatesAt: __, ...ends } = entry.times;
    if (others.length + Object.keys(ends).length === 0) return entry;
    return refuse("malformed", "this is a set of keys with times: choose one with fromKeyset");
  }

  /** @internal Refuses with `suiteTooLow` if the newest key ranks below an older one (PROTOCOL section 3). */
  static checkRank(keyset: Keyset): void {
    const dated = keyset.#entries.filter(({ times, key }) => times.activatesAt !== undefined && key.kind.suite > 0);
    const ranks = dated.map(({ key }) => rankOf(key.kind.suite));
    const last = dated.reduce(newest, undefined);
    if (last !== undefined && rankOf(last.key.kind.suite) < Math.max(...ranks)) {
      refuse("suiteTooLow", `the newest key, ${last.key.kid}, ranks below an older one: only an operator can allow it`);
    }
  }
}

/** The one with the greatest (activatesAt, createdAt, kid bytes). */
function newest(left: Entry | undefined, right: Entry): Entry {
  const order = ({ times: { activatesAt = -Infinity, createdAt = -Infinity }, key }: Entry) => [activatesAt, createdAt, key.kid] as const;
  if (left === undefined) return right;
  const [[a, b, c], [x, y, z]] = [order(left), order(right)];
  return a > x || (a === x && (b > y || (b === y && c > z))) ? left : right;
}

function readSet(root: JsonObject): Keyset {
  const records = root.has("keys") ? root.get("keys") : [root];
  if (!Array.isArray(records)) return refuse("malformed", "keys isn't an array");
  const keys = records.map((record) => readKey(record, KINDS));
  if (!root.has("keys") || !root.has("pushcrypt")) {
    if (keys.length > 1) refuse("malformed", "it has several keys and no times: it isn't a set that pushcrypt published");
    return new Keyset(keys.map((key) => ({ key, times: { activatesAt: 0 }, demandsPsk: key.psk !== undefined })));
  }
  const member = root.get("pushcrypt");
  const lives = member instanceof JsonObject ? member.get("keys") : undefined;
  if (!(member instanceof JsonObject) || !(lives instanceof JsonObject)) return refuse("malformed", "its pushcrypt has no keys");
  const updatedAt = member.has("updatedAt") ? readTime(member.get("updatedAt"), "updatedAt") : undefined;
  return new Keyset(keys.map((key) => readEntry(key, lives.get(key.kid))), natural(member.get("seq"), "seq"), updatedAt);
}

function readEntry(key: Key, life: Json | undefined): Entry {
  if (!(life instanceof JsonObject)) return refuse("malformed", `it has no times of key ${key.kid}`);
  const isDemand = life.get("psk") === true && key.kind.use === "recipient";
  if (life.has("psk") && !isDemand) refuse("malformed", `psk of key ${key.kid} isn't true, or the key can't have one`);
  const times = MOMENTS.filter((moment) => life.has(moment)).map((moment) => [moment, readTime(life.get(moment), moment)]);
  return { key, times: Object.fromEntries(times) as Moments, demandsPsk: isDemand || key.psk !== undefined };
}

/** A TIME of PROTOCOL section 3 in Unix seconds. Fractions are dropped, and a leap second is the second after it. */
export function readTime(text: unknown, name: string): number {
  const match = (typeof text === "string" && TIME.exec(text)) || refuse("malformed", `${name} isn't a time of RFC 3339 with an offset`);
  const [year, month, day, hour, minute, second, hours, minutes] = [1, 2, 3, 4, 5, 6, 8, 9].map((group) => Number(match[group] ?? 0)) as
    [number, number, number, number, number, number, number, number];
  const date = new Date(Date.UTC(2000 + (year % 400), month - 1, day)); // the calendar repeats after 400 years
  const isDate = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const isTime = hour <= 23 && minute <= 59 && second <= 60 && hours <= 23 && minutes <= 59;
  if (!isDate || !isTime) refuse("malformed", `${name} isn't a date and a time of day`);
  const time = date.getTime() / 1000 + (Math.floor(year / 400) - 5) * FOUR_CENTURIES + hour * 3_600 + minute * 60 + second;
  const found = time - (match[7] === "-" ? -1 : 1) * (hours * 3_600 + minutes * 60);
  return found >= YEAR_0 && found < YEAR_10000 ? found : refuse("malformed", `${name} isn't of the years 0000 to 9999 in UTC`);
}
