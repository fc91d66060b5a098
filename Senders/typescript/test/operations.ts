import { challenge, Keyset, Pending, PushCryptError, readReceipt, Recipient, Registration, registrationChange, sealAttachment, Sealer } from "../src/index.js";
import { sealOffload, SenderKey, type Placeholder, type SealOptions } from "../src/index.js";
import { JsonNumber, JsonObject, readObject, type Json } from "../src/sender/json.js";

// The operations of the conformance kit (Conformance/README.md).

// A request is made by the kit; the library checks what it gets.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Request = Record<string, any>;

const clockOf = (request: Request) => (): number => request["at"] * 1000;

/** Whether it is a set with times, from which a key is chosen by time. */
const isSet = (text: string): boolean => readObject(text).has("pushcrypt");

function recipientOf({ to, at, device }: Request): Recipient {
  const recipient = isSet(to) ? Recipient.fromKeyset(Keyset.fromJson(to), { at }) : Recipient.fromJwk(to);
  return device === undefined ? recipient : recipient.forDevice(device);
}

function signerOf({ signWith, at }: Request): { signer?: SenderKey } {
  if (signWith === undefined) return {};
  return { signer: isSet(signWith) ? SenderKey.fromKeyset(Keyset.fromJson(signWith), { at }) : SenderKey.fromJwk(signWith) };
}

const sealerOf = (request: Request): Sealer => new Sealer(request["topic"], { ...signerOf(request), clock: clockOf(request) });

/** Apple's names as those of Placeholder. */
const placeholderOf = (alert: Request): Placeholder =>
  Object.fromEntries(Object.entries(alert).map(([name, value]) => [name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()), value]));

const SAME = ["limit", "carrier", "campaign", "retract", "quiet", "badgeAdd", "attachments", "offload", "selfTest", "minimumSuite", "requiresDayKey", "bare"];
const RENAMED: Record<string, string> = { pad: "padding", expires: "expiresAfter", expose: "exposed" };

function seal(request: Request): object {
  const given = Object.entries(request).map(([name, value]) => [RENAMED[name] ?? (SAME.includes(name) ? name : ""), value === "max" ? "limit" : value]);
  const options = Object.fromEntries(given.filter(([name]) => name !== "")) as Partial<SealOptions>;
  const to = recipientOf(request);
  const push = sealerOf(request).seal(request["payload"], { ...options, to, placeholder: placeholderOf(request["placeholder"]) });
  return { payload: push.body.toString(), id: push.id, expiresAt: push.expiresAt, usesLastResortKey: push.usesLastResortKey };
}

function blob({ purpose, plaintext, blob: sealed }: Request): object {
  if (sealed !== undefined) throw new Unsupported("blobs are opened by the app");
  const data = Buffer.from(plaintext, "base64url");
  const made = purpose === "attachment" ? sealAttachment(data) : sealOffload(data);
  const { key, size, sha256 } = made.at("https://example.com/");
  return { blob: made.data.toString("base64url"), reference: { key: key.export().toString("base64url"), size, sha256 } };
}

function keys({ as, text, at }: Request): object {
  if (as === "recipient") return { kids: [Recipient.fromJwk(text).kid] };
  if (as === "signer") return { kids: [SenderKey.fromJwk(text).kid] };
  const keyset = Keyset.fromJson(text);
  if (as === "senders" && keyset.use !== "sender") throw new PushCryptError("wrongKind", "the keys aren't senders'");
  if (at === undefined) return { kids: keyset.kids };
  const states = Object.fromEntries(keyset.states(at));
  return { kids: keyset.kids, states, primary: keyset.kids.find((kid) => states[kid] === "primary") ?? null };
}

function challenged(request: Request): object {
  const registration = new Registration(request["record"], { requiring: request["requiring"] ?? [] });
  const made = challenge(registration, { host: request["host"], topic: request["topic"], ...signerOf(request), clock: clockOf(request) });
  return { challenge: made.json, pending: JSON.parse(made.pending.toJson()) };
}

function confirm(request: Request): object {
  const registration = Pending.fromJson(JSON.stringify(request["pending"])).confirm(request["answer"], { clock: clockOf(request) });
  return { record: registration.record.toString(), kid: registration.kid, suite: registration.recipient.suite };
}

function change({ upload, stored, proven, allowsLowerSuite = false }: Request): object {
  const rowOf = ({ record, ...row }: Request) => ({ registration: new Registration(record, { requiring: [] }), ...(row as { account: string; deviceToken: string }) });
  const { isWritten, removed } = registrationChange(rowOf(upload), { over: stored.map(rowOf), isProven: proven, allowsLowerSuite });
  return { write: isWritten, remove: removed };
}

function receipt({ body }: Request): object {
  const { id, name = null, pushId = null, failure = "opened", time, kid = null, skid = null, isSuppressed, isSelfTest } = readReceipt(body);
  return { receipt: { id, name, push: pushId, outcome: failure, time, kid, skid, suppressed: isSuppressed, test: isSelfTest } };
}

class Unsupported extends Error {}

const OPERATIONS: Record<string, (request: Request) => object> = {
  seal, blob, keys, confirm, change, receipt, challenge: challenged,
  record: ({ record, requiring = [] }) => ({ kid: new Registration(record, { requiring }).kid }),
};

export function answered(request: Request): object {
  try {
    const operation = OPERATIONS[request["op"]];
    return operation === undefined ? { unsupported: request["op"] } : { ok: true, ...operation(request) };
  } catch (error) {
    if (error instanceof Unsupported) return { unsupported: error.message };
    if (!(error instanceof PushCryptError)) throw error; // a defect, which ends the program
    return error.code === "unsupportedSuite" ? { unsupported: "suite 3" } : { failure: error.code };
  }
}

/** A value of the request. JavaScript's numbers don't show whether a size was written as 5 or 5.0, which isn't an integer. */
export function valueOf(json: Json): unknown {
  if (json instanceof JsonObject) return Object.fromEntries([...json].map(([name, value]) => [name, valueOf(value)]));
  if (json instanceof JsonNumber) return /[.eE]/.test(json.text) ? NaN : json.value;
  return Array.isArray(json) ? json.map(valueOf) : json;
}
