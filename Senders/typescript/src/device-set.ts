import { ascii, hmac, isSame, lp16, NONE } from "./sender/bytes.js";
import { reading, refuse } from "./sender/errors.js";
import { anything, anyText, base64, bytes, closed, entries, integer, list, object, oneOf } from "./sender/forms.js";
import { readObject } from "./sender/json.js";
import { readKey, type Key } from "./sender/key.js";
import { time } from "./keyset.js";
import { hkdf, KINDS, secretOf } from "./suites.js";

export const MAX_SET = 32_768; // bytes
const DAY = 86_400; // seconds
const TOLERANCE = 600; // seconds by which clocks differ

const KID = object({ kid: base64(8) });
const LIFE = closed({ activatesAt: time, retiresAt: time, expiresAt: time, psk: oneOf(true) });
const MEMBER = { seq: integer(0), flight: integer(DAY, 7 * DAY), keys: entries(anyText, LIFE) };
const SET = object({ keys: list(anything, 1, 16), pushcrypt: object(MEMBER, { registration: anything }) });

/** A key that wasn't checked, from the Unix time `start` until before `end`. */
type Day = { readonly kid: string; readonly jwk: unknown; readonly start: number; readonly end: number };

/** HMAC-SHA256(K_set, set), where K_set = HKDF-SHA256(psk, salt: empty, "pushcrypt/1 device set" ‖ 0x00 ‖ lp16(kid), 32) */
export const macOf = ({ psk, kid }: Key, set: string): Buffer =>
  hmac(hkdf(secretOf(psk), NONE, ascii(`pushcrypt/1 device set\0${lp16(kid)}`), 32), Buffer.from(set));

/** The day keys in the record of a device: BASE64URL(mac) ‖ "." ‖ set (PROTOCOL section 14). */
export class DeviceSet {
  readonly text: string;
  /** Grows with every change. */
  readonly sequence: number;
  /** The longest time from `iat` to `exp`, in seconds. */
  readonly flight: number;
  readonly #days: readonly Day[];
  #last: Key | undefined; // the key of a day is read once

  /**
   * Checks everything except the keys. Refuses with `pskMissing`, `tooLarge`, `notAuthentic`, `malformed`, `otherRegistration`,
   * `duplicateKey`.
   */
  constructor(private readonly record: Key) {
    const { psk, kid, deviceSet } = record;
    this.text = anyText(deviceSet, "the device set");
    if (psk === undefined) refuse("pskMissing", "a record with a device set has a psk");
    if (Buffer.byteLength(this.text) > MAX_SET) refuse("tooLarge", `its device set has more than ${MAX_SET} bytes`);
    const [, mac, set = ""] =
      /^(.{43})\.(.*)$/s.exec(this.text) ?? refuse("malformed", "its device set doesn't begin with a MAC and a dot");
    if (!isSame(bytes(32)(mac, "the MAC"), macOf(record, set)))
      refuse("notAuthentic", "its device set was changed, or belongs to another record");
    const { keys, pushcrypt } = reading("its device set", () => SET(readObject(set), "it"));
    const { seq, flight, registration, keys: lives } = pushcrypt;
    if (registration !== kid) refuse("otherRegistration", "its device set belongs to another record");
    const days = keys.map((jwk) => dayOf(jwk, lives, flight)).sort((left, right) => left.start - right.start);
    if (new Set([kid, ...days.map((day) => day.kid)]).size <= days.length)
      refuse("duplicateKey", "its device set has a key twice, or the record's");
    if (lives.size > days.length) refuse("malformed", "its device set has an entry without a key");
    if (days.some(({ end }, index) => end > (days[index + 1]?.start ?? Infinity)))
      refuse("malformed", "its device set has two keys for one day");
    [this.sequence, this.flight, this.#days] = [seq, flight, days];
  }

  /** The key for a Unix time with the record's psk and R, if there is one. Refuses as `checkKeys`. */
  keyAt(at: number): Key | undefined {
    const day = this.#days.find(({ start, end }) => start <= at && at < end);
    if (day !== undefined && day.kid !== this.#last?.kid) this.#last = this.#keyOf(day);
    return day && this.#last;
  }

  /** Refuses a key as a record would be, and with `wrongKind` one of another suite or with a secret. */
  checkKeys(): void {
    for (const day of this.#days) this.#keyOf(day);
  }

  #keyOf({ kid, jwk }: Day): Key {
    const { kind, psk, publicKey: ofRecord } = this.record;
    const key = reading(`day key ${kid}`, () => readKey(jwk, KINDS));
    if (key.kind === kind && (key.secret ?? key.psk ?? key.deviceSet) === undefined) return { ...key, psk, ofRecord };
    return refuse("wrongKind", `day key ${kid} isn't a public key of suite ${kind.suite} alone`);
  }
}

function dayOf(jwk: unknown, lives: ReadonlyMap<string, ReturnType<typeof LIFE>>, flight: number): Day {
  const { kid } = KID(jwk, "a day key");
  const life = lives.get(kid) ?? refuse("malformed", `day key ${kid} has no times`);
  const { activatesAt: start, retiresAt: end, expiresAt } = life;
  const isOfDays = start % DAY === 0 && end % DAY === 0 && end - start >= DAY && end - start <= 7 * DAY;
  if (isOfDays && expiresAt === end + flight + TOLERANCE) return { kid, jwk, start, end };
  return refuse("malformed", `day key ${kid} isn't for 1 to 7 days, or doesn't expire a flight and 10 minutes later`);
}
