import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual } from "node:crypto";
import { refuse } from "./errors.js";

const BASE64URL = /^[A-Za-z0-9_-]+$/;
const TAG = 16;
export const NONE: Buffer = Buffer.alloc(0);

/** base64url without padding. */
export const b64 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");

/** Canonical base64url (RFC 4648 section 5) of `size` bytes: no padding, no other characters, trailing bits of zero. */
export function unb64(text: unknown, size: number | undefined, name: string): Buffer {
  const bytes = typeof text === "string" && BASE64URL.test(text) ? Buffer.from(text, "base64url") : NONE;
  if (bytes.length > 0 && b64(bytes) === text && bytes.length === (size ?? bytes.length)) return bytes;
  return refuse("malformed", `${name} isn't ${size === undefined ? "" : `${size} bytes of `}base64url without padding`);
}

export const ascii = (text: string): Buffer => Buffer.from(text, "latin1");
export const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 0xff);

/** lp16(x) = the length of x in bytes as an unsigned 16-bit integer ‖ the UTF-8 bytes of x */
export const lp16 = (text: string): Buffer => Buffer.concat([u16(Buffer.byteLength(text)), Buffer.from(text, "utf8")]);

export function sha256(...parts: Uint8Array[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** HMAC-SHA256 */
export function hmac(key: Uint8Array, ...parts: Uint8Array[]): Buffer {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/** Compares in constant time. */
export const isSame = (left: Uint8Array, right: Uint8Array): boolean => left.length === right.length && timingSafeEqual(left, right);

/** The ciphertext and its tag, with AES-128 or AES-256 by the length of the key. */
export function sealGcm(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, plaintext: Uint8Array): Buffer {
  const cipher = createCipheriv(key.length === 16 ? "aes-128-gcm" : "aes-256-gcm", key, nonce).setAAD(aad);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** The plaintext under AES-256, or undefined if the tag is wrong. */
export function openGcm(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, sealed: Uint8Array): Buffer | undefined {
  const cipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG }).setAAD(aad);
  try {
    return Buffer.concat([cipher.update(sealed.subarray(0, -TAG)), cipher.setAuthTag(sealed.subarray(-TAG)).final()]);
  } catch {
    return undefined;
  }
}
