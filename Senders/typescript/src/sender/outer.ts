import { refuse } from "./errors.js";
import { JsonNumber, JsonObject, LONE_SURROGATE } from "./json.js";
import { isVisible, type InnerPayload } from "./payload.js";

/**
 * The readable text, which the device shows if it can't open the push. At least one of `title`, `subtitle`, `body`, `titleLocKey` and
 * `locKey` must have a character that a person can see. Names with `Loc` are of the app's strings, which the device localises.
 */
export interface Placeholder {
  readonly title?: string;
  readonly subtitle?: string;
  readonly body?: string;
  readonly titleLocKey?: string;
  readonly subtitleLocKey?: string;
  readonly locKey?: string;
  readonly titleLocArgs?: readonly string[];
  readonly subtitleLocArgs?: readonly string[];
  readonly locArgs?: readonly string[];
  readonly launchImage?: string;
}

const SUFFICIENT = ["title", "subtitle", "body", "title-loc-key", "loc-key"];
const NAME = /^(?:title|subtitle|body|locKey|titleLocKey|subtitleLocKey|launchImage|(locArgs|titleLocArgs|subtitleLocArgs))$/;

/** The alert of the outer payload, with Apple's names. Refuses with `invalidPlaceholder`. */
export function alertOf(placeholder: Placeholder): Record<string, unknown> {
  const alert: Record<string, unknown> = {};
  for (const [name, value] of Object.entries((placeholder as object | undefined) ?? {}) as [string, unknown][]) {
    const [apple = "", list] = NAME.exec(name) ?? refuse("invalidPlaceholder", "the placeholder has a member of another name");
    const texts: unknown = list === undefined ? [value ?? ""] : value ?? [];
    if (!Array.isArray(texts) || texts.some((text) => typeof text !== "string" || LONE_SURROGATE.test(text))) {
      return refuse("invalidPlaceholder", `${name} isn't ${list === undefined ? "a string" : "an array of strings"} of characters`);
    }
    if (list === undefined ? value : texts.length > 0) alert[apple.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)] = value;
  }
  if (SUFFICIENT.some((name) => isVisible(alert[name]))) return alert;
  return refuse("invalidPlaceholder", "the placeholder has no text that a person can see: without one, iOS doesn't run the extension");
}

/**
 * The outer `aps`: the placeholder, what shows outside by default (PROTOCOL section 2), and members of the inner `aps`, whose names
 * and types the caller has checked.
 */
export function outerAps({ aps }: InnerPayload, alert: object, exposed: readonly string[] = [], isQuiet = false): string {
  const members = [`"alert":${JSON.stringify(alert)}`, '"mutable-content":1'];
  const [content, sound] = [aps.get("content-available"), aps.get("sound") ?? ""];
  const names = new Set(content instanceof JsonNumber && content.text === "1" ? ["content-available", ...exposed] : exposed);
  const isSilent = isQuiet || sound === "" || (sound instanceof JsonObject && sound.size === 0);
  if (!isSilent && !names.has("sound")) members.push('"sound":"default"');
  for (const name of names) members.push(`"${name}":${aps.raw(name)}`);
  return `{${members.join(",")}}`;
}

/** Where the envelope is: the names of it and of the objects around it, from the root. As a text, it is the content of a string. */
export interface Place { readonly path: readonly string[]; readonly isText: boolean }

export const APNS: Place = { path: ["pushcrypt"], isText: false };

/** {"aps": APS, "pushcrypt": {"v": 1, "kid": KID, "sealed": BASE64URL [, "skid": KID]}} around the characters of `sealed`. */
export class Frame {
  readonly #head: string;
  readonly #tail: string;
  /** In bytes, with an empty `sealed`. */
  readonly size: number;

  constructor(aps: string, kid: string, skid: string | undefined, { path, isText }: Place = APNS) {
    const [quote, mark] = isText ? ['\\"', '"'] : ['"', ""];
    const envelope = [`{"v":1,"kid":"${kid}","sealed":"`, skid === undefined ? '"}' : `","skid":"${skid}"}`];
    const [head = "", tail = ""] = envelope.map((part) => part.replaceAll('"', quote));
    this.#head = `{"aps":${aps},${path.map((name) => `"${name}":`).join("{")}${mark}${head}`;
    this.#tail = `${tail}${mark}${"}".repeat(path.length)}`;
    this.size = Buffer.byteLength(this.#head + this.#tail);
  }

  around(sealed: string): Buffer {
    return Buffer.from(this.#head + sealed + this.#tail, "utf8");
  }
}
