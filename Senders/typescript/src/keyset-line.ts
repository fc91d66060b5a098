import { b64, sha256, unb64 } from "./sender/bytes.js";
import { refuse } from "./sender/errors.js";
import { JsonObject, matching, natural, readObject, type Json } from "./sender/json.js";
import { TOPIC } from "./sender/seal.js";
import { MOMENTS, readTime, type KeyUse, type Moments } from "./keyset.js";

// A line of a keyset's log (docs/keyset-log.md). Each function below reads a form of that page, and refuses with `malformed`.

const ACTION = /^(?:created|rotated|imported|revoked|destroyed|policy|secrets|published|restored|clockCorrected)$/;
const TEXT = /^[^\0-\x1f\x7f-\x9f]+$/; // without control characters (Cc)
const EPOCH = /^(?:0|[1-9][0-9]{0,15})$/;
const PERCENT = /^(?:100(?:\.0{1,3})?|[0-9]{1,2}(?:\.[0-9]{1,3})?)$/;
const DURATION = /^P(?=.)(?:([0-9]{1,10})W)?(?:([0-9]{1,10})D)?(?:T(?=.)(?:([0-9]{1,10})H)?(?:([0-9]{1,10})M)?(?:([0-9]{1,10})S)?)?$/;
const UNITS = [604_800, 86_400, 3_600, 60, 1], CENTURY = 36_525 * 86_400; // seconds

type Value = Json | undefined;

/** An object with the `required` members, separated by spaces, and no others than the `optional` ones. */
export function membersOf(value: Value, required: string, optional = ""): JsonObject {
  const known = `${required} ${optional}`.split(" ");
  const isRight = value instanceof JsonObject && required.split(" ").every((name) => name === "" || value.has(name));
  return isRight && [...value.keys()].every((name) => known.includes(name)) ? value : refuse("malformed", "a member is missing or new");
}

export function listOf<T>(value: Value, least: number, most: number, element: (one: Json) => T): T[] {
  const isRight = Array.isArray(value) && value.length >= least && value.length <= most;
  return isRight ? value.map(element) : refuse("malformed", `there isn't an array of ${least} to ${most}`);
}

function entriesOf<T>(value: Value, least: number, element: (one: Json, name: string) => T): Map<string, T> {
  if (!(value instanceof JsonObject) || value.size < least) return refuse("malformed", `there isn't an object of ${least} or more`);
  return new Map([...value].map(([name, one]) => [name, element(one, name)]));
}

const distinct = (texts: string[]): string[] =>
  new Set(texts).size === texts.length ? texts : refuse("malformed", "an array has an element twice");
const bytes = (size: number) => (value: unknown, name = "a value"): string => b64(unb64(value, size, name));
const positive = (value: Value, name: string, most = 2 ** 52): number =>
  natural(value, name, most) || refuse("malformed", `${name} is 0`);
const text = (value: Value, name: string): string =>
  Buffer.byteLength(matching(value, TEXT, name)) <= 256 ? (value as string) : refuse("malformed", `${name} has more than 256 bytes`);
export const secretName = (value: Value): string => matching(value, /^[A-Za-z0-9._-]{1,64}$/, "the name of a secret");

function duration(value: Value, name: string): number {
  const counts = DURATION.exec(matching(value, DURATION, name))?.slice(1) ?? [];
  const seconds = counts.reduce((sum, count = "0", index) => sum + Number(count) * (UNITS[index] ?? 0), 0);
  return seconds <= CENTURY ? seconds : refuse("malformed", `${name} is over 100 years`);
}

/** The number of a line, and its hash in base64url. */
export interface Point { readonly n: number; readonly hash: string }

function readPoint(value: Json, others = ""): Point {
  const point = membersOf(value, `n hash${others}`);
  return { n: positive(point.get("n"), "n"), hash: bytes(32)(point.get("hash"), "hash") };
}

/** What a line says of a key. A moment of null is removed, and undefined isn't said. */
export interface KeyChange {
  readonly jwk: JsonObject | undefined;
  readonly psk: boolean;
  readonly lost: boolean | undefined;
  readonly times: { readonly [Moment in keyof Moments]: number | null };
}

function readKeyChange(value: Json, kid: string): KeyChange {
  unb64(kid, 8, "a kid");
  const change = membersOf(value, "", `jwk psk lost ${MOMENTS.join(" ")}`);
  const [jwk, psk, lost] = [change.get("jwk"), change.get("psk"), change.get("lost")];
  const isRight = (psk === undefined || psk === true) && (lost === undefined || lost === null || lost === true);
  if (!isRight) refuse("malformed", "psk isn't true, or lost is neither true nor null");
  if (jwk !== undefined && !(jwk instanceof JsonObject)) return refuse("malformed", "jwk isn't an object");
  const timeOf = (at: Value, name: string): number | null => (at === null ? null : readTime(at, name));
  const times = MOMENTS.filter((name) => change.has(name)).map((name) => [name, timeOf(change.get(name), name)]);
  const isLost = lost === undefined ? undefined : lost === true;
  return { jwk, psk: psk === true, lost: isLost, times: Object.fromEntries(times) as KeyChange["times"] };
}

function checkPolicy(value: Json): JsonObject {
  const policy = membersOf(value, "rotateEvery publishLead overlap keep", "requireCoverage");
  const [every = 0, lead = 0] = ["rotateEvery", "publishLead", "overlap"].map((name) => duration(policy.get(name), name));
  positive(policy.get("keep"), "keep", 100);
  if (policy.has("requireCoverage")) matching(policy.raw("requireCoverage"), PERCENT, "requireCoverage");
  return every > lead ? policy : refuse("malformed", "rotateEvery isn't longer than publishLead");
}

function checkPublication(value: Json): JsonObject {
  const publication = membersOf(value, "topics validFor");
  distinct(listOf(publication.get("topics"), 1, 16, (topic) => matching(topic, TOPIC, "a topic")));
  duration(publication.get("validFor"), "validFor");
  return publication;
}

function readEpoch(value: Json, name: string): string | null {
  if (!EPOCH.test(name) || !Number.isSafeInteger(Number(name))) refuse("malformed", "an epoch isn't an integer of 0 to 2^53 - 1");
  return value === null ? null : bytes(16)(value);
}

const FORMS = {
  n: positive, at: readTime, who: text, what: (value: Json) => matching(value, ACTION, "what"), prev: bytes(32), why: text, r: bytes(16),
  id: (value: Json) => matching(bytes(16)(value), /^[^-]/, "id"),
  kind: (value: Json) => matching(value, /^(?:recipient|sender|shared|publisher)$/, "kind") as KeyUse,
  keys: (value: Json) => entriesOf(value, 0, readKeyChange), policy: checkPolicy, publication: checkPublication,
  epochs: (value: Json) => entriesOf(value, 0, readEpoch), writer: text,
  secrets: (value: Json) => distinct(listOf(value, 0, 8, secretName)),
  over: (value: Json) => listOf(value, 1, Infinity, (one) => readPoint(one)),
  revoked: (value: Json) => entriesOf(value, 1, (at, kid) => unb64(kid, 8, "a kid") && readTime(at, kid)),
  issuedAt: readTime, validUntil: readTime, epoch: (value: Json) => natural(value, "epoch"),
  publisher: (value: Json) => readPoint(value, " id") && bytes(16)((value as JsonObject).get("id")),
};
type Forms = { readonly [Name in keyof typeof FORMS]: ReturnType<(typeof FORMS)[Name]> };
type Needed = "n" | "at" | "who" | "what" | "prev";

/** A line. Times are Unix seconds, and bytes are in base64url. */
export type Line = Pick<Forms, Needed> & Partial<Omit<Forms, Needed>> & Point;

/** A row: strict JSON without white space outside of strings. */
export function readRow(row: Uint8Array): JsonObject {
  const root = readObject(row);
  const others = root.source.replace(/"(?:[^"\\]|\\.)*"/g, "");
  return /[ \t\r\n]/.test(others) ? refuse("malformed", "it has white space outside of strings") : root;
}

export function readLine(row: Uint8Array): Line {
  const root = membersOf(readRow(row), "n at who what prev", Object.keys(FORMS).join(" "));
  if (root.has("why") !== root.has("r")) refuse("malformed", "why and r aren't together");
  const members = [...root].map(([name, value]) => [name, FORMS[name as keyof Forms](value, name)]);
  return { ...(Object.fromEntries(members) as Line), hash: b64(sha256(row)) };
}
