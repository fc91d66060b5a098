import { ascii, b64, lp16 } from "./bytes.js";
import { signEd25519 } from "./curves.js";
import { refuse } from "./errors.js";
import { type Cipher, type Key } from "./key.js";
import { Frame, type Place } from "./outer.js";
import { messageOf, type Header, type InnerPayload } from "./payload.js";

export const MAX_LIMIT = 4_096; // bytes of the outer payload
const TAG_SIZE = 16, SIGNATURE_SIZE = 64;
const PSK_BIT = 1, SIGNED_BIT = 2, CHALLENGE_BIT = 4;
export const TOPIC = /^[A-Za-z0-9.-]{1,155}$/;

/** The app, and the keys of one push. */
export interface Parties { readonly topic: string; readonly to: Key; readonly signer: Key | undefined }

/** The app's bundle identifier. */
export function readTopic(topic: unknown): string {
  if (typeof topic === "string" && TOPIC.test(topic)) return topic;
  return refuse("invalidTopic", "the topic isn't a bundle identifier: 1 to 155 characters of A-Z, a-z, 0-9, . and -");
}

const cipherOf = ({ kid, kind }: Key): Cipher => kind.cipher ?? refuse("wrongKind", `key ${kid} is a sender's: nothing is sealed to it`);

/**
 * info    = "pushcrypt/1" ‖ 0x00 ‖ u8(suite) ‖ u8(profile) ‖ lp16(kid) ‖ lp16(skid or empty) ‖ lp16(topic)     (PROTOCOL section 4)
 * profile = bit 0 psk, bit 1 signed, bit 2 challenge
 */
export function contextInfo({ topic, to, signer }: Parties, isChallenge: boolean): Buffer {
  const profile = (to.psk === undefined ? 0 : PSK_BIT) | (signer === undefined ? 0 : SIGNED_BIT) | (isChallenge ? CHALLENGE_BIT : 0);
  return Buffer.concat([ascii("pushcrypt/1\0"), Buffer.of(to.kind.suite, profile), lp16(to.kid), lp16(signer?.kid ?? ""), lp16(topic)]);
}

/** The text that is signed: "pushcrypt/1 signature" ‖ 0x00 ‖ info ‖ R ‖ message */
export function signedText(to: Key, info: Buffer, message: Buffer): Buffer {
  return Buffer.concat([ascii("pushcrypt/1 signature\0"), info, cipherOf(to).identify(to), message]);
}

/** The bytes of `sealed`: enc or salt ‖ ct, whose plaintext is [signature(64) ‖] message. */
export function sealEnvelope(parties: Parties, message: Buffer, isChallenge = false): Buffer {
  const { to, signer } = parties;
  const info = contextInfo(parties, isChallenge);
  const plaintext = signer === undefined ? message : Buffer.concat([signEd25519(signer, signedText(to, info, message)), message]);
  return cipherOf(to).seal(to, info, plaintext);
}

/** A multiple of bytes, as much as fits, or not at all. */
export type Padding = number | "limit" | "none";

/** What one push says. */
export interface Draft {
  readonly payload: InnerPayload;
  readonly header: Header;
  /** The outer `aps`. */
  readonly aps: string;
  readonly place?: Place;
  readonly padding: Padding;
  /** The largest size of the outer payload in bytes. */
  readonly limit: number;
}

/** A draft with its keys: whether it fits, and the outer payload. */
export class Sealing {
  readonly #parties: Parties;
  readonly #draft: Draft;
  readonly #frame: Frame;
  readonly #message: Buffer;
  readonly #overhead: number;
  /** ⌊3 (l − f) / 4⌋ − header − 16 − (64 if signed)                                                          (PROTOCOL section 5) */
  readonly #capacity: number;

  constructor(parties: Parties, draft: Draft) {
    [this.#parties, this.#draft, this.#message] = [parties, draft, messageOf(draft.payload, draft.header)];
    this.#frame = new Frame(draft.aps, parties.to.kid, parties.signer?.kid, draft.place);
    this.#overhead = cipherOf(parties.to).headerSize + TAG_SIZE + (parties.signer === undefined ? 0 : SIGNATURE_SIZE);
    this.#capacity = Math.floor((3 * (draft.limit - this.#frame.size)) / 4) - this.#overhead;
  }

  /** The bytes that the message has too many. */
  get excess(): number { return Math.max(0, this.#message.length - this.#capacity); }

  /** The outer payload. Refuses with `tooLarge`. */
  outerPayload(): Buffer {
    const { limit, padding } = this.#draft;
    const size = this.#message.length;
    const needed = this.#frame.size + Math.ceil((4 * (size + this.#overhead)) / 3);
    if (this.excess > 0) {
      refuse("tooLarge", `the push takes ${needed} bytes and the limit is ${limit}`, { bytesNeeded: needed, bytesAvailable: limit });
    }
    const multiple = padding === "limit" ? this.#capacity : padding === "none" ? size : Math.ceil(size / padding) * padding;
    const message = Buffer.concat([this.#message, Buffer.alloc(Math.min(multiple, this.#capacity) - size, " ")]);
    return this.#frame.around(b64(sealEnvelope(this.#parties, message)));
  }
}
