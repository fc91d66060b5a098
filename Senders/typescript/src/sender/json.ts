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
const WORDS = new Map<string, null | boolean>(Object.entries({ null: null, true: true, false: false }));
export const LONE_SURROGATE = /[\ud800-\udfff]/u; // with the flag u, a pair is one character

/** A number as its token: to convert it could change it. */
export class JsonNumber {
  constructor(readonly text: string) {}

  get value(): number {
    return Number(this.text);
  }

  /** The integer of 0 to 2^53 - 1, if the token has no sign, fraction and exponent. */
  get natural(): number | undefined {
    return /^[0-9]{1,16}$/.test(this.text) && Number.isSafeInteger(this.value) ? this.value : undefined;
  }
}

/** An object, whose members know where in the whole text their values start and end. */
export class JsonObject extends Map<string, Json> {
  readonly spans = new Map<string, readonly [start: number, end: number]>();

  constructor(readonly source: string) {
    super();
  }

  /** The text of a member's value. */
  raw(name: string): string {
    return this.source.slice(...(this.spans.get(name) ?? [0, 0]));
  }
}

/**
 * Reads strict JSON (PROTOCOL section 2) whose root is an object. Refuses as `malformed`: two members of one name, compared
 * unescaped; invalid UTF-8, a byte order mark, a lone surrogate; a depth over 64; more than white space behind the root;
 * what is over the limits.
 */
export function readObject(text: Text, maxBytes = MAX_BYTES, maxValues = Infinity): JsonObject {
  if (Buffer.byteLength(text) > maxBytes) return refuse("malformed", `it has more than ${maxBytes} bytes`);
  const root = new Reader(typeof text === "string" ? text : decoded(text), maxValues).root();
  return root instanceof JsonObject ? root : refuse("malformed", "the root isn't a JSON object");
}

/** The JSON of a value, or the text that already is one. */
export function textOf(value: Text | object): Text {
  if (typeof value === "string" || value instanceof Uint8Array) return value;
  try {
    // JSON has no such numbers, and no big integers: stringify throws for one.
    const checked = (_: string, one: unknown) => (typeof one === "number" && !Number.isFinite(one) ? 0n : one);
    return JSON.stringify(value, checked) ?? "";
  } catch {
    return refuse("malformed", "JSON can't represent it"); // the error may quote a value
  }
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
  #at = 0;

  constructor(
    readonly text: string,
    private valuesLeft: number,
  ) {}

  root(): Json {
    if (LONE_SURROGATE.test(this.text)) this.#fail("there is a lone surrogate");
    this.#token(SPACE);
    const root = this.#value(1);
    this.#token(SPACE);
    return this.#at === this.text.length ? root : this.#fail("there is more than white space behind the value");
  }

  #fail(reason: string): never {
    return refuse("malformed", `${reason}, at character ${this.#at}`);
  }

  /** What a sticky expression matches here, which it moves past. */
  #token(expression: RegExp): string | undefined {
    const start = (expression.lastIndex = this.#at);
    if (!expression.test(this.text)) return undefined;
    this.#at = expression.lastIndex;
    return this.text.slice(start, this.#at);
  }

  #value(depth: number): Json {
    this.valuesLeft -= 1;
    if (this.valuesLeft < 0) this.#fail("there are too many values");
    const first = this.text.charAt(this.#at);
    if (first === '"') return this.#string();
    if ((first === "{" || first === "[") && depth > MAX_DEPTH) this.#fail(`values are nested deeper than ${MAX_DEPTH}`);
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#items("]", () => this.#value(depth + 1));
    const token = this.#token(SCALAR) ?? this.#fail("there is no JSON value");
    return WORDS.get(token) ?? (token === "null" ? null : new JsonNumber(token));
  }

  #string(): string {
    const token = this.#token(STRING)?.slice(1, -1) ?? this.#fail("there is no JSON string");
    if (!token.includes("\\")) return token;
    const text = token.replace(ESCAPE, (_, hex: string | undefined, short: string) =>
      hex === undefined ? (SHORT[short] ?? short) : String.fromCharCode(parseInt(hex, 16)),
    );
    return LONE_SURROGATE.test(text) ? this.#fail("there is a string with a lone surrogate") : text;
  }

  #object(depth: number): JsonObject {
    const object = new JsonObject(this.text);
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
    this.#token(SPACE);
    if (this.text.charAt(this.#at) === closing) this.#at += 1;
    else
      do items.push(read());
      while (this.#next(`,${closing}`) !== closing);
    return items;
  }

  /** Moves behind the next character, which must be one of `expected`, and behind the white space around it, but not behind an end. */
  #next(expected: string): string {
    this.#token(SPACE);
    const found = this.text.charAt(this.#at);
    if (found === "" || !expected.includes(found)) this.#fail("there is another character than expected");
    this.#at += 1;
    if (found === "," || found === ":") this.#token(SPACE);
    return found;
  }
}
