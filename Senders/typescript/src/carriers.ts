import { refuse } from "./sender/errors.js";
import { JsonNumber, JsonObject, readObject, type Json } from "./sender/json.js";
import { APNS, type Place } from "./sender/outer.js";

type Members = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, string>>;

/** The requests to the services of the carriers, without the address of the device and the credentials. */
export interface CarrierRequests {
  /** To APNs itself; `rebuilt` to clients that write the JSON again. */
  readonly apns: { readonly headers: Headers; readonly body: string };
  readonly rebuilt: CarrierRequests["apns"];
  /** To FCM v1, without `token`. Other services whose custom values are strings take `message.data.pushcrypt` of `text`. */
  readonly fcm: { readonly message: { readonly apns: { readonly headers: Headers; readonly payload: Members } } };
  readonly text: { readonly message: CarrierRequests["fcm"]["message"] & { readonly data: { readonly pushcrypt: string } } };
  /** Messages of Expo, without `to`, and of OneSignal, without `app_id` and the recipients. */
  readonly expo: Members;
  readonly oneSignal: Members;
}

/** The way of a push to the device (PROTOCOL section 2). The app names it too: the payload never chooses. */
export type Carrier = keyof CarrierRequests;

interface Way {
  readonly place: Place;
  /** The bytes that client and service add at most. */
  readonly reserved: number;
  /** The fields for members of `aps` and for its literal texts, of a service that writes `aps` itself. */
  readonly fields?: Readonly<Record<string, string>>;
}

const WAYS: Readonly<Record<Carrier, Way>> = {
  apns: { place: APNS, reserved: 0 },
  rebuilt: { place: APNS, reserved: 64 },
  fcm: { place: APNS, reserved: 192 },
  text: { place: { ...APNS, isText: true }, reserved: 192 },
  expo: {
    place: { path: ["body", "pushcrypt"], isText: false }, reserved: 192,
    fields: {
      title: "title", subtitle: "subtitle", body: "body", sound: "sound", badge: "badge", category: "categoryId",
      "interruption-level": "interruptionLevel", "content-available": "_contentAvailable",
    },
  },
  oneSignal: {
    place: { path: ["custom", "a", "pushcrypt"], isText: false }, reserved: 128,
    fields: {
      title: "headings", subtitle: "subtitle", body: "contents", sound: "ios_sound", badge: "ios_badgeCount", category: "ios_category",
      "thread-id": "thread_id", "interruption-level": "ios_interruption_level", "relevance-score": "ios_relevance_score",
      "target-content-id": "target_content_identifier", "content-available": "content_available",
    },
  },
};
const TEXTS = ["title", "subtitle", "body"];
const ONESIGNAL_LIFETIME = 28 * 86_400; // seconds

export function wayOf(carrier: Carrier): Way {
  return Object.hasOwn(WAYS, carrier) ? WAYS[carrier] : refuse("invalidOption", `carrier isn't one of ${Object.keys(WAYS).join(", ")}`);
}

/** Refuses what the carrier's service has no field for, with `invalidPlaceholder` or `notExposable`. */
export function checkFields(carrier: Carrier, alert: Members, exposed: readonly string[], aps: JsonObject): void {
  const { fields } = wayOf(carrier);
  if (fields === undefined) return;
  const isLiteral = Object.keys(alert).every((name) => TEXTS.includes(name)) && (carrier === "expo" || "body" in alert);
  if (!isLiteral) refuse("invalidPlaceholder", `${carrier} takes title, subtitle and body only; oneSignal needs a body`);
  const isKnown = (name: string): boolean => !TEXTS.includes(name) && Object.hasOwn(fields, name);
  const missing = exposed.find((name) => !isKnown(name) || (name === "sound" && typeof aps.get(name) !== "string"));
  if (missing !== undefined) refuse("notExposable", `the service of ${carrier} has no field for this ${missing}`);
}

/** The value of a text. */
export const valueOf = (text: string | Uint8Array): Members => plain(readObject(text)) as Members;

function plain(json: Json): unknown {
  if (json instanceof JsonObject) return Object.fromEntries([...json].map(([name, value]) => [name, plain(value)]));
  return json instanceof JsonNumber ? json.value : Array.isArray(json) ? json.map(plain) : json;
}

/** What a request says beside the payload. */
export interface Delivery {
  readonly headers: Headers;
  readonly sealedAt: number;
  readonly expiresAt: number;
  readonly quiet: boolean;
  readonly collapseId: string | undefined;
}

export function requestOf(carrier: Carrier, body: string, delivery: Delivery): CarrierRequests[Carrier] {
  const { headers: all, expiresAt, sealedAt, quiet, collapseId } = delivery;
  if (carrier === "apns" || carrier === "rebuilt") return { headers: all, body };
  const payload = valueOf(body) as { readonly aps: Members } & Readonly<Record<"pushcrypt" | "body" | "custom", never>>;
  const { "apns-topic": _, ...headers } = all;
  if (carrier === "fcm") return { message: { apns: { headers, payload } } };
  if (carrier === "text") return { message: { data: { pushcrypt: payload.pushcrypt }, apns: { headers, payload: { aps: payload.aps } } } };
  const fields = fieldsOf(carrier, payload.aps);
  if (carrier === "expo") {
    return { ...fields, mutableContent: true, data: payload.body, priority: quiet ? "normal" : "high", expiration: expiresAt };
  }
  return {
    ios_sound: "nil", // otherwise OneSignal adds the default sound
    ...fields, mutable_content: true, data: payload.custom["a"], priority: quiet ? 5 : 10,
    ttl: Math.min(expiresAt - sealedAt, ONESIGNAL_LIFETIME),
    ...("badge" in payload.aps && { ios_badgeType: "SetTo" }), ...(collapseId !== undefined && { collapse_id: collapseId }),
  };
}

/** The fields of a service that writes `aps` itself. */
function fieldsOf(carrier: "expo" | "oneSignal", { alert, ...rest }: Members): Members {
  const found = Object.entries({ ...rest, ...(alert as Members) }).flatMap(([name, value]) => {
    const field = wayOf(carrier).fields?.[name];
    if (field === undefined) return [];
    if (name === "content-available" || carrier === "expo") return [[field, name === "content-available" || value]];
    return [[field, TEXTS.includes(name) ? { en: value } : name === "interruption-level" ? String(value).replace("-", "_") : value]];
  });
  return Object.fromEntries(found) as Members;
}
