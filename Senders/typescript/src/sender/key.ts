import { createSecretKey, type KeyObject } from "node:crypto";
import { ascii, b64, NONE, once, sha256 } from "./bytes.js";
import { PushCryptError, refuse } from "./errors.js";
import { anything, anyText, base64, bytes, object, type Form } from "./forms.js";
import { sealHpke, type Ciphersuite, type Encapsulation } from "./hpke.js";

export type KeyUse = "recipient" | "shared" | "sender" | "publisher";

/** A key record that was read. Its secrets are objects, so that nothing prints them. */
export interface Key {
  readonly kind: KeyKind;
  readonly use: KeyUse;
  readonly kid: string;
  /** Serialised; empty for a shared key. */
  readonly publicKey: Buffer;
  /** `d`, `priv` or `k`. */
  readonly secret?: KeyObject | undefined;
  readonly psk?: KeyObject | undefined;
  /** The day keys of a registration record, as they came. */
  readonly deviceSet?: unknown;
  /** The public key of a day key's record, which signatures name. */
  readonly ofRecord?: Buffer;
  /** The device id, if a shared key is that of one device. */
  readonly device?: string | undefined;
}

/** A row of the table of key records in section 3. */
export interface KeyKind {
  readonly use: KeyUse;
  readonly names: { readonly kty: string; readonly crv?: string; readonly alg: string };
  /** 0 for keys that sign. */
  readonly suite: 0 | 1 | 2 | 3 | 4;
  /** The members that have the public key, with their sizes in bytes, and the bytes before them in the serialised key. */
  readonly parts: Readonly<Record<string, number>>;
  readonly prefix?: Buffer;
  /** The member of the private key, 32 bytes. */
  readonly secret: "d" | "priv" | "k";
  /** Throws if it isn't a valid public key. */
  readonly check: (publicKey: Buffer) => void;
  /** The serialised public key. Throws if it isn't a valid private key. */
  readonly publicOf: (secret: Buffer) => Buffer;
  /** The bytes before the ciphertext: enc or salt. */
  readonly headerSize: number;
  /** enc or salt ‖ ct (PROTOCOL sections 3 and 4) */
  readonly seal: (key: Key, info: Buffer, plaintext: Buffer) => Buffer;
}

/** How a suite of HPKE seals. The psk's id is the kid. */
export const hpkeSeal = (suite: Ciphersuite, encapsulate: (publicKey: Buffer) => Encapsulation): KeyKind["seal"] => {
  return ({ publicKey, psk, kid }, info, plaintext) => {
    const { sharedSecret, enc } = encapsulate(publicKey);
    const inputs = psk && { secret: psk.export(), id: ascii(kid) };
    return Buffer.concat([enc, sealHpke(suite, sharedSecret, info, inputs, plaintext)]);
  };
};

/** The members of a key's record. */
export function recordOf({ kind, use, kid, publicKey, secret, psk, device }: Key): Readonly<Record<string, string>> {
  const members: [string, string | undefined][] = [...Object.entries(kind.names), ["kid", kid], ["device", device]];
  let at = kind.prefix?.length ?? 0;
  for (const [name, size] of Object.entries(kind.parts))
    members.push([name, b64(publicKey.subarray(at, (at += size)))]);
  members.push([kind.secret, secret && b64(secret.export())], ["psk", psk && b64(psk.export())]);
  members.push(["role", use === "publisher" ? use : undefined]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as Record<string, string>;
}

/**
 * kid = base64url(first 8 bytes of SHA-256(T))
 * T   = the required members of the record, sorted, without white space (RFC 7638, RFC 8037, RFC 9964)
 */
export function keyId(key: Key): string {
  const { names, parts } = key.kind;
  const required = ["crv", "k", "kty", ...Object.keys(parts), names.kty === "AKP" ? "alg" : "kty"];
  return b64(sha256(ascii(JSON.stringify(recordOf(key), required.sort()))).subarray(0, 8));
}

const SECRET: Form<KeyObject> = (value, name) => createSecretKey(bytes(32)(value, name));
const ABSENT: Form<never> = (_, name) => refuse("malformed", `a key of its kind can't have ${name}`);
const NAMES = object({ kty: anyText, kid: base64(8) }, { crv: anything, alg: anything });

/** A device id. Refuses other characters with `invalidDeviceID`. */
export const deviceId: Form<string> = (value, name) => {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(anyText(value, name))) return value as string;
  return refuse("invalidDeviceID", "a device id has 1 to 64 characters of A-Z, a-z, 0-9, _ and -");
};

/** The members beside the names that records of a kind can have. Others are ignored. */
const membersOf = once(({ use, parts, secret }: KeyKind) => {
  const coordinates = Object.fromEntries(Object.keys(parts).map((name) => [name, bytes(parts[name])]));
  const absent = { d: ABSENT, priv: ABSENT, psk: ABSENT, device: ABSENT };
  const recipient = { psk: SECRET, deviceSet: anything };
  const own = { sender: { role: anything }, shared: { device: deviceId }, recipient, publisher: {} }[use];
  return object(use === "shared" ? { k: SECRET } : coordinates, { ...absent, [secret]: SECRET, ...own });
});

/**
 * Reads a key record of one of `kinds`: the exact alg, a valid key, the kid of its thumbprint, and a private key that fits.
 * Refuses with `malformed`, `unsupportedKey`, `invalidKey`, `kidMismatch`, `invalidDeviceID`, `unsupportedSuite`.
 *
 * @param isChecked false only for the log of a keyset, which may have public keys of a suite that this host lacks.
 */
export function readKey(value: unknown, kinds: readonly KeyKind[], isChecked = true): Key {
  const { kty, crv, alg, kid } = NAMES(value, "it");
  const kind = kinds.find(({ names }) => names.kty === kty && (names.crv === undefined || names.crv === crv));
  if (kind?.names.alg !== alg || kind === undefined)
    return refuse("unsupportedKey", "its kty, crv and alg are unknown");
  const { psk, device, role, deviceSet, ...others } = membersOf(kind)(value, "it") as Record<string, never>;
  if (role !== undefined && role !== "publisher") refuse("unsupportedKey", 'its role isn\'t "publisher"');
  const secret = others[kind.secret] as KeyObject | undefined;
  const parts = Object.keys(kind.parts).map((name) => others[name] ?? NONE);
  const publicKey = Buffer.concat([kind.prefix ?? NONE, ...parts]);
  const key = { kind, use: role ?? kind.use, kid, publicKey, secret, psk, device, deviceSet };
  if (isChecked) valid(() => kind.check(publicKey));
  if (isChecked && secret !== undefined && !valid(() => kind.publicOf(secret.export())).equals(publicKey)) {
    refuse("invalidKey", "its private key is that of another key");
  }
  // A device's key has the kid of its master.
  return device === undefined && kid !== keyId(key) ? refuse("kidMismatch", "its kid is that of another key") : key;
}

function valid<T>(compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (error instanceof PushCryptError) throw error;
    return refuse("invalidKey", "its key isn't a valid one");
  }
}
