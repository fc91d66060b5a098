import { reading, refuse } from "./sender/errors.js";
import { JsonObject, type Json } from "./sender/json.js";
import { memberNames, readKey, type Key } from "./sender/key.js";
import { useOf, type KeyUse, type Moments } from "./keyset.js";
import { readLine, type KeyChange, type Line, type Point } from "./keyset-line.js";
import { KINDS } from "./suites.js";

const FINAL = ["revokedAt", "destroyedAt"]; // no line changes these moments
const LONGEST_VALIDITY = 90 * 86_400; // seconds
/** The actions of the lines that can have a member. */
const PLACES = {
  issuedAt: /published|restored/, over: /restored/, revoked: /restored/,
  epoch: /published/, validUntil: /published/, publisher: /published/,
};

/** A key of a log. */
export interface LoggedKey {
  /** Undefined for a shared key. It isn't checked to be one of its curve, because this Node may lack its suite. */
  readonly key: Key | undefined;
  readonly psk: boolean;
  /** Whether no file has the key's material. */
  readonly lost: boolean;
  readonly times: Moments;
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
    rows.forEach((row, index) => reading(`row ${index + 1}`, () => this.#add(readLine(row)), {}, { row: index + 1 }));
  }

  /** The last line. Store its number and hash, and pass them as `seen`. */
  get head(): Line { return this.lines[this.lines.length - 1] as Line; }

  /** The points of its lines, each followed by those that the line gives up. */
  get points(): Point[] { return this.lines.flatMap(({ n, hash, over = [] }) => [{ n, hash }, ...over]); }

  /** Whether the log goes on from a point. */
  extends({ n, hash }: Point): boolean {
    return this.points.some((point) => point.n === n && point.hash === hash);
  }

  #add(line: Line): void {
    const last = this.lines.length > 0 ? this.head : { n: 0, hash: "A".repeat(43), at: -Infinity };
    const isNext = line.n === last.n + 1 || (line.what === "restored" && line.n > last.n);
    if (!isNext) refuse("wrongNumber", `the line before has the number ${last.n}`);
    if (line.prev !== last.hash) refuse("brokenChain", "prev isn't the hash of the line before");
    if (line.at < last.at && line.what !== "clockCorrected") refuse("timeWentBack", "at is before that of the line before");
    const isFirst = last.n === 0;
    const isMisplaced = (line.what === "created") !== isFirst || (!isFirst && (line.id ?? line.kind) !== undefined);
    if (isMisplaced) refuse("misplaced", "only line 1 is created, with id and kind");
    if (isFirst && (!line.id || !line.kind)) refuse("malformed", "line 1 has no id or no kind");
    [this.id, this.kind] = [line.id ?? this.id, line.kind ?? this.kind];
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
    const names = Object.keys(PLACES) as (keyof typeof PLACES)[];
    const wrong = names.find((name) => line[name] !== undefined && !PLACES[name].test(line.what));
    if (wrong !== undefined) refuse("misplaced", `a line ${line.what} can't have ${wrong}`);
    const isOfSender = line.publication !== undefined || (line.epochs?.size ?? 0) > 0;
    if ((isOfSender && this.kind !== "sender") || (line.policy !== undefined && this.kind === "publisher")) {
      refuse("misplaced", "a keyset of this kind has no publication, epochs or policy");
    }
  }

  #changeKey(kid: string, change: KeyChange): void {
    const known = this.keys.get(kid);
    if (known !== undefined ? change.jwk !== undefined || change.psk : this.#revokedElsewhere.has(kid)) {
      refuse("misplaced", `key ${kid} is known and gets no jwk and no psk, or it was revoked before it was added`);
    }
    const key = known ?? newKey(kid, change, this.kind);
    const final = Object.entries(key.times).filter(([moment]) => FINAL.includes(moment));
    const times = Object.entries({ ...key.times, ...change.times, ...Object.fromEntries(final) }).filter(([, at]) => at !== null);
    this.keys.set(kid, { ...key, lost: change.lost ?? key.lost, times: Object.fromEntries(times) as Moments });
  }

  #checkPublication({ what, issuedAt, epoch, validUntil, publisher }: Line): void {
    const isWhole = (what !== "published" || issuedAt !== undefined) && (epoch === undefined) === (validUntil === undefined);
    if (!isWhole || (publisher !== undefined && epoch === undefined)) refuse("malformed", "issuedAt, epoch or validUntil is missing");
    if (issuedAt === undefined) return;
    if (issuedAt < this.#issuedAt) refuse("timeWentBack", "issuedAt is before an earlier one");
    if (epoch !== undefined && !this.#epochs.has(String(epoch))) refuse("unknownEpoch", `${epoch} isn't one of the epochs`);
    const validity = (validUntil ?? issuedAt + 1) - issuedAt;
    if (validity <= 0 || validity > LONGEST_VALIDITY) refuse("malformed", "validUntil isn't within 90 days after issuedAt");
    this.#issuedAt = issuedAt;
  }
}

/** A key that a line names for the first time, without its times. */
function newKey(kid: string, { jwk, psk }: KeyChange, kind: KeyUse): LoggedKey {
  if (psk && kind !== "recipient") refuse("misplaced", "only a recipient's key has a psk");
  const key = jwk === undefined ? undefined : readExactly(jwk, false);
  if ((key?.secret ?? key?.psk) !== undefined) refuse("malformed", `the jwk of key ${kid} has a secret`);
  if ((key === undefined) !== (kind === "shared")) refuse("misplaced", `key ${kid} is new and has no jwk, or it is shared and has one`);
  if (key !== undefined && useOf(key) !== kind) refuse("wrongKind", `key ${kid} isn't a ${kind}'s`);
  if (key !== undefined && key.kid !== kid) refuse("kidMismatch", `the jwk of key ${kid} has the kid ${key.kid}`);
  return { key, psk, lost: false, times: {} };
}

/** A key record without members that key records don't have. */
export function readExactly(jwk: Json, isChecked: boolean): Key {
  const codes = { unsupportedKey: "malformed", invalidKey: "malformed", invalidDeviceID: "malformed" } as const;
  const kidMismatch = isChecked ? "malformed" : "kidMismatch";
  const key = reading("a JWK", () => readKey(jwk, KINDS, isChecked), { ...codes, kidMismatch });
  const isExact = [...(jwk as JsonObject).keys()].every((name) => memberNames(key).includes(name));
  return isExact ? key : refuse("malformed", `the JWK of key ${key.kid} has a member that key records don't have`);
}
