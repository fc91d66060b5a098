import { b64, sha256 } from "./sender/bytes.js";
import { reading, refuse } from "./sender/errors.js";
import { anything, anyText, base64, bytes, closed, distinct, entries, type Form } from "./sender/forms.js";
import { integer, list, nullable, oneOf, text, where } from "./sender/forms.js";
import { JsonNumber, JsonObject, readObject } from "./sender/json.js";
import { readKey, recordOf, type Key, type KeyUse } from "./sender/key.js";
import { TOPIC } from "./sender/seal.js";
import { momentsOf, time, type Moments } from "./keyset.js";
import { KINDS } from "./suites.js";

// The forms of docs/keyset-log.md, with its names.

const ACTION = /^(?:created|rotated|imported|revoked|destroyed|policy|secrets|published|restored|clockCorrected)$/;
const PERCENT = /^(?:100(?:\.0{1,3})?|[0-9]{1,2}(?:\.[0-9]{1,3})?)$/;
const COUNTS =
  "(?:([0-9]{1,10})W)?(?:([0-9]{1,10})D)?(?:T(?=.)(?:([0-9]{1,10})H)?(?:([0-9]{1,10})M)?(?:([0-9]{1,10})S)?)?";
const DURATION = new RegExp(`^P(?=.)${COUNTS}$`);
const UNITS = [604_800, 86_400, 3_600, 60, 1]; // seconds
const CENTURY = 36_525 * 86_400;
const MAX_VALIDITY = 90 * 86_400;

const number = integer(1, 2 ** 52);
const label = where("at most 256 bytes", text(/^[^\0-\x1f\x7f-\x9f]+$/), (one) => Buffer.byteLength(one) <= 256);
const isEpoch = (name: string): boolean => /^(?:0|[1-9][0-9]{0,15})$/.test(name) && Number.isSafeInteger(Number(name));
const point = closed({ n: number, hash: base64(32) });

const duration: Form<number> = (value, name) => {
  const counts = DURATION.exec(anyText(value, name))?.slice(1) ?? refuse("malformed", `${name} isn't a duration`);
  const seconds = counts.reduce((sum, count = "0", index) => sum + Number(count) * (UNITS[index] ?? 0), 0);
  return seconds <= CENTURY ? seconds : refuse("malformed", `${name} is over 100 years`);
};

const jwkForm = where("an object", anything, (jwk) => jwk instanceof JsonObject);
const isTrue = oneOf(true);
const keyChange = closed({}, { jwk: jwkForm, psk: isTrue, lost: nullable(isTrue), ...momentsOf(nullable(time)) });
const percent = where("a percentage", anything, (one) => one instanceof JsonNumber && PERCENT.test(one.text));
const policy = where(
  "of keys that are replaced later than they are published",
  closed(
    { rotateEvery: duration, publishLead: duration, overlap: duration, keep: integer(1, 100) },
    { requireCoverage: percent },
  ),
  ({ rotateEvery, publishLead }) => rotateEvery > publishLead,
);
const lineForm = closed(
  { n: number, at: time, who: label, what: text(ACTION), prev: base64(32) },
  {
    why: label,
    r: bytes(16),
    id: where("an id", base64(16), (id) => !id.startsWith("-")),
    kind: oneOf<KeyUse>("recipient", "sender", "shared", "publisher"),
    keys: entries(base64(8), keyChange),
    policy,
    publication: closed({ topics: distinct(text(TOPIC), 1, 16), validFor: duration }),
    epochs: entries(where("an epoch", anyText, isEpoch), nullable(bytes(16))),
    writer: label,
    secrets: distinct(text(/^[A-Za-z0-9._-]{1,64}$/), 0, 8),
    over: list(point, 1),
    revoked: entries(base64(8), time, 1),
    issuedAt: time,
    validUntil: time,
    epoch: integer(0),
    publisher: closed({ id: bytes(16), n: number, hash: bytes(32) }),
  },
);

const readLine = where("a line with why and r together or not at all", lineForm, ({ why, r }) => !why === !r);

/** The number of a line, and its hash in base64url. */
export type Point = ReturnType<typeof point>;
/** A line of a log. Times are Unix seconds. */
export type Line = ReturnType<typeof readLine> & Point;

/** The members that only lines of one action have. `issuedAt` is in both. */
const OF_PUBLISHED = ["issuedAt", "epoch", "validUntil", "publisher"] as const;
const OF_RESTORED = ["issuedAt", "over", "revoked"] as const;

/** A row: strict JSON without white space outside of strings. */
export function readRow(row: Uint8Array): JsonObject {
  const root = readObject(row);
  const others = root.source.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, "");
  return /[ \t\r\n]/.test(others) ? refuse("malformed", "it has white space outside of strings") : root;
}

/** A key record without members that key records don't have. */
export function readExactly(jwk: unknown, isChecked: boolean): Key {
  const codes = { unsupportedKey: "malformed", invalidKey: "malformed", invalidDeviceID: "malformed" } as const;
  const kidMismatch = isChecked ? "malformed" : "kidMismatch";
  const key = reading("a JWK", () => readKey(jwk, KINDS, isChecked), { ...codes, kidMismatch });
  const isExact = [...(jwk as JsonObject).keys()].every((name) => Object.hasOwn(recordOf(key), name));
  return isExact ? key : refuse("malformed", `the JWK of key ${key.kid} has a member that key records don't have`);
}

/** A key of a log. */
export interface LoggedKey {
  /** Undefined for a shared key. It isn't checked to be one of its curve, because this Node may lack its suite. */
  readonly key: Key | undefined;
  readonly psk: boolean;
  /** Whether no file has the key's material. */
  readonly lost: boolean;
  readonly times: Moments;
}

/** A key that a line names for the first time, without its times. */
function newKey(kid: string, jwk: unknown, psk: boolean, kind: KeyUse): LoggedKey {
  if (psk && kind !== "recipient") refuse("misplaced", "only a recipient's key has a psk");
  const key = jwk === undefined ? undefined : readExactly(jwk, false);
  if ((key?.secret ?? key?.psk) !== undefined) refuse("malformed", `the jwk of key ${kid} has a secret`);
  if ((key === undefined) !== (kind === "shared"))
    refuse("misplaced", `key ${kid} has no jwk, or it is shared and has one`);
  if (key !== undefined && key.use !== kind) refuse("wrongKind", `key ${kid} isn't a ${kind}'s`);
  if (key !== undefined && key.kid !== kid) refuse("kidMismatch", `the jwk of key ${kid} has the kid ${key.kid}`);
  return { key, psk, lost: false, times: {} };
}

/** What the log of a keyset says (docs/keyset-log.md). */
export class KeysetLog {
  readonly lines: Line[] = [];
  readonly keys = new Map<string, LoggedKey>();
  id = "";
  kind: KeyUse = "sender";
  /** The names of the secrets that open the keys. */
  secrets: readonly string[] = [];
  readonly #epochs = new Set<string>();
  readonly #revokedElsewhere = new Set<string>();
  #issuedAt = -Infinity;

  /** @internal Reads the lines, without the last row. */
  constructor(rows: readonly Uint8Array[]) {
    if (rows.length === 0) refuse("incomplete", "there is no line", { row: 0 });
    const read = (row: Uint8Array): Line => ({
      ...readLine(readRow(row), "the line"),
      hash: b64(sha256(Buffer.from(row))),
    });
    rows.forEach((row, index) => reading(`row ${index + 1}`, () => this.#add(read(row)), {}, index + 1));
  }

  /** The last line. Store its number and hash, and pass them as `seen`. */
  get head(): Line {
    return this.lines[this.lines.length - 1] as Line;
  }

  /** The points of its lines, each followed by those that the line gives up. */
  get points(): Point[] {
    return this.lines.flatMap(({ n, hash, over = [] }) => [{ n, hash }, ...over]);
  }

  /** Whether the log goes on from a point. */
  extends({ n, hash }: Point): boolean {
    return this.points.some((point) => point.n === n && point.hash === hash);
  }

  /** @internal Whether a line revokes a key, which may be one that the log never had. */
  isRevoked(kid: string): boolean {
    return this.#revokedElsewhere.has(kid) || this.keys.get(kid)?.times.revokedAt !== undefined;
  }

  #add(line: Line): void {
    const last = this.lines.length > 0 ? this.head : { n: 0, hash: "A".repeat(43), at: -Infinity };
    const isNext = line.n === last.n + 1 || (line.what === "restored" && line.n > last.n);
    if (!isNext) refuse("wrongNumber", `the line before has the number ${last.n}`);
    if (line.prev !== last.hash) refuse("brokenChain", "prev isn't the hash of the line before");
    if (line.at < last.at && line.what !== "clockCorrected")
      refuse("timeWentBack", "at is before that of the line before");
    const isFirst = last.n === 0;
    if ((line.what === "created") !== isFirst || (!isFirst && (line.id ?? line.kind) !== undefined)) {
      refuse("misplaced", "only line 1 is created, with id and kind");
    }
    if (isFirst && (!line.id || !line.kind)) refuse("malformed", "line 1 has no id or no kind");
    this.id = line.id ?? this.id;
    this.kind = line.kind ?? this.kind;
    this.#checkPlaces(line);
    for (const [kid, change] of line.keys ?? []) this.#changeKey(kid, change);
    for (const kid of line.revoked?.keys() ?? []) {
      if (this.keys.has(kid)) refuse("misplaced", `the log has key ${kid}: revoked names only keys that it never had`);
      this.#revokedElsewhere.add(kid);
    }
    this.secrets = line.secrets ?? this.secrets;
    for (const [epoch, id] of line.epochs ?? []) this.#epochs[id === null ? "delete" : "add"](epoch);
    this.#checkPublication(line);
    this.lines.push(line);
  }

  #checkPlaces(line: Line): void {
    const own: readonly (keyof Line)[] =
      line.what === "published" ? OF_PUBLISHED : line.what === "restored" ? OF_RESTORED : [];
    const wrong = [...OF_PUBLISHED, ...OF_RESTORED].find((name) => line[name] !== undefined && !own.includes(name));
    if (wrong !== undefined) refuse("misplaced", `a line ${line.what} can't have ${wrong}`);
    const isOfSender = line.publication !== undefined || (line.epochs?.size ?? 0) > 0;
    if ((isOfSender && this.kind !== "sender") || (line.policy !== undefined && this.kind === "publisher")) {
      refuse("misplaced", "a keyset of this kind has no publication, epochs or policy");
    }
  }

  #changeKey(kid: string, { jwk, psk, lost, ...moments }: ReturnType<typeof keyChange>): void {
    const known = this.keys.get(kid);
    if (known === undefined ? this.#revokedElsewhere.has(kid) : jwk !== undefined || psk !== undefined) {
      refuse("misplaced", `key ${kid} is known and gets no jwk and no psk, or it was revoked before it was added`);
    }
    const key = known ?? newKey(kid, jwk, psk === true, this.kind);
    const { revokedAt, destroyedAt } = key.times; // no line changes these moments
    const final = { ...(revokedAt !== undefined && { revokedAt }), ...(destroyedAt !== undefined && { destroyedAt }) };
    const times = Object.entries({ ...key.times, ...moments, ...final }).filter(([, at]) => at !== null);
    this.keys.set(kid, {
      ...key,
      lost: lost === undefined ? key.lost : lost === true,
      times: Object.fromEntries(times),
    });
  }

  #checkPublication({ what, issuedAt, epoch, validUntil, publisher }: Line): void {
    const isWhole =
      (what !== "published" || issuedAt !== undefined) && (epoch === undefined) === (validUntil === undefined);
    if (!isWhole || (publisher !== undefined && epoch === undefined)) {
      refuse("malformed", "issuedAt, epoch or validUntil is missing");
    }
    if (issuedAt === undefined) return;
    if (issuedAt < this.#issuedAt) refuse("timeWentBack", "issuedAt is before an earlier one");
    if (epoch !== undefined && !this.#epochs.has(String(epoch)))
      refuse("unknownEpoch", `${epoch} isn't one of the epochs`);
    const validity = (validUntil ?? issuedAt + 1) - issuedAt;
    if (validity <= 0 || validity > MAX_VALIDITY) refuse("malformed", "validUntil isn't within 90 days after issuedAt");
    this.#issuedAt = issuedAt;
  }
}
