import { refuse } from "./errors.js";

export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;
/** A JSON text as it came. */
export type Text = string | Uint8Array;

const MAX_DEPTH = 64; // the root is depth 1
const MAX_BYTES = 4 * 2 ** 20;
const SPACE = /[ \t\n\r]*/y;
const STRING = /"[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\0-\x1f]*)*"/y;
const SCALAR = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPE = /\\(?:u(....)|(.))/g;
const SHORT: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
export const LONE_SURROGATE = /[\ud800-\udfff]/u; // with the flag u, a pair is one character

/** A number as its token: to convert it could change it. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) { this.text = text; }

  get value(): number { return Number(this.text); }

  /** The integer of 0 to 2^53 - 1, if the token has no sign, fraction and exponent. */
  get natural(): number | undefined {
    return /^[0-9]{1,16}$/.test(this.text) && Number.isSafeInteger(this.value) ? this.value : undefined;
  }
}

/** An object, whose members know their text. */
export class JsonObject extends Map<string, Json> {
  /** The whole text that the object is a part of. */
  readonly source: string;
  /** The indexes in the source at which values start and end. */
  readonly spans = new Map<string, readonly [start: number, end: number]>();

  constructor(source: string) {
    super();
    this.source = source;
  }

  /** The text of a member's value. */
  raw(name: string): string {
    return this.source.slice(...(this.spans.get(name) ?? [0, 0]));
  }
}

/**
 * Reads strict JSON (PROTOCOL section 2) whose root is an object. Refuses as `malformed`: two members of one name, compared unescaped;
 * invalid UTF-8, a byte order mark, a lone surrogate; a depth over 64; more than white space behind the root; what is over the limits.
 */
export function readObject(text: Text, maxBytes = MAX_BYTES, maxValues = Infinity): JsonObject {
  if (Buffer.byteLength(text) > maxBytes) return refuse("malformed", `it has more than ${maxBytes} bytes`);
  const root = new Reader(typeof text === "string" ? text : decoded(text), maxValues).root();
  return root instanceof JsonObject ? root : refuse("malformed", "the root isn't a JSON object");
}

/** The text of UTF-8. A byte order mark stays in it, and is no JSON. */
export function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse("malformed", "it isn't UTF-8");
  }
}

class Reader {
  readonly #text: string;
  #valuesLeft: number;
  #at = 0;

  constructor(text: string, maxValues: number) {
    [this.#text, this.#valuesLeft] = [text, maxValues];
    if (LONE_SURROGATE.test(text)) this.#fail("there is a lone surrogate");
  }

  root(): Json {
    this.#match(SPACE);
    const root = this.#value(1);
    this.#match(SPACE);
    return this.#at === this.#text.length ? root : this.#fail("there is more than white space behind the value");
  }

  #fail(reason: string): never { return refuse("malformed", `${reason}, at character ${this.#at}`); }

  /** The match of a sticky expression here, which it moves past. */
  #match(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#text)?.[0];
    this.#at += match?.length ?? 0;
    return match;
  }

  #value(depth: number): Json {
    this.#valuesLeft -= 1;
    if (this.#valuesLeft < 0) this.#fail("there are too many values");
    const first = this.#text.charAt(this.#at);
    if (first === '"') return this.#string();
    if ((first === "{" || first === "[") && depth > MAX_DEPTH) this.#fail(`values are nested deeper than ${MAX_DEPTH}`);
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#items("]", () => this.#value(depth + 1));
    const token = this.#match(SCALAR) ?? this.#fail("there is no JSON value");
    return token === "null" ? null : token === "true" || token === "false" ? token === "true" : new JsonNumber(token);
  }

  #string(): string {
    const token = this.#match(STRING)?.slice(1, -1) ?? this.#fail("there is no JSON string");
    const text = token.replace(ESCAPE, (_, hex: string | undefined, short: string) =>
      hex === undefined ? SHORT[short] ?? short : String.fromCharCode(parseInt(hex, 16)));
    return LONE_SURROGATE.test(text) ? this.#fail("there is a string with a lone surrogate") : text;
  }

  #object(depth: number): JsonObject {
    const object = new JsonObject(this.#text);
    this.#items("}", () => {
      const name = this.#string();
      if (object.has(name)) this.#fail("there is an object with two members of one name");
      this.#next(":");
      const start = this.#at;
      object.set(name, this.#value(depth + 1)).spans.set(name, [start, this.#at]);
    });
    return object;
  }

  /** What `read` returns for each element, from the opening bracket to the closing one. */
  #items<T>(closing: string, read: () => T): T[] {
    const items: T[] = [];
    this.#at += 1;
    this.#match(SPACE);
    if (this.#text.charAt(this.#at) === closing) this.#at += 1;
    else do items.push(read()); while (this.#next(`,${closing}`) !== closing);
    return items;
  }

  /** Moves behind the next character, which must be one of `expected`, and behind the white space around it, but not behind an end. */
  #next(expected: string): string {
    this.#match(SPACE);
    const found = this.#text.charAt(this.#at);
    if (found === "" || !expected.includes(found)) this.#fail("there is another character than expected");
    this.#at += 1;
    if (found === "," || found === ":") this.#match(SPACE);
    return found;
  }
}

/** A member that is an integer token of 0 to `most`. */
export function natural(value: Json | undefined, name: string, most = Number.MAX_SAFE_INTEGER): number {
  const found = value instanceof JsonNumber ? value.natural : undefined;
  return found !== undefined && found <= most ? found : refuse("malformed", `${name} isn't an integer of 0 to ${most}`);
}

/** A member that is a string, which the expression matches. */
export function matching(value: unknown, form: RegExp, name: string): string {
  return typeof value === "string" && form.test(value) ? value : refuse("malformed", `${name} is missing, or has another form`);
}
