import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual, type KeyObject } from "node:crypto";

const TAG = 16;
export const NONE: Buffer = Buffer.alloc(0);

/** base64url without padding. */
export const b64 = (bytes: Buffer): string => bytes.toString("base64url");

export const ascii = (text: string): Buffer => Buffer.from(text, "latin1");
export const u8 = (...values: number[]): Buffer => ascii(String.fromCharCode(...values));
/** I2OSP(value, 2), with a character for each byte. */
export const u16 = (value: number): string => String.fromCharCode(value >> 8, value & 0xff);

/** The length of x in bytes as an unsigned 16-bit integer ‖ the UTF-8 bytes of x, with a character for each byte. */
export function lp16(x: string): string {
  const bytes = Buffer.from(x, "utf8").toString("latin1");
  return u16(bytes.length) + bytes;
}

export const sha256 = (...parts: Buffer[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();

/** HMAC-SHA256 */
export function hmac(key: Buffer | KeyObject, ...parts: Buffer[]): Buffer {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/** HKDF-Expand of RFC 5869 section 2.3, with SHA-256. */
export function expand(prk: Buffer, info: Buffer, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let last = NONE; blocks.length * 32 < length; blocks.push(last)) {
    last = hmac(prk, last, info, u8(blocks.length + 1));
  }
  return Buffer.concat(blocks, length);
}

/** Compares in constant time. */
export const isSame = (left: Buffer, right: Buffer): boolean =>
  left.length === right.length && timingSafeEqual(left, right);

/** The ciphertext and its tag, with AES-128 or AES-256 by the length of the key. */
export function sealGcm(key: Buffer, nonce: Buffer, aad: Buffer, plaintext: Buffer): Buffer {
  const cipher = createCipheriv(key.length === 16 ? "aes-128-gcm" : "aes-256-gcm", key, nonce).setAAD(aad);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** The plaintext under AES-256, or undefined if the tag is wrong. */
export function openGcm(key: Buffer, nonce: Buffer, aad: Buffer, sealed: Buffer): Buffer | undefined {
  const cipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG }).setAAD(aad);
  try {
    return Buffer.concat([cipher.update(sealed.subarray(0, -TAG)), cipher.setAuthTag(sealed.subarray(-TAG)).final()]);
  } catch {
    return undefined;
  }
}

/** Computes once for each object. */
export function once<Given extends object, Made>(compute: (given: Given) => Made): (given: Given) => Made {
  const known = new WeakMap<Given, Made>();
  return (given) => {
    const made = known.get(given) ?? compute(given);
    known.set(given, made);
    return made;
  };
}
