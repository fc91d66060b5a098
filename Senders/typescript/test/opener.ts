import * as crypto from "node:crypto";
import { createECDH, createHash, createPrivateKey, createPublicKey, diffieHellman, hkdfSync, verify } from "node:crypto";
import { openGcm } from "../src/sender/bytes.js";
import { P256_SUITE, privateOkp } from "../src/sender/curves.js";
import { encapsulation, keySchedule } from "../src/sender/hpke.js";
import { JsonObject, readObject } from "../src/sender/json.js";
import { type Key } from "../src/sender/key.js";
import { contextInfo, signedText } from "../src/sender/seal.js";
import { X25519_SUITE, XWING_SUITE } from "../src/suites.js";

// A recipient for tests. It shares with the library what both sides compute alike: info, the key schedule and the signed text.

const SUITES = { 1: P256_SUITE, 2: X25519_SUITE, 3: XWING_SUITE } as const;
const SPKI = { X25519: "302a300506032b656e032100", Ed25519: "302a300506032b6570032100" };

export function publicOkpObject(crv: "X25519" | "Ed25519", bytes: Buffer): crypto.KeyObject {
  return createPublicKey({ key: Buffer.concat([Buffer.from(SPKI[crv], "hex"), bytes]), format: "der", type: "spki" });
}

export function dhX25519(secret: Buffer, publicKey: Buffer): Buffer {
  return diffieHellman({ privateKey: privateOkp("X25519", secret), publicKey: publicOkpObject("X25519", publicKey) });
}

export function dhP256(secret: Buffer, publicKey: Buffer): Buffer {
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(secret);
  return pair.computeSecret(publicKey);
}

function decapsulate({ kind, secret: object, publicKey }: Key, enc: Buffer): Buffer {
  if (object === undefined) throw new Error("a private key is needed");
  const secret = object.export();
  if (kind.suite === 1) return encapsulation(P256_SUITE.kem, dhP256(secret, enc), enc, publicKey).sharedSecret;
  if (kind.suite === 2) return encapsulation(X25519_SUITE.kem, dhX25519(secret, enc), enc, publicKey).sharedSecret;
  const seed = createHash("shake256", { outputLength: 96 }).update(secret).digest();
  const der = Buffer.concat([Buffer.from("3054020100300b060960864801650304040204428040", "hex"), seed.subarray(0, 64)]);
  const mlkem = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { decapsulate: open } = crypto as unknown as { decapsulate: (key: crypto.KeyObject, ct: Buffer) => Buffer };
  const ctX = enc.subarray(1_088);
  const parts = [open(mlkem, enc.subarray(0, 1_088)), dhX25519(seed.subarray(64), ctX), ctX, publicKey.subarray(1_184), Buffer.from("\\.//^\\")];
  return createHash("sha3-256").update(Buffer.concat(parts)).digest();
}

/** The key and nonce of the AEAD for a sealed message. */
export function aeadOf(key: Key, info: Buffer, header: Buffer): { key: Buffer; nonce: Buffer } {
  if (key.kind.suite === 4) {
    const okm = Buffer.from(hkdfSync("sha256", key.secret?.export() ?? Buffer.alloc(0), header, info, 44));
    return { key: okm.subarray(0, 32), nonce: okm.subarray(32) };
  }
  const suite = SUITES[key.kind.suite as 1 | 2 | 3];
  const psk = key.psk && { secret: key.psk.export(), id: Buffer.from(key.kid, "latin1") };
  return keySchedule(suite, decapsulate(key, header), info, psk);
}

/** The plaintext of AES-128-GCM or AES-256-GCM. */
export function openAead({ key, nonce }: { key: Buffer; nonce: Buffer }, ct: Buffer, aad: Buffer = Buffer.alloc(0)): Buffer | undefined {
  if (key.length === 32) return openGcm(key, nonce, aad, ct);
  try {
    const cipher = crypto.createDecipheriv("aes-128-gcm", key, nonce).setAAD(aad).setAuthTag(ct.subarray(-16));
    return Buffer.concat([cipher.update(ct.subarray(0, -16)), cipher.final()]);
  } catch {
    return undefined;
  }
}

/** The message, or undefined if it is undecryptable. */
export function openMessage(key: Key, sender: Key | undefined, topic: string, sealed: Buffer, isChallenge = false): Buffer | undefined {
  const info = contextInfo({ topic, to: key, signer: sender }, isChallenge);
  const size = key.kind.headerSize;
  let aead: { key: Buffer; nonce: Buffer };
  try {
    aead = aeadOf(key, info, sealed.subarray(0, size));
  } catch {
    return undefined; // a point that isn't valid
  }
  const plaintext = openAead(aead, sealed.subarray(size));
  if (plaintext === undefined || sender === undefined) return plaintext;
  const [signature, message] = [plaintext.subarray(0, 64), plaintext.subarray(64)];
  return verify(null, signedText(key, info, message), publicOkpObject("Ed25519", sender.publicKey), signature) ? message : undefined;
}

export interface Envelope {
  kid: string;
  skid: string | undefined;
  sealed: Buffer;
}

/** The envelope of an outer payload, at a place. */
export function envelopeOf(payload: string | Uint8Array, path: readonly string[] = ["pushcrypt"], isText = false): Envelope {
  let value: unknown = readObject(payload);
  for (const name of path) value = (value as JsonObject).get(name);
  const envelope = isText ? readObject(value as string) : (value as JsonObject);
  const [kid, skid, sealed] = ["kid", "skid", "sealed"].map((name) => envelope.get(name) as string | undefined);
  return { kid: kid ?? "", skid, sealed: Buffer.from(sealed ?? "", "base64url") };
}

/** The inner payload without the header and padding, and the header, of a message. */
export function contentOf(message: Buffer): { payload: string; header: JsonObject } {
  const root = readObject(message);
  const [start] = root.spans.get("pushcrypt") ?? [0];
  const before = root.source.lastIndexOf(',"pushcrypt"', start);
  const end = (root.spans.get("pushcrypt") ?? [0, 0])[1];
  return { payload: (root.source.slice(0, before) + root.source.slice(end)).trimEnd(), header: root.get("pushcrypt") as JsonObject };
}
