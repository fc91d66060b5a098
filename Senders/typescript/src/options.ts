import { randomBytes } from "node:crypto";
import { ascii, b64, hmac, lp16, NONE, unb64 } from "./sender/bytes.js";
import { refuse } from "./sender/errors.js";
import { JsonNumber, JsonObject, LONE_SURROGATE, type Json } from "./sender/json.js";
import { type Key } from "./sender/key.js";
import { type Placeholder } from "./sender/outer.js";
import { MAX_LIMIT, type Padding } from "./sender/seal.js";
import { checkedReference, type Attachment, type Reference } from "./blobs.js";
import { type Carrier } from "./carriers.js";
import { Recipient } from "./keys.js";
import { type OversizePlan } from "./oversize.js";
import { rankOf } from "./suites.js";

export const WINDOW = 30 * 86_400; // the longest lifetime, in seconds
const ID_SIZE = 16;
const MAX_RETRACTED = 16, MAX_ATTACHMENTS = 8, MAX_INCREMENT = 999, MAX_EXPOSED = 32;
const EXPOSED = /^(?!alert$|mutable-content$)[A-Za-z0-9_-]{1,64}$/;

export interface SealOptions<C extends Carrier = Carrier> {
  readonly to: Recipient;
  readonly placeholder: Placeholder;
  /** Hides the length: a multiple of bytes, as much as fits, or not at all. 128 by default. */
  readonly padding?: Padding;
  /** The largest size of the whole push in bytes. By default 4,096 without the bytes that the carrier adds. */
  readonly limit?: number;
  /** The way to the device, which the app names too. By default APNs itself. */
  readonly carrier?: C;
  /** 1 to 64 printable characters of ASCII, readable on the way. */
  readonly collapseId?: string;
  /** Seconds, at most 30 days, which is the default. */
  readonly expiresAfter?: number;
  /** The names of members of `aps` that stay readable. */
  readonly exposed?: readonly string[];
  /**
   * Names this push: sealed again for the same recipient it has the same id, and is shown once. If the recipient has neither a psk
   * nor a shared key and the push isn't signed, the name must not be guessable.
   */
  readonly campaign?: string;
  /** The ids of earlier pushes to take back. */
  readonly retract?: readonly string[];
  /** The app isn't to show the push. */
  readonly quiet?: boolean;
  /** Changes the badge by this number. */
  readonly badgeAdd?: number;
  readonly attachments?: readonly Attachment[];
  readonly offload?: Reference;
  /** What to do with a payload that doesn't fit. By default it is refused with `tooLarge`. */
  readonly oversize?: OversizePlan;
  /** Asks the extension for a report that it works. */
  readonly selfTest?: boolean;
  /** Refuses a recipient whose suite ranks below it: 3 demands a key that resists quantum computers. */
  readonly minimumSuite?: 1 | 2 | 3 | 4;
  /** Allows a shared key that isn't the key of one device: everyone who has that key can open the push. */
  readonly bare?: boolean;
}

const isInteger = (value: unknown, least: number, most: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
const isText = (value: unknown, form: RegExp): boolean => typeof value === "string" && form.test(value);

/** Checks the options that don't depend on the payload. Refuses with `invalidOption`, `deviceMissing`, `suiteTooLow`. */
export function checkOptions(options: SealOptions, limit: number, padding: Padding): void {
  const { to, collapseId, carrier, minimumSuite = 1, expiresAfter = WINDOW, exposed = [] } = options;
  const { quiet = false, bare = false, selfTest = false } = options;
  const check = (isRight: boolean, form: string): unknown => isRight || refuse("invalidOption", form);
  check(to instanceof Recipient, "to isn't a Recipient: Recipient.fromJwk reads one");
  check(isInteger(limit, 1, MAX_LIMIT), `limit isn't an integer of 1 to ${MAX_LIMIT}`);
  const isPadding = padding === "limit" || padding === "none" || isInteger(padding, 1, Infinity);
  check(isPadding, 'padding isn\'t a positive integer, "limit" or "none"');
  check(isInteger(expiresAfter, 1, WINDOW), `expiresAfter isn't an integer of 1 to ${WINDOW} seconds`);
  check([quiet, bare, selfTest].every((flag) => typeof flag === "boolean"), "quiet, bare or selfTest isn't a boolean");
  check(collapseId === undefined || isText(collapseId, /^[ -~]{1,64}$/), "collapseId isn't 1 to 64 printable characters of ASCII");
  check(collapseId === undefined || carrier !== "expo", "the service of expo has no collapse id");
  check(isInteger(minimumSuite, 1, 4), "minimumSuite isn't 1, 2, 3 or 4");
  check(Array.isArray(exposed) && exposed.length <= MAX_EXPOSED && exposed.every((name) => isText(name, EXPOSED)),
    `exposed isn't at most ${MAX_EXPOSED} names of 1 to 64 letters, digits, _ and -, without alert and mutable-content`);
  check(!quiet || !exposed.includes("sound"), "a quiet push can't expose its sound");
  if (to.suite === 4 && to.device === undefined && !bare) {
    refuse("deviceMissing", `key ${to.kid} is shared, and everyone who has it could open the push: seal to forDevice(), or set bare`);
  }
  if (rankOf(to.suite) < rankOf(minimumSuite)) refuse("suiteTooLow", `key ${to.kid} has a suite below ${minimumSuite}`);
}

/** The optional members of the header (PROTOCOL sections 5 to 7 and 11). Refuses with `malformed`. */
export function extrasOf(id: string, options: SealOptions): Record<string, unknown> {
  const { offload, quiet, selfTest, badgeAdd, retract = [] } = options;
  const attachments = Array.from(options.attachments ?? [], (one) => checkedReference(one, true) as Attachment);
  const ids = attachments.flatMap((one) => one.id ?? []);
  if (attachments.length > MAX_ATTACHMENTS || new Set(ids).size < ids.length || attachments.filter((one) => one.use).length > 1) {
    refuse("malformed", `there are more than ${MAX_ATTACHMENTS} attachments, two of one id, or two avatars`);
  }
  if (!Array.isArray(retract) || retract.length > MAX_RETRACTED || new Set([...retract, id]).size < retract.length + 1) {
    refuse("malformed", `retract isn't an array of at most ${MAX_RETRACTED} ids, or has an id twice, or the message's own id`);
  }
  for (const one of retract) unb64(one, ID_SIZE, "an id to retract");
  if (quiet && (attachments.length > 0 || offload !== undefined)) refuse("malformed", "a quiet push fetches nothing");
  const isIncrement = badgeAdd === undefined || isInteger(badgeAdd, -MAX_INCREMENT, MAX_INCREMENT);
  if (!isIncrement) refuse("malformed", `badgeAdd isn't an integer of -${MAX_INCREMENT} to ${MAX_INCREMENT}`);
  return {
    ...(attachments.length > 0 && { attachments }), ...(offload !== undefined && { offload: checkedReference(offload, false) }),
    ...(selfTest && { test: true }), ...(retract.length > 0 && { retract }), ...(quiet && { quiet }),
    ...(badgeAdd !== undefined && { badge: { add: badgeAdd } }),
  };
}

/** Whether the device obeys the message only with a proof of the sender. */
export function hasInstructions(extras: Record<string, unknown>, { attachments = [] }: SealOptions): boolean {
  return ["retract", "quiet", "badge"].some((name) => name in extras) || attachments.some((one) => one.use !== undefined);
}

/**
 * id  = first 16 bytes of HMAC-SHA256(key, "pushcrypt/1 campaign" ‖ 0x00 ‖ lp16(campaign) ‖ lp16(kid) ‖ lp16(device id or empty))
 * key = K as used (suite 4), the psk, or empty
 */
export function messageId(campaign: string | undefined, to: Key): string {
  if (campaign === undefined) return b64(randomBytes(ID_SIZE));
  const size = typeof campaign === "string" && !LONE_SURROGATE.test(campaign) ? Buffer.byteLength(campaign) : 0;
  if (!isInteger(size, 1, 255)) refuse("invalidOption", "the campaign's name isn't a string of 1 to 255 bytes");
  const key = (to.kind.use === "shared" ? to.secret : to.psk) ?? NONE;
  return b64(hmac(key, ascii("pushcrypt/1 campaign\0"), lp16(campaign), lp16(to.kid), lp16(to.device ?? "")).subarray(0, ID_SIZE));
}

type Test = (value: Json | undefined) => boolean;
const isString: Test = (value) => typeof value === "string";
const isNatural = (most: number, least = 0): Test => (value) => value instanceof JsonNumber && isInteger(value.natural, least, most);
const isNumber: Test = (value) => value instanceof JsonNumber && Number.isFinite(value.value);
const SOUND = new Map<string, Test>([
  ["critical", isNatural(1)], ["name", isString],
  ["volume", (value) => value instanceof JsonNumber && value.value >= 0 && value.value <= 1],
]);
const TYPES = new Map<string, Test>([
  ["badge", isNatural(Infinity)], ["category", isString], ["content-available", isNatural(1, 1)], ["filter-criteria", isString],
  ["interruption-level", (value) => ["passive", "active", "time-sensitive", "critical"].includes(value as string)],
  ["relevance-score", isNumber], ["target-content-id", isString], ["thread-id", isString],
  ["sound", (value) => isString(value) || (value instanceof JsonObject && [...value].every(([name, part]) => SOUND.get(name)?.(part)))],
]);

/** Refuses with `notExposable` what `aps` lacks, or has with another type (PROTOCOL section 2, "Exposed members"). */
export function checkExposed(aps: JsonObject, exposed: readonly string[]): void {
  for (const name of exposed) {
    const isRight = TYPES.get(name) ?? ((value) => isString(value) || isNumber(value) || typeof value === "boolean");
    if (!isRight(aps.get(name))) refuse("notExposable", `the payload's aps has no ${name} of a type that can be exposed`);
  }
}
