import { ascii, b64, hmac, lp16, sha256 } from "./bytes.js";
import { signEd25519 } from "./curves.js";
import { refuse } from "./errors.js";
import { type Key } from "./key.js";
import { frameOf, type Place } from "./outer.js";
import { messageOf, type Header, type InnerPayload } from "./payload.js";

export const MAX_LIMIT = 4_096; // bytes of the outer payload
const TAG_SIZE = 16;
const SIGNATURE_SIZE = 64;
const PSK_BIT = 1;
const SIGNED_BIT = 2;
const CHALLENGE_BIT = 4;
export const TOPIC = /^[A-Za-z0-9.-]{1,155}$/;

/** The app, and the keys of one push. */
export interface Parties {
  readonly topic: string;
  readonly to: Key;
  readonly signer: Key | undefined;
}

/** The app's bundle identifier. Refuses with `invalidTopic`. */
export function readTopic(topic: unknown): string {
  if (typeof topic === "string" && TOPIC.test(topic)) return topic;
  return refuse("invalidTopic", "the topic isn't a bundle identifier: 1 to 155 characters of A-Z, a-z, 0-9, . and -");
}

/**
 * info    = "pushcrypt/1" ‖ 0x00 ‖ u8(suite) ‖ u8(profile) ‖ lp16(kid) ‖ lp16(skid or empty) ‖ lp16(topic)     (PROTOCOL section 4)
 * profile = bit 0 psk, bit 1 signed, bit 2 challenge
 */
export function contextInfo({ topic, to, signer }: Parties, isChallenge: boolean): Buffer {
  const ofKeys = (to.psk === undefined ? 0 : PSK_BIT) | (signer === undefined ? 0 : SIGNED_BIT);
  const bits = String.fromCharCode(to.kind.suite, ofKeys | (isChallenge ? CHALLENGE_BIT : 0));
  return ascii(`pushcrypt/1\0${bits}${lp16(to.kid)}${lp16(signer?.kid ?? "")}${lp16(topic)}`);
}

/** R, which names the recipient. For a day key it is that of the record (PROTOCOL section 14). */
export const identityOf = ({ use, secret, publicKey, ofRecord = publicKey }: Key): Buffer =>
  use === "shared" && secret !== undefined ? hmac(secret, ascii("pushcrypt/1 recipient")) : sha256(ofRecord);

/** The text that is signed: "pushcrypt/1 signature" ‖ 0x00 ‖ info ‖ R ‖ message */
export const signedText = (to: Key, info: Buffer, message: Buffer): Buffer =>
  Buffer.concat([ascii("pushcrypt/1 signature\0"), info, identityOf(to), message]);

/** The bytes of `sealed`: enc or salt ‖ ct, whose plaintext is [signature(64) ‖] message. */
export function sealEnvelope(parties: Parties, message: Buffer, isChallenge = false): Buffer {
  const { to, signer } = parties;
  const info = contextInfo(parties, isChallenge);
  const signature = signer === undefined ? [] : [signEd25519(signer, signedText(to, info, message))];
  return to.kind.seal(to, info, Buffer.concat([...signature, message]));
}

/** A multiple of bytes, as much as fits, or not at all. */
export type Padding = number | "limit" | "none";

/** What one push says. */
export interface Draft {
  readonly payload: InnerPayload;
  readonly header: Header;
  /** The outer `aps`. */
  readonly aps: string;
  readonly place: Place;
  readonly padding: Padding;
  /** The largest size of the outer payload in bytes. */
  readonly limit: number;
}

/** A draft with its keys. */
export interface Sealing {
  /** The bytes that the message has too many. */
  readonly excess: number;
  /** The outer payload. Refuses with `tooLarge`. */
  seal(): Buffer;
}

export function prepare(parties: Parties, { payload, header, aps, place, padding, limit }: Draft): Sealing {
  const { to, signer } = parties;
  const message = messageOf(payload, header);
  const size = Buffer.byteLength(message);
  const [head, tail] = frameOf(aps, to.kid, signer?.kid, place);
  const frame = Buffer.byteLength(head) + tail.length;
  const overhead = to.kind.headerSize + TAG_SIZE + (signer === undefined ? 0 : SIGNATURE_SIZE);
  // ⌊3 (l − f) / 4⌋ − header − 16 − (64 if signed)                                                         (PROTOCOL section 5)
  const capacity = Math.floor((3 * (limit - frame)) / 4) - overhead;
  const excess = Math.max(0, size - capacity);
  return {
    excess,
    seal() {
      const bytesNeeded = frame + Math.ceil((4 * (size + overhead)) / 3);
      const facts = { bytesNeeded, bytesAvailable: limit };
      if (excess > 0) refuse("tooLarge", `the push takes ${bytesNeeded} bytes and the limit is ${limit}`, facts);
      const multiple = typeof padding === "number" ? padding : 1;
      const padded = padding === "limit" ? capacity : Math.ceil(size / multiple) * multiple;
      const spaces = " ".repeat(Math.min(padded, capacity) - size);
      return Buffer.from(head + b64(sealEnvelope(parties, Buffer.from(message + spaces, "utf8"))) + tail, "utf8");
    },
  };
}
