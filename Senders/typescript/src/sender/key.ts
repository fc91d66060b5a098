import { ascii, b64, NONE, sha256, unb64 } from "./bytes.js";
import { PushCryptError, refuse } from "./errors.js";
import { sealHpke, type Ciphersuite, type Encapsulation } from "./hpke.js";
import { JsonObject, matching, type Json } from "./json.js";

const DEVICE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** How to seal to the keys of a kind (PROTOCOL sections 3 and 4). */
export interface Cipher {
  /** The bytes before the ciphertext: enc or salt. */
  readonly headerSize: number;
  /** R of section 4, which names the recipient. */
  readonly identify: (key: Key) => Buffer;
  readonly seal: (key: Key, info: Buffer, plaintext: Buffer) => Buffer;
}

/** A row of the table of key records in section 3. */
export interface KeyKind {
  readonly name: "p256" | "x25519" | "xwing" | "shared" | "ed25519";
  readonly kty: string;
  readonly crv?: string;
  readonly alg: string;
  /** 0 for keys that sign. */
  readonly suite: 0 | 1 | 2 | 3 | 4;
  readonly use: "recipient" | "shared" | "sender";
  /** The members that have the public key, with their sizes in bytes. */
  readonly parts: Readonly<Record<string, number>>;
  /** The bytes before them in the serialised public key. */
  readonly prefix: Buffer;
  /** The member of the private key, 32 bytes. */
  readonly secret: "d" | "priv" | "k";
  readonly cipher?: Cipher;
  /** Throws if it isn't a valid public key. */
  readonly check: (publicKey: Buffer) => void;
  /** The serialised public key. Throws if it isn't a valid private key. */
  readonly publicOf: (secret: Buffer) => Buffer;
}

/** A key record that was read. It has secrets: hold it in a private field. */
export interface Key {
  readonly kind: KeyKind;
  readonly kid: string;
  /** Serialised; empty for a shared key. */
  readonly publicKey: Buffer;
  /** `d`, `priv` or `k`. */
  readonly secret: Buffer | undefined;
  readonly psk: Buffer | undefined;
  /** The device id, if a shared key is that of one device. */
  readonly device: string | undefined;
  /** Whether it signs sets of sender keys, and no messages. */
  readonly isPublisher: boolean;
}

/** The cipher of a suite of HPKE. The psk's id is the kid. */
export const hpkeCipher = (suite: Ciphersuite, headerSize: number, encapsulate: (publicKey: Buffer) => Encapsulation): Cipher => ({
  headerSize,
  identify: ({ publicKey }) => sha256(publicKey),
  seal: ({ publicKey, psk, kid }, info, plaintext) =>
    sealHpke(suite, encapsulate(publicKey), info, psk && { secret: psk, id: ascii(kid) }, plaintext),
});

/**
 * Reads a key record of one of `kinds`: the exact alg, a valid key, the kid of its thumbprint, and a private key that fits. Refuses
 * with `malformed`, `unsupportedKey`, `invalidKey`, `kidMismatch`, `invalidDeviceID`, `unsupportedSuite`.
 *
 * @param isChecked false only for the log of a keyset, which may have public keys of a suite that this host lacks.
 */
export function readKey(record: Json | undefined, kinds: readonly KeyKind[], isChecked = true): Key {
  if (!(record instanceof JsonObject)) return refuse("malformed", "it isn't an object");
  const kty = matching(record.get("kty"), /^/, "kty");
  const kid = b64(unb64(record.get("kid"), 8, "kid"));
  const kind = kinds.find((one) => one.kty === kty && (one.crv === undefined || one.crv === record.get("crv")));
  if (kind === undefined || record.get("alg") !== kind.alg) return refuse("unsupportedKey", "its kty, crv and alg are unknown");
  const allowed: readonly string[] = [kind.secret, kind.use === "recipient" ? "psk" : "", kind.use === "shared" ? "device" : ""];
  const foreign = ["d", "priv", "psk", "device"].find((name) => record.has(name) && !allowed.includes(name));
  if (foreign !== undefined) refuse("malformed", `a key of its kind can't have ${foreign}`);
  const isPublisher = kind.use === "sender" && record.has("role");
  if (isPublisher && record.get("role") !== "publisher") refuse("unsupportedKey", 'its role isn\'t "publisher"');
  const parts = Object.entries(kind.parts).map(([name, size]) => unb64(record.get(name), size, name));
  const publicKey = Buffer.concat([kind.prefix, ...parts]);
  if (isChecked) valid(() => kind.check(publicKey));
  const isPrivate = record.has(kind.secret) || kind.use === "shared";
  const secret = isPrivate ? unb64(record.get(kind.secret), 32, kind.secret) : undefined;
  const isPair = !isChecked || secret === undefined || valid(() => kind.publicOf(secret)).equals(publicKey);
  if (!isPair) refuse("invalidKey", "its private key is that of another key");
  const psk = record.has("psk") ? unb64(record.get("psk"), 32, "psk") : undefined;
  const device = record.has("device") ? readDevice(matching(record.get("device"), /^/, "device")) : undefined;
  // A device's key has the kid of its master.
  if (device === undefined && kid !== keyId(kind, publicKey, secret)) refuse("kidMismatch", "its kid is that of another key");
  return { kind, kid, publicKey, secret, psk, device, isPublisher };
}

function valid<T>(compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (error instanceof PushCryptError) throw error;
    return refuse("invalidKey", "its key isn't a valid one");
  }
}

export function readDevice(device: string): string {
  return DEVICE_ID.test(device) ? device : refuse("invalidDeviceID", "a device id has 1 to 64 characters of A-Z, a-z, 0-9, _ and -");
}

/**
 * kid = base64url(first 8 bytes of SHA-256(T))
 * T   = the required members of the record, sorted, without white space (RFC 7638, RFC 8037, RFC 9964)
 */
export function keyId({ kty, crv, alg, parts, prefix, use }: KeyKind, publicKey: Buffer, secret: Buffer | undefined): string {
  let at = prefix.length;
  const texts = Object.entries(parts).map(([name, size]) => [name, b64(publicKey.subarray(at, (at += size)))]);
  const others = { alg: kty === "AKP" ? alg : undefined, k: use === "shared" ? b64(secret ?? NONE) : undefined };
  const members = { ...Object.fromEntries(texts), kty, crv, ...others };
  return b64(sha256(ascii(JSON.stringify(members, Object.keys(members).sort()))).subarray(0, 8)); // without what is undefined
}

/** The names of a record's members, apart from those that key records don't have. */
export function memberNames({ kind, secret, psk, device, isPublisher }: Key): string[] {
  const others = { crv: kind.crv, [kind.secret]: secret, psk, device, role: isPublisher || undefined };
  const present = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : name));
  return ["kty", "alg", "kid", ...Object.keys(kind.parts), ...present];
}
