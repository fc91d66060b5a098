import { reading, refuse } from "./sender/errors.js";
import { anyText, anything, entries, integer, list, object, oneOf, type Form } from "./sender/forms.js";
import { MAX_BYTES, readObject, textOf, type Text } from "./sender/json.js";
import { readKey, type Key, type KeyUse } from "./sender/key.js";
import { KINDS, rankOf } from "./suites.js";

/** A JWK or a JWK set: its JSON, or the value. */
export type RecordText = Text | Readonly<Record<string, unknown>>;

export const MOMENTS = ["createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt", "destroyedAt"] as const;
type Moment = (typeof MOMENTS)[number];
/** Unix times in seconds. */
export type Moments = { readonly [name in Moment]?: number };
/** Where a key is in its life (PROTOCOL section 9). */
export type KeyState = "pending" | "primary" | "retiring" | "expired" | "revoked" | "destroyed";

const TIME =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/i;
const YEAR_0 = -62_167_219_200; // seconds
const YEAR_10000 = 253_402_300_800;
const FOUR_CENTURIES = 146_097 * 86_400;

/** A TIME of PROTOCOL section 3 in Unix seconds. Fractions are dropped, and a leap second is the second after it. */
export const time: Form<number> = (value, name) => {
  const match =
    TIME.exec(anyText(value, name)) ?? refuse("malformed", `${name} isn't a time of RFC 3339 with an offset`);
  const numberOf = (group: number): number => Number(match[group] ?? 0);
  const [year, month, day] = [numberOf(1), numberOf(2), numberOf(3)];
  const [hour, minute, second, hours, minutes] = [numberOf(4), numberOf(5), numberOf(6), numberOf(8), numberOf(9)];
  const date = new Date(Date.UTC(2000 + (year % 400), month - 1, day)); // the calendar repeats after 400 years
  const isDate = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  const isTime = hour <= 23 && minute <= 59 && second <= 60 && hours <= 23 && minutes <= 59;
  const midnight = date.getTime() / 1000 + (Math.floor(year / 400) - 5) * FOUR_CENTURIES;
  const offset = (match[7] === "-" ? -1 : 1) * (hours * 3_600 + minutes * 60);
  const found = midnight + hour * 3_600 + minute * 60 + second - offset;
  if (isDate && isTime && found >= YEAR_0 && found < YEAR_10000) return found;
  return refuse("malformed", `${name} isn't a date and a time of day, of the years 0000 to 9999 in UTC`);
};

/** A key of a set, with its times. */
export interface Entry {
  readonly key: Key;
  readonly times: Moments;
  /** Whether messages to the key are sealed with a psk. */
  readonly demandsPsk: boolean;
}

/** `primary` if the key seals, of which only the newest is the primary key. */
function stateOf({ times }: Entry, now: number): KeyState {
  if (times.destroyedAt !== undefined) return "destroyed";
  const hasCome = (moment: Moment): boolean => (times[moment] ?? Infinity) <= now;
  if (hasCome("revokedAt") || hasCome("expiresAt")) return hasCome("revokedAt") ? "revoked" : "expired";
  return hasCome("retiresAt") ? "retiring" : hasCome("activatesAt") ? "primary" : "pending";
}

/** The one with the greatest (activatesAt, createdAt, kid bytes). */
function newest(left: Entry | undefined, right: Entry): Entry {
  const order = ({ times: { activatesAt = 0, createdAt = -Infinity }, key }: Entry) =>
    [activatesAt, createdAt, key.kid] as const;
  if (left === undefined) return right;
  const [[a, b, c], [x, y, z]] = [order(left), order(right)];
  return a > x || (a === x && (b > y || (b === y && c > z))) ? left : right;
}

/** A member for each moment. */
export const momentsOf = <T>(form: Form<T>) =>
  Object.fromEntries(MOMENTS.map((name) => [name, form])) as Record<Moment, Form<T>>;

const LIFE = object({}, { psk: oneOf(true), ...momentsOf(time) });
const PUBLISHED = object({ seq: integer(0), keys: entries(anyText, anything) }, { updatedAt: time });
const SET = object({}, { keys: list(anything), pushcrypt: anything });

/** Keys of one kind with their times (PROTOCOL sections 3 and 9). */
export class Keyset {
  /** What its keys are for. */
  readonly use: KeyUse;

  /**
   * @internal
   * @param sequence grows with every change. Store it, and pass it as `minimumSequence`. Undefined for a JWK.
   */
  constructor(
    /** @internal */ readonly entries: readonly Entry[],
    readonly sequence?: number,
    /** @internal */ readonly updatedAt = -Infinity,
    use?: KeyUse,
  ) {
    this.use = use ?? entries[0]?.key.use ?? refuse("malformed", "it has no keys");
    if (entries.some(({ key }) => key.use !== this.use)) refuse("wrongKind", "the set has keys of several kinds");
    if (new Set(this.kids).size < entries.length) refuse("duplicateKey", "the set has two keys of one kid");
  }

  /**
   * Reads one JWK, whose key always seals, or a JWK set. Refuses with `malformed`, `unsupportedKey`, `unsupportedSuite`,
   * `invalidKey`, `kidMismatch`, `duplicateKey`, `wrongKind`, `invalidDeviceID`; `tooLarge` for more than 4 MiB; `rolledBack` for a
   * set that is older than one you have seen.
   */
  static fromJson(text: RecordText, { minimumSequence = 0 }: { readonly minimumSequence?: number } = {}): Keyset {
    const keyset = reading("the key record or set", () => readSet(textOf(text)));
    if ((keyset.sequence ?? Infinity) >= minimumSequence) return keyset;
    return refuse("rolledBack", `the set is older than ${minimumSequence}: someone serves an old set`);
  }

  /** The ids of the keys. */
  get kids(): string[] {
    return this.entries.map(({ key }) => key.kid);
  }

  /** The state of each key by its kid, at a Unix time in seconds. */
  states(at: number): ReadonlyMap<string, KeyState> {
    const [now, primary] = [this.#timeOf(at), this.primary(at)];
    const isOlder = (entry: Entry, state: KeyState): boolean => state === "primary" && entry !== primary;
    const states = this.entries.map((entry) => [entry, stateOf(entry, now)] as const);
    return new Map(states.map(([entry, state]) => [entry.key.kid, isOlder(entry, state) ? "retiring" : state]));
  }

  /** @internal The key that seals or signs at a Unix time. */
  primary(at: number): Entry | undefined {
    const now = this.#timeOf(at);
    return this.entries.filter((entry) => stateOf(entry, now) === "primary").reduce(newest, undefined);
  }

  /** @internal The only key of a set that has no end. Refuses with `noKeySeals` one that isn't active yet or was destroyed. */
  get only(): Entry {
    const [entry, ...others] = this.entries as [Entry, ...Entry[]];
    const { retiresAt, expiresAt, revokedAt } = entry.times;
    if (others.length > 0 || (retiresAt ?? expiresAt ?? revokedAt) !== undefined)
      refuse("malformed", "this is a set of keys with times: choose one with fromKeyset");
    return this.primary(Date.now() / 1000) ?? refuse("noKeySeals", `key ${entry.key.kid} isn't active`);
  }

  /** @internal Refuses with `suiteTooLow` if the newest key ranks below an older one (PROTOCOL section 3). */
  checkRank(): void {
    const dated = this.entries.filter(({ times }) => times.activatesAt !== undefined);
    const highest = Math.max(...dated.map(({ key }) => rankOf(key.kind.suite)));
    const last = dated.reduce(newest, undefined)?.key;
    if (last !== undefined && rankOf(last.kind.suite) < highest) {
      refuse("suiteTooLow", `the newest key, ${last.kid}, ranks below an older one: only an operator can allow it`);
    }
  }

  /** States only move forward. */
  #timeOf(at: number): number {
    return Math.max(at, this.updatedAt);
  }
}

function readSet(text: Text): Keyset {
  if (Buffer.byteLength(text) > MAX_BYTES) refuse("tooLarge", "it has more than 4 MiB");
  const root = readObject(text);
  const { keys: records = [root], pushcrypt } = SET(root, "it");
  const keys = records.map((record) => readKey(record, KINDS));
  if (!root.has("keys") || pushcrypt === undefined) {
    if (keys.length > 1)
      refuse("malformed", "it has several keys and no times: it isn't a set that pushcrypt published");
    return new Keyset(keys.map((key) => ({ key, times: { activatesAt: 0 }, demandsPsk: key.psk !== undefined })));
  }
  const { seq, keys: lives, updatedAt } = PUBLISHED(pushcrypt, "pushcrypt");
  const entriesOf = keys.map((key) => {
    const { psk, ...times } = LIFE(lives.get(key.kid), `the entry of key ${key.kid}`);
    if (psk && key.use !== "recipient") refuse("malformed", `key ${key.kid} can't have a psk`);
    return { key, times, demandsPsk: psk === true || key.psk !== undefined };
  });
  return new Keyset(entriesOf, seq, updatedAt);
}
