import { b64, NONE } from "./bytes.js";
import { refuse } from "./errors.js";
import { JsonNumber, JsonObject } from "./json.js";

/** Reads a value of strict JSON, or an option of a program, or refuses it as `malformed`. */
export type Form<T> = (value: unknown, name: string) => T;
type Forms = Readonly<Record<string, Form<unknown>>>;
type Members<F extends Forms> = { readonly [Name in keyof F]: ReturnType<F[Name]> };

/** Of the values for which `read` returns something. */
function form<T>(what: string, read: (value: unknown, name: string) => T | undefined): Form<T> {
  return (value, name) => read(value, name) ?? refuse("malformed", `${name} isn't ${what}`);
}

/** A value of another form for which a condition holds. */
export function where<T>(what: string, base: Form<T>, isRight: (value: T) => boolean): Form<T> {
  return form(what, (value, name) => [base(value, name)].find(isRight));
}

/** A value of another form, or null. */
export function nullable<T>(base: Form<T>): Form<T | null> {
  return (value, name) => (value === null ? null : base(value, name));
}

export const anything: Form<unknown> = (value) => value;
export const anyText = form("a string", (value) => (typeof value === "string" ? value : undefined));

/** A string that the expression matches. */
export const text = (pattern: RegExp): Form<string> =>
  where("a string of its form", anyText, (one) => pattern.test(one));

/** An integer token, or an integer. */
export function integer(least: number, most = Number.MAX_SAFE_INTEGER): Form<number> {
  const isRight = (value: unknown): boolean =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
  const numberOf = (value: unknown) => (value instanceof JsonNumber ? value.natural : value);
  return where(`an integer of ${least} to ${most}`, numberOf as Form<number>, isRight);
}

/** One of these values. */
export const oneOf = <T>(...values: readonly T[]): Form<T> =>
  form(values.join(" or "), (value) => values.find((one) => one === value));

/** Canonical base64url (RFC 4648 section 5) of `size` bytes: no padding, no other characters, trailing bits of zero. */
export function bytes(size?: number): Form<Buffer> {
  return form(`${size ?? ""} bytes in base64url without padding`.trimStart(), (value) => {
    const found = typeof value === "string" ? Buffer.from(value, "base64url") : NONE;
    return found.length > 0 && b64(found) === value && found.length === (size ?? found.length) ? found : undefined;
  });
}

/** The same, as it is written. */
export const base64 = (size: number): Form<string> =>
  where("text", anyText, (one) => bytes(size)(one, "it").length > 0);

/** An array of `least` to `most` elements. */
export function list<T>(element: Form<T>, least = 0, most = Infinity): Form<readonly T[]> {
  return form(`an array of ${least} to ${most}`, (value, name) => {
    const isRight = Array.isArray(value) && value.length >= least && value.length <= most;
    return isRight ? Array.from(value, (one) => element(one, name)) : undefined; // calls it for holes, too
  });
}

/** An array whose elements have different names. */
export function distinct<T>(element: Form<T>, least: number, most: number, nameOf: (one: T) => unknown = (one) => one) {
  const isRight = (all: readonly T[]): boolean => new Set(all.map(nameOf)).size === all.length;
  return where("without repetition", list(element, least, most), isRight);
}

/** The members of an object. Those of an option that are undefined count as missing. */
const members = form<Iterable<[string, unknown]>>("an object", (value) => {
  if (value instanceof JsonObject) return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value).filter(([, one]) => one !== undefined);
});

/** An object with `least` or more members, whose names and values have a form. */
export function entries<T>(key: Form<string>, element: Form<T>, least = 0): Form<ReadonlyMap<string, T>> {
  const entry = ([name, one]: [string, unknown]): [string, T] => [key(name, name), element(one, name)];
  const all = (value: unknown, name: string) => new Map(Array.from(members(value, name), entry));
  return where(`an object of ${least} or more`, all, ({ size }) => size >= least);
}

/** An object with all members of `required`, and any of `optional`. Others are ignored. */
export function object<R extends Forms, O extends Forms>(required: R, optional = {} as O, isClosed = false) {
  const forms = new Map<string, Form<unknown>>(Object.entries({ ...required, ...optional }));
  return (value: unknown, name: string): Members<R> & Partial<Members<O>> => {
    const found: Record<string, unknown> = {};
    for (const [member, one] of members(value, name)) {
      const its = forms.get(member);
      if (its !== undefined) found[member] = its(one, member);
      else if (isClosed) refuse("malformed", `${name} has a member that it can't have`);
    }
    for (const member of Object.keys(required)) member in found || refuse("malformed", `${name} has no ${member}`);
    return found as Members<R> & Partial<Members<O>>;
  };
}

/** The same without other members. */
export const closed = <R extends Forms, O extends Forms>(required: R, optional = {} as O) =>
  object(required, optional, true);
