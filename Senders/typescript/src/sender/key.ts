import { ascii, b64, NONE, once, sha256 } from "./bytes.js";
import { PushCryptError, refuse } from "./errors.js";
import { anything, anyText, base64, bytes, object, type Form } from "./forms.js";
import { sealHpke, type Ciphersuite, type Encapsulation } from "./hpke.js";

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
  readonly names: Readonly<Record<"kty" | "alg", string> & { crv?: string }>;
  /** 0 for keys that sign. */
  readonly suite: 0 | 1 | 2 | 3 | 4;
  /** The members that have the public key, with their sizes in bytes, and the bytes before them in the serialised key. */
  readonly parts: Readonly<Record<string, number>>;
  readonly prefix?: Buffer;
  /** The member of the private key, 32 bytes. */
  readonly secret: "d" | "priv" | "k";
  readonly cipher?: Cipher;
  /** Throws if it isn't a valid public key. */
  readonly check: (publicKey: Buffer) => void;
  /** The serialised public key. Throws if it isn't a valid private key. */
  readonly publicOf: (secret: Buffer) => Buffer;
}

export type KeyUse = "recipient" | "shared" | "sender" | "publisher";

/** A key record that was read. What prints it doesn't print its secrets. */
export class Key {
  readonly #secret: Buffer | undefined;
  readonly #psk: Buffer | undefined;

  /**
   * @param publicKey serialised; empty for a shared key.
   * @param device the device id, if a shared key is that of one device.
   * @param isPublisher whether it signs sets of sender keys, and no messages.
   */
  constructor(
    readonly kind: KeyKind,
    readonly kid: string,
    readonly publicKey: Buffer,
    { secret, psk }: { readonly secret?: Buffer | undefined; readonly psk?: Buffer | undefined },
    readonly device?: string,
    readonly isPublisher = false,
  ) {
    this.#secret = secret;
    this.#psk = psk;
  }

  /** `d`, `priv` or `k`. */
  get secret(): Buffer | undefined {
    return this.#secret;
  }

  get psk(): Buffer | undefined {
    return this.#psk;
  }

  get use(): KeyUse {
    if (this.isPublisher) return "publisher";
    return this.kind.suite === 0 ? "sender" : this.kind.suite === 4 ? "shared" : "recipient";
  }

  /** The members of its record. */
  record(): Readonly<Record<string, string>> {
    const { names, parts, prefix = NONE, secret } = this.kind;
    const coordinates: Record<string, string> = {};
    let at = prefix.length;
    for (const [name, size] of Object.entries(parts))
      coordinates[name] = b64(this.publicKey.subarray(at, (at += size)));
    const secrets = { [secret]: this.#secret && b64(this.#secret), psk: this.#psk && b64(this.#psk) };
    const role = this.isPublisher ? "publisher" : undefined;
    const all = { ...names, ...coordinates, ...secrets, kid: this.kid, device: this.device, role };
    return Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  }

  /**
   * kid = base64url(first 8 bytes of SHA-256(T))
   * T   = the required members of the record, sorted, without white space (RFC 7638, RFC 8037, RFC 9964)
   */
  thumbprintId(): string {
    const names = ["crv", "k", "kty", ...Object.keys(this.kind.parts), this.kind.names.kty === "AKP" ? "alg" : ""];
    return b64(sha256(ascii(JSON.stringify(this.record(), names.sort()))).subarray(0, 8));
  }
}

/** The cipher of a suite of HPKE. The psk's id is the kid. */
export const hpkeCipher = (
  suite: Ciphersuite,
  headerSize: number,
  encapsulate: (publicKey: Buffer) => Encapsulation,
): Cipher => ({
  headerSize,
  identify: ({ publicKey }) => sha256(publicKey),
  seal({ publicKey, psk, kid }, info, plaintext) {
    const { sharedSecret, enc } = encapsulate(publicKey);
    const inputs = psk && { secret: psk, id: ascii(kid) };
    return Buffer.concat([enc, sealHpke(suite, sharedSecret, info, inputs, plaintext)]);
  },
});

const SECRET = bytes(32);
const ABSENT: Form<never> = (_, name) => refuse("malformed", `a key of its kind can't have ${name}`);
const NAMES = object({ kty: anyText, kid: base64(8) }, { crv: anything, alg: anything });

/** The members that the records of a kind have beside their names. Others are ignored. */
const formOf = once(({ suite, parts, secret }: KeyKind): Form<Readonly<Record<string, Buffer>>> => {
  const coordinates = Object.fromEntries(Object.entries(parts).map(([name, size]) => [name, bytes(size)]));
  const absent = { d: ABSENT, priv: ABSENT, psk: ABSENT, device: ABSENT };
  const own = suite === 0 ? { role: anything } : suite === 4 ? { device: deviceId } : { psk: SECRET };
  return object(suite === 4 ? { k: SECRET } : coordinates, { ...absent, [secret]: SECRET, ...own }) as Form<never>;
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
  const { psk, device, role, ...others } = formOf(kind)(value, "it");
  if ((role ?? "publisher") !== "publisher") refuse("unsupportedKey", 'its role isn\'t "publisher"');
  const secret = others[kind.secret];
  const publicKey = Buffer.concat([
    kind.prefix ?? NONE,
    ...Object.keys(kind.parts).map((name) => others[name] ?? NONE),
  ]);
  const key = new Key(
    kind,
    kid,
    publicKey,
    { secret, psk },
    device as unknown as string | undefined,
    role !== undefined,
  );
  if (isChecked) valid(() => kind.check(publicKey));
  if (isChecked && secret !== undefined && !valid(() => kind.publicOf(secret)).equals(publicKey)) {
    refuse("invalidKey", "its private key is that of another key");
  }
  // A device's key has the kid of its master.
  if (device === undefined && kid !== key.thumbprintId()) refuse("kidMismatch", "its kid is that of another key");
  return key;
}

function valid<T>(compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (error instanceof PushCryptError) throw error;
    return refuse("invalidKey", "its key isn't a valid one");
  }
}

/** A device id. Refuses other characters with `invalidDeviceID`. */
export const deviceId: Form<string> = (value, name) => {
  const device = anyText(value, name);
  if (/^[A-Za-z0-9_-]{1,64}$/.test(device)) return device;
  return refuse("invalidDeviceID", "a device id has 1 to 64 characters of A-Z, a-z, 0-9, _ and -");
};
