import { refuse } from "./errors.js";
import { JsonObject, readObject, textOf, type Text } from "./json.js";

export const MAX_PAYLOAD = 262_144; // bytes, without the padding
const MAX_VALUES = 16_384;
const TEXTS = ["title", "subtitle", "body", "loc-key", "title-loc-key"];

/** The ranges of PROTOCOL section 2, "Visible text": a closed list, which doesn't depend on a version of Unicode. */
const RANGES =
  "0-20 7f-a0 ad 34f 61c 115f-1160 1680 17b4-17b5 180b-180f 2000-200f 2028-202f 205f-206f 2800 3000 3164 fdd0-fdef " +
  "fe00-fe0f feff ffa0 fff0-fffc 13430-1343f 16fe4 1bca0-1bca3 1d159 1d173-1d17a e0000-e0fff";
const CLASS = RANGES.replace(/[0-9a-f]+/g, "\\u{$&}").replaceAll(" ", "");
const NONCHARACTERS = Array.from(
  { length: 17 },
  (_, plane) => `\\u{${plane.toString(16)}fffe}\\u{${plane.toString(16)}ffff}`,
);
const INVISIBLE = new RegExp(`^[${CLASS}${NONCHARACTERS.join("")}]*$`, "u");

/** Whether it is a string with a character that a person can see. */
export const isVisible = (text: unknown): boolean => typeof text === "string" && !INVISIBLE.test(text);

/** Whether an alert has a text that a person can see. Without one, iOS doesn't run the extension. */
export const hasText = (alert: unknown): boolean =>
  alert instanceof Map ? TEXTS.some((name) => isVisible(alert.get(name))) : isVisible(alert);

/** A notification as APNs takes it: a JSON text, which is sealed byte for byte, or the value of one. */
export type PayloadText = Text | Readonly<Record<string, unknown>>;

/** An inner payload (PROTOCOL section 5). */
export type InnerPayload = Readonly<Record<"root" | "aps", JsonObject>>;

/** Refuses with `malformed` what no recipient shows, and what would be sealed in vain. */
export function readPayload(payload: PayloadText): InnerPayload {
  const text = textOf(payload);
  if (Buffer.byteLength(text) - spacesBehind(text) > MAX_PAYLOAD)
    refuse("malformed", `it has more than ${MAX_PAYLOAD} bytes`);
  const root = readObject(text, undefined, MAX_VALUES);
  const aps = root.get("aps");
  if (!(aps instanceof JsonObject) || !hasText(aps.get("alert"))) {
    return refuse("malformed", "its aps has no alert with a text that a person can see");
  }
  if (root.has("pushcrypt")) refuse("malformed", "it already has a pushcrypt member");
  const isActivity = ["content-state", "attributes", "attributes-type"].some(
    (name) => (aps.get(name) ?? null) !== null,
  );
  if (isActivity || (["start", "update", "end"] as unknown[]).includes(aps.get("event"))) {
    refuse(
      "malformed",
      "it is that of a Live Activity, for which iOS runs no extension: send it without private content",
    );
  }
  return { root, aps };
}

/** The spaces at the end, which are padding. */
export function spacesBehind(text: Text): number {
  let end = text.length;
  while (text[end - 1] === " " || text[end - 1] === 0x20) end -= 1;
  return text.length - end;
}

/** {"id": base64url of 16 bytes, "iat": seconds, "exp": seconds [, EXTRAS]} */
export interface Header {
  readonly id: string;
  readonly iat: number;
  readonly exp: number;
  readonly [extra: string]: unknown;
}

/** The message without padding: the header is the last member of the root, and no other byte changes. */
export function messageOf({ root: { source, spans } }: InnerPayload, header: Header): string {
  const end = Math.max(...Array.from(spans.values(), ([, its]) => its));
  return `${source.slice(0, end)},"pushcrypt":${JSON.stringify(header)}${source.slice(end)}`;
}
