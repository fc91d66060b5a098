import { createECDH, createPrivateKey, createPublicKey, ECDH, sign, type KeyObject } from "node:crypto";
import { once } from "./bytes.js";
import { refuse } from "./errors.js";
import { encapsulation, type Ciphersuite, type Encapsulation } from "./hpke.js";
import { hpkeSeal, type Key, type KeyKind } from "./key.js";

const CURVE = "prime256v1"; // OpenSSL's name of P-256
/** DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM */
export const P256_SUITE: Ciphersuite = { kem: 0x0010, aead: 0x0002, keySize: 32 };

export const FIELD_25519 = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n; // -121665 / 121666
/** The y of two points of order 8 on edwards25519. Its negative is that of the other two. */
const ORDER_8_Y = 2707385501144840649318225287225658788936804267575313519463743609750303402022n;

/** Encap of RFC 9180 section 4.1. Only tests pass an `ephemeral` key: with it, two messages would have one key and nonce. */
export function encapsulateP256(publicKey: Buffer, ephemeral?: ECDH): Encapsulation {
  const pair = ephemeral ?? createECDH(CURVE);
  const enc = ephemeral === undefined ? pair.generateKeys() : pair.getPublicKey();
  return encapsulation(P256_SUITE.kem, pair.computeSecret(publicKey), enc, publicKey);
}

/** Suite 1. A serialised key is the uncompressed point, 65 bytes. */
export const P256: KeyKind = {
  use: "recipient",
  names: { kty: "EC", crv: "P-256", alg: "HPKE-7" },
  suite: 1,
  parts: { x: 32, y: 32 },
  prefix: Buffer.of(4),
  secret: "d",
  headerSize: 65,
  seal: hpkeSeal(P256_SUITE, (publicKey) => encapsulateP256(publicKey)),
  check: (publicKey) => void ECDH.convertKey(publicKey, CURVE),
  publicOf(secret) {
    const pair = createECDH(CURVE);
    pair.setPrivateKey(secret);
    return pair.getPublicKey();
  },
};

/** Keys that sign. */
export const ED25519: KeyKind = {
  use: "sender",
  names: { kty: "OKP", crv: "Ed25519", alg: "Ed25519" },
  suite: 0,
  parts: { x: 32 },
  secret: "d",
  check: checkEd25519,
  publicOf: (secret) => publicOkp(privateOkp("Ed25519", secret)),
  headerSize: 0,
  seal: ({ kid }) => refuse("wrongKind", `key ${kid} is a sender's: nothing is sealed to it`),
};

/** The kinds of keys of the level `sender`. */
export const SENDER_KINDS: readonly KeyKind[] = [P256, ED25519];

/** The object of a private key of 32 bytes (RFC 8410). */
export function privateOkp(crv: "X25519" | "Ed25519", secret: Buffer): KeyObject {
  const prefix = Buffer.from(`302e020100300506032b65${crv === "X25519" ? "6e" : "70"}04220420`, "hex");
  return createPrivateKey({ key: Buffer.concat([prefix, secret]), format: "der", type: "pkcs8" });
}

/** The serialised public key of a private one. */
export const publicOkp = (key: KeyObject): Buffer =>
  Buffer.from(createPublicKey(key).export({ format: "jwk" }).x ?? "", "base64url");

const signingKey = once(({ kid, secret }: Key) =>
  privateOkp("Ed25519", secret?.export() ?? refuse("wrongKind", `key ${kid} is public`)),
);

/** Ed25519, RFC 8032, pure. */
export const signEd25519 = (key: Key, text: Buffer): Buffer => sign(null, text, signingKey(key));

/** Throws for a y that isn't canonical, for points of small order and for a y without a point. */
function checkEd25519(publicKey: Buffer): void {
  const y = littleEndian(publicKey) & (2n ** 255n - 1n);
  const isSmall = [0n, 1n, FIELD_25519 - 1n, ORDER_8_Y, FIELD_25519 - ORDER_8_Y].includes(y);
  // x^2 = (y^2 - 1) / (d y^2 + 1), which must be a square: Euler's criterion.
  const square = ((y * y - 1n) * (D * y * y + 1n)) % FIELD_25519;
  if (y >= FIELD_25519 || isSmall || power(square, (FIELD_25519 - 1n) / 2n) !== 1n) throw new RangeError("not a point");
}

export const littleEndian = (bytes: Buffer): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);

/** Of public values: it isn't in constant time. */
function power(base: bigint, exponent: bigint): bigint {
  if (exponent === 0n) return 1n;
  const half = power((base * base) % FIELD_25519, exponent >> 1n);
  return exponent & 1n ? (half * base) % FIELD_25519 : half;
}
