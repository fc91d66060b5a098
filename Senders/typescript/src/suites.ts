import * as crypto from "node:crypto";
import { ascii, b64, expand, hmac, lp16, NONE, once, sealGcm } from "./sender/bytes.js";
import { ED25519, FIELD_25519, littleEndian, P256, privateOkp, publicOkp } from "./sender/curves.js";
import { refuse } from "./sender/errors.js";
import { encapsulation, type Ciphersuite, type Encapsulation } from "./sender/hpke.js";
import { deviceId, hpkeSeal, type Key, type KeyKind } from "./sender/key.js";

/** DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM */
export const X25519_SUITE: Ciphersuite = { kem: 0x0020, aead: 0x0001, keySize: 16 };
const ZERO_SHARE = Buffer.alloc(32);

const publicX25519 = once((publicKey: Buffer) =>
  crypto.createPublicKey({ key: { kty: "OKP", crv: "X25519", x: b64(publicKey) }, format: "jwk" }),
);

/** Throws for a zero share (RFC 9180 section 7.1.4), whether or not the library does. */
function x25519(privateKey: crypto.KeyObject, publicKey: Buffer): Buffer {
  const share = crypto.diffieHellman({ privateKey, publicKey: publicX25519(publicKey) });
  if (share.equals(ZERO_SHARE)) throw new RangeError("a zero share");
  return share;
}

/** Throws for a coordinate that isn't canonical, and for a point of small order: with it, every private key has a zero share. */
function checkX25519(publicKey: Buffer): void {
  if (littleEndian(publicKey) >= FIELD_25519) throw new RangeError("not canonical");
  x25519(privateOkp("X25519", Buffer.alloc(32, 1)), publicKey);
}

type Ephemeral = { readonly privateKey: crypto.KeyObject; readonly enc: Buffer };

/** Node exports the public key while it makes the pair: in Node 20, an export afterwards can wait for the garbage collector for ever. */
function freshX25519(): Ephemeral {
  const generate = crypto.generateKeyPairSync as (type: string, options: object) => unknown;
  const pair = generate("x25519", { publicKeyEncoding: { format: "jwk" } });
  const { privateKey, publicKey } = pair as { privateKey: crypto.KeyObject; publicKey: { x: string } };
  return { privateKey, enc: Buffer.from(publicKey.x, "base64url") };
}

/** Encap of RFC 9180 section 4.1. Only tests pass an `ephemeral` pair: with it, two messages would have one key and nonce. */
export function encapsulateX25519(publicKey: Buffer, ephemeral = freshX25519()): Encapsulation {
  return encapsulation(X25519_SUITE.kem, x25519(ephemeral.privateKey, publicKey), ephemeral.enc, publicKey);
}

/** Suite 2. */
export const X25519: KeyKind = {
  use: "recipient",
  names: { kty: "OKP", crv: "X25519", alg: "HPKE-3" },
  suite: 2,
  parts: { x: 32 },
  secret: "d",
  headerSize: 32,
  seal: hpkeSeal(X25519_SUITE, (publicKey) => encapsulateX25519(publicKey)),
  check: checkX25519,
  publicOf: (secret) => publicOkp(privateOkp("X25519", secret)),
};

/** X-Wing, HKDF-SHA256, AES-256-GCM */
export const XWING_SUITE: Ciphersuite = { kem: 0x647a, aead: 0x0002, keySize: 32 };
const MLKEM_SIZE = 1_184; // bytes of a public key
const MLKEM_PUBLIC = Buffer.from("308204b2300b0609608648016503040402038204a100", "hex"); // SubjectPublicKeyInfo
const MLKEM_SEED = Buffer.from("3054020100300b060960864801650304040204428040", "hex"); // PKCS #8

type Encapsulate = (key: crypto.KeyObject) => Readonly<Record<"sharedKey" | "ciphertext", Buffer>>;

/** Whether this Node can seal to keys of suite 3. */
export const isXWingAvailable = (): boolean => "encapsulate" in crypto;

function mlkem(): Encapsulate {
  const { encapsulate } = crypto as { encapsulate?: Encapsulate };
  return encapsulate ?? refuse("unsupportedSuite", "suite 3 needs Node 24.7", { unavailable: "ML-KEM-768" });
}

/** Throws for a coefficient of 3,329 or more (FIPS 203 section 7.2). */
const publicMlkem = once((publicKey: Buffer) => {
  const key = Buffer.concat([MLKEM_PUBLIC, publicKey.subarray(0, MLKEM_SIZE)]);
  return mlkem() && crypto.createPublicKey({ key, format: "der", type: "spki" });
});

/** The X25519 half of a public key, one object for each. */
const halfX25519 = once((publicKey: Buffer) => publicKey.subarray(MLKEM_SIZE));

/** Encapsulate and Combiner of draft-connolly-cfrg-xwing-kem, sections 5.4 and 5.3: SHA3-256(ss_M ‖ ss_X ‖ ct_X ‖ pk_X ‖ XWingLabel) */
function encapsulateXWing(publicKey: Buffer): Encapsulation {
  const [{ privateKey, enc: ctX }, pkX] = [freshX25519(), halfX25519(publicKey)];
  const ssX = x25519(privateKey, pkX);
  const { sharedKey, ciphertext } = mlkem()(publicMlkem(publicKey));
  const secrets = Buffer.concat([sharedKey, ssX, ctX, pkX, ascii("\\.//^\\")]);
  const sharedSecret = crypto.createHash("sha3-256").update(secrets).digest();
  return { sharedSecret, enc: Buffer.concat([ciphertext, ctX]) };
}

/** expandDecapsulationKey of section 5.2: SHAKE256(sk, 96) is the seed of ML-KEM, 64 bytes, and the private key of X25519. */
function publicXWing(seed: Buffer): Buffer {
  const expanded = mlkem() && crypto.createHash("shake256", { outputLength: 96 }).update(seed).digest();
  const key = Buffer.concat([MLKEM_SEED, expanded.subarray(0, 64)]);
  const pair = crypto.createPrivateKey({ key, format: "der", type: "pkcs8" });
  const publicKey = crypto.createPublicKey(pair).export({ format: "der", type: "spki" }).subarray(MLKEM_PUBLIC.length);
  return Buffer.concat([publicKey, publicOkp(privateOkp("X25519", expanded.subarray(64)))]);
}

/** Suite 3. */
export const XWING: KeyKind = {
  use: "recipient",
  names: { kty: "AKP", alg: "pushcrypt-3" },
  suite: 3,
  parts: { pub: 1_216 },
  secret: "priv",
  headerSize: 1_120,
  seal: hpkeSeal(XWING_SUITE, encapsulateXWing),
  check: (publicKey) => publicMlkem(publicKey) && checkX25519(halfX25519(publicKey)),
  publicOf: publicXWing,
};

export const secretOf = (secret: crypto.KeyObject | undefined): Buffer =>
  secret?.export() ?? refuse("wrongKind", "it has no secret");

/** HKDF-SHA256 (RFC 5869) */
export const hkdf = (ikm: Buffer, salt: Buffer, info: Buffer, length: number): Buffer =>
  expand(hmac(salt, ikm), info, length);

/**
 * prk = HKDF-Extract(salt, K); okm = HKDF-Expand(prk, info, 44); salt ‖ AES-256-GCM(key: okm[0..<32], nonce: okm[32..<44])
 *
 * Only tests pass a `salt` that isn't fresh: with it, two messages would have one key and nonce.
 */
export function sealShared({ secret }: Key, info: Buffer, plaintext: Buffer, salt = crypto.randomBytes(16)): Buffer {
  const okm = hkdf(secretOf(secret), salt, info, 44);
  return Buffer.concat([salt, sealGcm(okm.subarray(0, 32), okm.subarray(32), NONE, plaintext)]);
}

/** Suite 4. */
export const SHARED: KeyKind = {
  use: "shared",
  names: { kty: "oct", alg: "HKDF-A256GCM" },
  suite: 4,
  parts: {},
  secret: "k",
  headerSize: 16,
  seal: sealShared,
  check: () => undefined,
  publicOf: () => NONE,
};

/** K_device = HKDF-SHA256(K_master, salt: empty, "pushcrypt/1 device" ‖ 0x00 ‖ lp16(kid) ‖ lp16(device id), 32) */
export function deviceKey(master: Key, id: string): Key {
  const { kind, kid, secret, device } = master;
  if (kind !== SHARED || device !== undefined) return refuse("wrongKind", "only a master derives keys of devices");
  const info = ascii(`pushcrypt/1 device\0${lp16(kid)}${lp16(deviceId(id, "the device id"))}`);
  return { ...master, secret: crypto.createSecretKey(hkdf(secretOf(secret), NONE, info, 32)), device: id };
}

export const KINDS: readonly KeyKind[] = [P256, X25519, XWING, SHARED, ED25519];

/** The rank of a suite (PROTOCOL section 3): those of rank 1 keep recorded messages secret from a later quantum computer. */
export const rankOf = (suite: number): number => (suite === 3 || suite === 4 ? 1 : 0);
