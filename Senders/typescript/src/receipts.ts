import { ascii, b64, sha256, unb64 } from "./sender/bytes.js";
import { reading, refuse } from "./sender/errors.js";
import { decoded, JsonNumber, matching, natural, readObject, type Json, type Text } from "./sender/json.js";
import { bytesOf } from "./registration.js";

const MAX_SIZE = 4_096, MAX_PUSH = 256; // bytes
const FORM = /^(?:(?:[^%=&]|%[0-9A-Fa-f]{2})+=(?:[^%=&]|%[0-9A-Fa-f]{2})*(?:&(?!$)|$))+$/;

/** What became of one push (PROTOCOL section 12). Anyone can post a receipt: use them as a statistic. */
export interface Receipt {
  /** The same each time the receipt is sent. */
  readonly id: string;
  /** `receiptName` of the push; undefined if it couldn't be opened. */
  readonly name: string | undefined;
  /** The `push_id` of the payload, or the name; undefined if the push couldn't be opened. */
  readonly pushId: string | undefined;
  /** The class of the failure; undefined if the push was restored completely. */
  readonly failure: string | undefined;
  /** When the push was opened or failed, a Unix time by the device's clock. */
  readonly time: number;
  /** The keys that the push names. Nothing proves them. */
  readonly kid: string | undefined;
  readonly skid: string | undefined;
  readonly isSuppressed: boolean;
  readonly isSelfTest: boolean;
}

/** The name in receipts of a push with this `id`: a server that sees receipts can't retract messages with it. */
export const receiptName = (id: string): string => b64(sha256(ascii("pushcrypt/1 receipt\0"), unb64(id, 16, "the id")));

/** Reads the body of a request: JSON, or a form. Refuses with `malformed`. */
export function readReceipt(body: Text): Receipt {
  const bytes = bytesOf(body);
  return reading("the receipt", () => {
    if (bytes.length > MAX_SIZE) refuse("malformed", `it has more than ${MAX_SIZE} bytes`);
    const isJson = /^[ \t\r\n]*\{/.test(bytes.toString("latin1"));
    return isJson ? receiptOf(readObject(bytes), true) : receiptOf(formOf(bytes.toString("latin1")), "true");
  });
}

function receiptOf(members: ReadonlyMap<string, Json>, flag: Json): Receipt {
  const textOf = (name: string): string | undefined => (members.has(name) ? matching(members.get(name), /^/, name) : undefined);
  const flagOf = (name: string): boolean => members.has(name) && (members.get(name) === flag || refuse("malformed", `${name} isn't true`));
  const [id, outcome] = [textOf("id") ?? "", matching(members.get("outcome"), /^[A-Za-z0-9._-]{1,64}$/, "outcome")];
  const failure = outcome === "opened" ? undefined : outcome;
  const isRandom = failure !== undefined && id.length === 22;
  const name = isRandom ? undefined : b64(unb64(id.slice(0, 43), 32, "id"));
  if (isRandom) unb64(id, 16, "id");
  else if (id !== name + (failure === undefined ? "" : `-${failure}`)) refuse("malformed", "id is neither random nor that of the outcome");
  const [pushId, kid, skid] = ["push", "kid", "skid"].map(textOf);
  const isPush = (pushId === undefined) === isRandom && Buffer.byteLength(pushId ?? "") <= MAX_PUSH;
  if (!isPush) refuse("malformed", "push is missing or too long, or the push wasn't opened");
  for (const key of [kid, skid]) if (key !== undefined) unb64(failure === undefined ? "" : key, 8, "the key id of a push that failed");
  const time = members.get("time");
  const seconds = flag === true || typeof time !== "string" || !/^(?:0|[1-9][0-9]*)$/.test(time) ? time : new JsonNumber(time);
  const [isSuppressed, isSelfTest] = [flagOf("suppressed"), flagOf("test")];
  return { id, name, pushId, failure, time: natural(seconds, "time"), kid, skid, isSuppressed, isSelfTest };
}

/** Each field once, in UTF-8 (URL Standard, section 5). */
function formOf(text: string): ReadonlyMap<string, string> {
  const fields = matching(text, FORM, "a form").split("&").map((field) => field.split("=").map(unescaped) as [string, string]);
  return new Set(fields.map(([name]) => name)).size === fields.length ? new Map(fields) : refuse("malformed", "a field occurs twice");
}

function unescaped(field: string): string {
  const bytes = field.replaceAll("+", " ").replace(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return decoded(Buffer.from(bytes, "latin1"));
}
