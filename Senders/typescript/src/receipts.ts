import { ascii, b64, sha256 } from "./sender/bytes.js";
import { reading, refuse } from "./sender/errors.js";
import { anyText, base64, bytes, integer, object, oneOf, text, where } from "./sender/forms.js";
import { decoded, JsonNumber, readObject, type Text } from "./sender/json.js";
import { bytesOf } from "./registration.js";

const MAX_SIZE = 4_096; // bytes
const FORM = /^(?:(?:[^%=&]|%[0-9A-Fa-f]{2})+=(?:[^%=&]|%[0-9A-Fa-f]{2})*(?:&(?!$)|$))+$/;

const kid = base64(8);
const push = where("at most 256 bytes", anyText, (one) => Buffer.byteLength(one) <= 256);
const RECEIPT = object(
  { id: anyText, outcome: text(/^[A-Za-z0-9._-]{1,64}$/), time: integer(0) },
  { push, kid, skid: kid, suppressed: oneOf(true), test: oneOf(true) },
);

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
export const receiptName = (id: string): string => b64(sha256(ascii("pushcrypt/1 receipt\0"), bytes(16)(id, "the id")));

/** Reads the body of a request: JSON, or a form. Refuses with `malformed`. */
export function readReceipt(body: Text): Receipt {
  const given = bytesOf(body);
  return reading("the receipt", () => {
    if (given.length > MAX_SIZE) refuse("malformed", `it has more than ${MAX_SIZE} bytes`);
    const isJson = /^[ \t\r\n]*\{/.test(given.toString("latin1"));
    const receipt = RECEIPT(isJson ? readObject(given) : formOf(given.toString("latin1")), "it");
    const { id, outcome, time, push: pushId, kid, skid, suppressed = false, test = false } = receipt;
    const failure = outcome === "opened" ? undefined : outcome;
    const isRandom = failure !== undefined && id.length === 22;
    bytes(isRandom ? 16 : 32)(isRandom ? id : id.slice(0, 43), "id");
    const name = isRandom ? undefined : id.slice(0, 43);
    const isOfOutcome = isRandom || id === (failure === undefined ? name : `${name}-${failure}`);
    if (!isOfOutcome) refuse("malformed", "id is neither random nor that of the outcome");
    if ((pushId === undefined) !== isRandom) refuse("malformed", "push is missing, or the push wasn't opened");
    if (failure === undefined && (kid ?? skid) !== undefined)
      refuse("malformed", "it names the keys of a push that was restored");
    return { id, name, pushId, failure, time, kid, skid, isSuppressed: suppressed, isSelfTest: test };
  });
}

/** The members of a form: each field once, in UTF-8 (URL Standard, section 5). */
function formOf(form: string): object {
  const fields = text(FORM)(form, "the form")
    .split("&")
    .map((field) => field.split("=").map(unescaped) as [string, string]);
  const members = new Map<string, unknown>(fields);
  if (members.size < fields.length) refuse("malformed", "a field occurs twice");
  const time = members.get("time");
  if (typeof time === "string" && /^(?:0|[1-9][0-9]*)$/.test(time)) members.set("time", new JsonNumber(time));
  for (const flag of ["suppressed", "test"]) if (members.get(flag) === "true") members.set(flag, true);
  return Object.fromEntries(members);
}

function unescaped(field: string): string {
  const bytes = field
    .replaceAll("+", " ")
    .replace(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return decoded(Buffer.from(bytes, "latin1"));
}
