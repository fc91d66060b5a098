import { reading, refuse } from "./errors.js";
import { anyText, closed, list, where } from "./forms.js";
import { JsonNumber, JsonObject, LONE_SURROGATE } from "./json.js";
import { hasText, type InnerPayload } from "./payload.js";

/**
 * The readable text, which the device shows if it can't open the push. At least one of `title`, `subtitle`, `body`, `titleLocKey`
 * and `locKey` must have a character that a person can see. Names with `Loc` are of the app's strings, which the device localises.
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

const TEXT = where("text without a lone surrogate", anyText, (text) => !LONE_SURROGATE.test(text));
const NAMES = "title subtitle body title-loc-key subtitle-loc-key loc-key launch-image".split(" ");
const LISTS = "title-loc-args subtitle-loc-args loc-args".split(" ");
/** Apple's names of the members. */
const APPLE = new Map(
  [...NAMES, ...LISTS].map((name) => [name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()), name]),
);
const FORMS = [...APPLE].map(([name, apple]) => [name, LISTS.includes(apple) ? list(TEXT) : TEXT] as const);
const PLACEHOLDER = closed({}, Object.fromEntries(FORMS));

/** An alert with Apple's names. */
export type Alert = Map<string, string | readonly string[]>;

/** The alert of the outer payload. Refuses with `invalidPlaceholder`. */
export function alertOf(placeholder: unknown): Alert {
  const given = reading("it", () => PLACEHOLDER(placeholder, "the placeholder"), { malformed: "invalidPlaceholder" });
  const alert: Alert = new Map();
  for (const [name, value = ""] of Object.entries(given))
    if (value.length > 0) alert.set(APPLE.get(name) ?? name, value);
  if (hasText(alert)) return alert;
  return refuse("invalidPlaceholder", "it has no text that a person can see, and iOS runs the extension only for one");
}

/**
 * The outer `aps`: the placeholder, what shows outside by default (PROTOCOL section 2), and members of the inner `aps`, whose names
 * and types the caller has checked.
 */
export function outerAps({ aps }: InnerPayload, alert: Alert, exposed: readonly string[], isQuiet: boolean): string {
  const members = [`"alert":${JSON.stringify(Object.fromEntries(alert))}`, '"mutable-content":1'];
  const [content, sound] = [aps.get("content-available"), aps.get("sound") ?? ""];
  const isContent = content instanceof JsonNumber && content.text === "1";
  const names = new Set(isContent ? ["content-available", ...exposed] : exposed);
  const isSilent = isQuiet || sound === "" || (sound instanceof JsonObject && sound.size === 0);
  if (!isSilent && !names.has("sound")) members.push('"sound":"default"');
  for (const name of names) members.push(`"${name}":${aps.raw(name)}`);
  return `{${members.join(",")}}`;
}

/** Where the envelope is: the names of it and of the objects around it, from the root. As a text, it is the content of a string. */
export interface Place {
  readonly path: readonly string[];
  readonly isText: boolean;
}

/** What is before and behind `sealed` in {"aps": APS, "pushcrypt": {"v": 1, "kid": KID, "sealed": BASE64URL [, "skid": KID]}}. */
export function frameOf(aps: string, kid: string, skid: string | undefined, { path, isText }: Place) {
  const [head, tail] = [`{"v":1,"kid":"${kid}","sealed":"`, skid === undefined ? '"}' : `","skid":"${skid}"}`];
  const inPlace = (part: string): string => (isText ? part.replaceAll('"', '\\"') : part);
  const mark = isText ? '"' : "";
  const before = path.map((name) => `"${name}":`).join("{");
  return [
    `{"aps":${aps},${before}${mark}${inPlace(head)}`,
    `${inPlace(tail)}${mark}${"}".repeat(path.length)}`,
  ] as const;
}
