import { refuse } from "./sender/errors.js";
import { type JsonObject } from "./sender/json.js";
import { type Alert, type Place } from "./sender/outer.js";
import { type Push } from "./sealer.js";

export type Members = Readonly<Record<string, unknown>>;

/** The way of a push to the device (PROTOCOL section 2). The app names it too: the payload never chooses. */
export type Carrier = "apns" | "rebuilt" | "fcm" | "text" | "expo" | "oneSignal";

interface Way extends Place {
  /** The bytes that client and service add at most. */
  readonly reserved: number;
  /** The fields for members of `aps` and for its literal texts, of a service that writes `aps` itself. */
  readonly fields?: Readonly<Record<string, string>>;
}

const EXPO = {
  title: "title",
  subtitle: "subtitle",
  body: "body",
  sound: "sound",
  badge: "badge",
  category: "categoryId",
  "interruption-level": "interruptionLevel",
  "content-available": "_contentAvailable",
};
const ONESIGNAL = {
  title: "headings",
  subtitle: "subtitle",
  body: "contents",
  sound: "ios_sound",
  badge: "ios_badgeCount",
  category: "ios_category",
  "thread-id": "thread_id",
  "interruption-level": "ios_interruption_level",
  "relevance-score": "ios_relevance_score",
  "target-content-id": "target_content_identifier",
  "content-available": "content_available",
};
const WAYS: Readonly<Record<Carrier, Way>> = {
  apns: { path: ["pushcrypt"], isText: false, reserved: 0 },
  rebuilt: { path: ["pushcrypt"], isText: false, reserved: 64 },
  fcm: { path: ["pushcrypt"], isText: false, reserved: 192 },
  text: { path: ["pushcrypt"], isText: true, reserved: 192 },
  expo: { path: ["body", "pushcrypt"], isText: false, reserved: 192, fields: EXPO },
  oneSignal: { path: ["custom", "a", "pushcrypt"], isText: false, reserved: 128, fields: ONESIGNAL },
};
const TEXTS = ["title", "subtitle", "body"];
const ONESIGNAL_LIFETIME = 28 * 86_400; // seconds

export const CARRIERS = Object.keys(WAYS) as Carrier[];
export const wayOf = (carrier: Carrier): Way => WAYS[carrier];

/** Refuses what the carrier's service has no field for, with `invalidPlaceholder` or `notExposable`. */
export function checkFields(carrier: Carrier, alert: Alert, exposed: readonly string[], aps: JsonObject): void {
  const { fields } = wayOf(carrier);
  if (fields === undefined) return;
  if (![...alert.keys()].every((name) => TEXTS.includes(name)) || (carrier === "oneSignal" && !alert.has("body"))) {
    refuse("invalidPlaceholder", `${carrier} takes title, subtitle and body only; oneSignal needs a body`);
  }
  const isKnown = (name: string): boolean => !TEXTS.includes(name) && Object.hasOwn(fields, name);
  const missing = exposed.find((name) => !isKnown(name) || (name === "sound" && typeof aps.get(name) !== "string"));
  if (missing !== undefined) refuse("notExposable", `the service of ${carrier} has no field for this ${missing}`);
}

/** The request to a carrier's service, without the address of the device and the credentials. */
export function requestOf(push: Push): Members {
  const { carrier, headers: all, payload, expiresAt, sealedAt, isQuiet, collapseId } = push;
  if (carrier === "apns" || carrier === "rebuilt") return { headers: all, body: push.body.toString() };
  const { aps = {}, pushcrypt, body, custom } = payload as Readonly<Record<string, Members>>;
  const { "apns-topic": _, ...headers } = all;
  if (carrier === "fcm") return { message: { apns: { headers, payload } } };
  if (carrier === "text") return { message: { data: { pushcrypt }, apns: { headers, payload: { aps } } } };
  const fields = { ...fieldsOf(carrier, aps), data: carrier === "expo" ? body : custom?.["a"] };
  if (carrier === "expo") {
    return { ...fields, mutableContent: true, priority: isQuiet ? "normal" : "high", expiration: expiresAt };
  }
  return {
    ios_sound: "nil", // otherwise OneSignal adds the default sound
    ...fields,
    mutable_content: true,
    priority: isQuiet ? 5 : 10,
    ttl: Math.min(expiresAt - sealedAt, ONESIGNAL_LIFETIME),
    ...("badge" in aps && { ios_badgeType: "SetTo" }),
    ...(collapseId !== undefined && { collapse_id: collapseId }),
  };
}

/** The fields of a service that writes `aps` itself. */
function fieldsOf(carrier: "expo" | "oneSignal", { alert, ...rest }: Members): Members {
  const fields = wayOf(carrier).fields ?? {};
  const valueOf = (name: string, value: unknown): unknown => {
    if (name === "content-available" || carrier === "expo") return name === "content-available" || value;
    if (name === "interruption-level") return String(value).replace("-", "_");
    return TEXTS.includes(name) ? { en: value } : value;
  };
  const all = Object.entries({ ...rest, ...(alert as Members) }).filter(([name]) => Object.hasOwn(fields, name));
  return Object.fromEntries(all.map(([name, value]) => [fields[name], valueOf(name, value)]));
}
