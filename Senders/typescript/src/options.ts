import { randomBytes } from "node:crypto";
import { ascii, b64, hmac, lp16, NONE } from "./sender/bytes.js";
import { reading, refuse } from "./sender/errors.js";
import { anyText, anything, base64, closed, distinct, integer, list, oneOf, text, where } from "./sender/forms.js";
import { type Form } from "./sender/forms.js";
import { JsonNumber, JsonObject, LONE_SURROGATE } from "./sender/json.js";
import { type Key } from "./sender/key.js";
import { type Placeholder } from "./sender/outer.js";
import { type Header } from "./sender/payload.js";
import { MAX_LIMIT, type Padding, type Parties } from "./sender/seal.js";
import { attachmentForm, offloadForm, type Attachment, type Reference } from "./blobs.js";
import { CARRIERS, type Carrier } from "./carriers.js";
import { Recipient, WINDOW } from "./keys.js";
import { type OversizePlan } from "./oversize.js";
import { rankOf } from "./suites.js";

const ID_SIZE = 16; // bytes

/** How to seal a push. */
export interface SealOptions {
  readonly to: Recipient;
  readonly placeholder: Placeholder;
  /** Hides the length: a multiple of bytes, as much as fits, or not at all. 128 by default. */
  readonly padding?: Padding;
  /** The largest size of the whole push in bytes. By default 4,096 without the bytes that the carrier adds. */
  readonly limit?: number;
  /** The way to the device, which the app names too. By default APNs itself. */
  readonly carrier?: Carrier;
  /** 1 to 64 printable characters of ASCII, readable on the way. */
  readonly collapseId?: string;
  /** Seconds, at most `to.longestLifetime`, which is the default. */
  readonly expiresAfter?: number;
  /** The names of members of `aps` that stay readable. */
  readonly exposed?: readonly string[];
  /**
   * Names this push: sealed again for the same recipient it has the same id, and is shown once. If the recipient has neither a
   * psk nor a shared key and the push isn't signed, the name must not be guessable.
   */
  readonly campaign?: string;
  /** The ids of earlier pushes to take back. */
  readonly retract?: readonly string[];
  /** The app isn't to show the push. */
  readonly quiet?: boolean;
  /** Changes the badge by this number. */
  readonly badgeAdd?: number;
  /** Files that the device fetches and shows. */
  readonly attachments?: readonly Attachment[];
  /** A payload that the device fetches and shows in place of this one. */
  readonly offload?: Reference;
  /** What to do with a payload that doesn't fit. By default it is refused with `tooLarge`. */
  readonly oversize?: OversizePlan;
  /** Asks the extension for a report that it works. */
  readonly selfTest?: boolean;
  /** Refuses a recipient whose suite ranks below it: 3 demands a key that resists quantum computers. */
  readonly minimumSuite?: 1 | 2 | 3 | 4;
  /** Refuses a device that has day keys (PROTOCOL section 14) and none for today. */
  readonly requiresDayKey?: boolean;
  /** Allows a shared key that isn't the key of one device: everyone who has that key can open the push. */
  readonly bare?: boolean;
}

type Offload = NonNullable<OversizePlan["offload"]>;
const callback = where("a function", anything as Form<Offload>, (one) => typeof one === "function");
const flag = oneOf(true, false);
const isDistinct = (values: readonly unknown[]): boolean => new Set(values).size === values.length;
const isCampaign = (name: string): boolean =>
  !LONE_SURROGATE.test(name) && name !== "" && Buffer.byteLength(name) <= 255;

/** At most 8, with distinct ids and one avatar (PROTOCOL section 7). */
export const attachmentsForm = where(
  "a list with distinct ids and one avatar",
  list(attachmentForm, 0, 8),
  (all) => isDistinct(all.flatMap(({ id }) => id ?? [])) && all.filter(({ use }) => use !== undefined).length <= 1,
);

const OPTIONS = closed(
  { to: where("a Recipient", anything as Form<Recipient>, (to) => to instanceof Recipient) },
  {
    placeholder: anything,
    padding: (value: unknown, name: string) =>
      value === "limit" || value === "none" ? value : integer(1)(value, name),
    limit: integer(1, MAX_LIMIT),
    carrier: oneOf(...CARRIERS),
    collapseId: text(/^[ -~]{1,64}$/),
    expiresAfter: integer(1, WINDOW),
    exposed: list(text(/^(?!alert$|mutable-content$)[A-Za-z0-9_-]{1,64}$/), 0, 32),
    campaign: where("a name of 1 to 255 bytes", anyText, isCampaign),
    retract: distinct(base64(ID_SIZE), 0, 16),
    quiet: flag,
    badgeAdd: integer(-999, 999),
    attachments: attachmentsForm,
    offload: offloadForm,
    oversize: closed({}, { shortenBodyTo: integer(1), offload: callback }),
    selfTest: flag,
    minimumSuite: integer(1, 4),
    requiresDayKey: flag,
    bare: flag,
  },
);
export type Options = ReturnType<typeof OPTIONS>;

/**
 * Checks what doesn't depend on the payload. Refuses with `invalidOption`, `invalidPayload`, `deviceMissing`, `suiteTooLow`,
 * `expiresTooLate`.
 */
export function readOptions(given: SealOptions): Options {
  const options = reading("the options", () => OPTIONS(given, "options"), { malformed: "invalidOption" });
  const { to, carrier, collapseId, quiet, exposed = [], attachments = [], offload, minimumSuite = 1 } = options;
  const { badgeAdd, bare, expiresAfter = 0 } = options;
  if (carrier === "expo" && collapseId !== undefined) refuse("invalidOption", "the service of expo has no collapse id");
  if (quiet && exposed.includes("sound")) refuse("invalidOption", "a quiet push can't expose its sound");
  if (badgeAdd !== undefined && given.offload?.setsBadge)
    refuse("invalidPayload", "the offloaded payload sets the badge, and badgeAdd adds to it");
  if (quiet && (attachments.length > 0 || offload !== undefined))
    refuse("invalidOption", "a quiet push fetches nothing");
  if (to.suite === 4 && to.device === undefined && bare !== true) {
    refuse("deviceMissing", `everyone who has key ${to.kid} could open the push: seal to forDevice(), or set bare`);
  }
  if (rankOf(to.suite) < rankOf(minimumSuite)) refuse("suiteTooLow", `key ${to.kid} has a suite below ${minimumSuite}`);
  if (expiresAfter > to.longestLifetime)
    refuse("expiresTooLate", `the device of key ${to.kid} erases keys after ${to.longestLifetime} seconds`);
  return options;
}

/**
 * id  = first 16 bytes of HMAC-SHA256(key, "pushcrypt/1 campaign" ‖ 0x00 ‖ lp16(campaign) ‖ lp16(kid) ‖ lp16(device id or empty))
 * key = K as used (suite 4), the psk, or empty
 */
export function campaignId(campaign: string, { use, secret, psk, kid, device = "" }: Key): string {
  const key = (use === "shared" ? secret : psk) ?? NONE;
  return b64(
    hmac(key, ascii(`pushcrypt/1 campaign\0${lp16(campaign)}${lp16(kid)}${lp16(device)}`)).subarray(0, ID_SIZE),
  );
}

/** The header with its optional members (PROTOCOL sections 5 to 7 and 11). Refuses with `invalidOption`, `notAuthenticated`. */
export function headerOf(options: Options, { to, signer }: Parties, iat: number): Header {
  const { campaign, expiresAfter = options.to.longestLifetime, retract = [], quiet, badgeAdd } = options;
  const { attachments = [], offload, selfTest } = options;
  if (!(iat >= 0 && Number.isSafeInteger(iat + expiresAfter)))
    refuse("invalidOption", "the clock's time can't be represented");
  const id = campaign === undefined ? b64(randomBytes(ID_SIZE)) : campaignId(campaign, options.to.key);
  if (retract.includes(id)) refuse("invalidOption", "the push would take back itself");
  const instructions = {
    ...(retract.length > 0 && { retract }),
    ...(quiet && { quiet }),
    ...(badgeAdd !== undefined && { badge: { add: badgeAdd } }),
  };
  const isInstructed = Object.keys(instructions).length > 0 || attachments.some(({ use }) => use !== undefined);
  const isProven = signer !== undefined || to.psk !== undefined || to.use === "shared"; // PROTOCOL section 11
  if (isInstructed && !isProven) {
    const reason = `everyone can seal to key ${to.kid}, so its device ignores retract, quiet, badgeAdd and avatars`;
    refuse("notAuthenticated", `${reason}: sign the push, or use a registration record with a psk`);
  }
  return {
    id,
    iat,
    exp: iat + expiresAfter,
    ...(attachments.length > 0 && { attachments }),
    ...(offload && { offload }),
    ...(selfTest && { test: true }),
    ...instructions,
  };
}

const isNumber = (value: unknown): boolean => value instanceof JsonNumber && Number.isFinite(value.value);
const number = where("a number", anything as Form<JsonNumber>, isNumber);
const volume = where("a number of 0 to 1", number, ({ value }) => value >= 0 && value <= 1);
const SOUND = closed({}, { critical: integer(0, 1), name: anyText, volume });
const scalar: Form<unknown> = (value, name) =>
  typeof value === "string" || typeof value === "boolean" ? value : number(value, name);
const EXPOSED = new Map<string, Form<unknown>>([
  ...["category", "filter-criteria", "target-content-id", "thread-id"].map((name) => [name, anyText] as const),
  ["badge", integer(0)],
  ["content-available", integer(1, 1)],
  ["interruption-level", oneOf("passive", "active", "time-sensitive", "critical")],
  ["relevance-score", number],
  ["sound", (value, name) => (value instanceof JsonObject ? SOUND(value, name) : anyText(value, name))],
]);

/** Refuses with `notExposable` what `aps` lacks, or has with another type (PROTOCOL section 2, "Exposed members"). */
export function checkExposed(aps: JsonObject, exposed: readonly string[]): void {
  for (const name of exposed) {
    reading("the payload's aps", () => (EXPOSED.get(name) ?? scalar)(aps.get(name), name), {
      malformed: "notExposable",
    });
  }
}
