import { refuse } from "./errors.js";

export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;
/** A JSON text as it came. */
export type Text = string | Uint8Array;

const MAX_DEPTH = 64; // the root is depth 1
export const MAX_BYTES = 4 * 2 ** 20; // of a set, and of a keyset's file
const TOKEN = /[{}[\]:,]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\]:,"]+/g;
export const LONE_SURROGATE = /[\ud800-\udfff]/u; // with the flag u, a pair is one character

/** A number as its token: to convert it could change it. */
export class JsonNumber {
  constructor(readonly text: string) {}

  get value(): number {
    return Number(this.text);
  }

  /** The value of an integer token: it has no sign, fraction and exponent. It may be over 2^53, where numbers are rounded. */
  get natural(): number | undefined {
    return /^[0-9]+$/.test(this.text) ? this.value : undefined;
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
export function readObject(given: Text, maxBytes = MAX_BYTES, maxValues = Infinity): JsonObject {
  if (Buffer.byteLength(given) > maxBytes) return refuse("malformed", `it has more than ${maxBytes} bytes`);
  const text = typeof given === "string" ? given : decoded(given);
  if (LONE_SURROGATE.test(text)) refuse("malformed", "it has a lone surrogate");
  try {
    JSON.parse(text); // knows the grammar, and accepts what the reader refuses
  } catch {
    return refuse("malformed", "it isn't JSON"); // the error may quote a value
  }
  const reader = new Reader(text, maxValues);
  const root = reader.value(reader.next(), 1);
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

/** Takes a text apart whose grammar is right. */
class Reader {
  #end = 0;

  constructor(
    readonly text: string,
    private valuesLeft: number,
  ) {}

  /** Moves past the next token, and past the white space before it. */
  next(): string {
    TOKEN.lastIndex = this.#end;
    const token = TOKEN.exec(this.text)?.[0] ?? refuse("malformed", "it isn't JSON");
    this.#end = TOKEN.lastIndex;
    return token;
  }

  /** The value that begins with a token. */
  value(token: string, depth: number): Json {
    this.valuesLeft -= 1;
    if (this.valuesLeft < 0) refuse("malformed", "it has too many values");
    if (token === "{" || token === "[") {
      if (depth > MAX_DEPTH) refuse("malformed", `values are nested deeper than ${MAX_DEPTH}`);
      return token === "{" ? this.#object(depth) : this.#array(depth);
    }
    if (token.startsWith('"')) return stringOf(token);
    return /^[-0-9]/.test(token) ? new JsonNumber(token) : (JSON.parse(token) as boolean | null);
  }

  #array(depth: number): Json[] {
    const items: Json[] = [];
    for (let token = this.next(); token !== "]"; token = this.next()) {
      if (token !== ",") items.push(this.value(token, depth + 1));
    }
    return items;
  }

  #object(depth: number): JsonObject {
    const object = new JsonObject(this.text);
    for (let token = this.next(); token !== "}"; token = this.next()) {
      if (token === ",") continue;
      const name = stringOf(token);
      if (object.has(name)) refuse("malformed", "it has an object with two members of one name");
      this.next(); // the colon
      const first = this.next();
      const start = this.#end - first.length;
      object.set(name, this.value(first, depth + 1)).spans.set(name, [start, this.#end]);
    }
    return object;
  }
}

function stringOf(token: string): string {
  if (!token.includes("\\")) return token.slice(1, -1);
  const text = JSON.parse(token) as string;
  return LONE_SURROGATE.test(text) ? refuse("malformed", "it has a lone surrogate") : text;
}
