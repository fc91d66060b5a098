import { randomBytes } from "node:crypto";
import { ascii, b64, hmac, isSame, lp16, sha256 } from "./sender/bytes.js";
import { reading, refuse } from "./sender/errors.js";
import { anyText, bytes, integer, object, oneOf, text } from "./sender/forms.js";
import { readObject, type Text } from "./sender/json.js";
import { sealEnvelope } from "./sender/seal.js";
import { bytesOf, Registration } from "./registration.js";
import { partiesOf, type Signer } from "./sealer.js";

const VALIDITY = 600; // seconds
const MAX_SIZE = 4_096; // bytes

const host = text(/^[a-z0-9.-]{1,253}$/);
const id = text(/^[A-Za-z0-9_-]{1,64}$/);
const version = integer(1, 1);
const ANSWER = object({ registration: id, answer: bytes(32) });
const STORED = object({ version, kid: anyText, hasPSK: oneOf(true, false), record: anyText });
const PENDING = object({ version, id, codeDigest: bytes(32), challengedAt: integer(0), registration: STORED });

/** A challenge for one upload (PROTOCOL section 13). */
export interface Challenge {
  /** The body of the response to the upload. */
  readonly json: string;
  readonly pending: Pending;
}

/** How to make a challenge. */
export interface ChallengeOptions {
  /** The host that the app registers with, in lower case and without port. */
  readonly host: string;
  readonly topic: string;
  readonly signer?: Signer;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

/** Makes a challenge for an uploaded record. Refuses with `invalidOption` for another form of host, and with `invalidTopic`. */
export function challenge(registration: Registration, options: ChallengeOptions): Challenge {
  reading("the challenge", () => host(options.host, "host"), { malformed: "invalidOption" });
  const parties = partiesOf(options.topic, registration.recipient.key, options.signer);
  const [name, nonce] = [b64(randomBytes(16)), randomBytes(32)];
  const sealed = b64(sealEnvelope(parties, nonce, true));
  const envelope = { v: 1, registration: name, kid: registration.kid, sealed, skid: parties.signer?.kid }; // without undefined
  const digest = sha256(codeOf(nonce, options.host, name, registration.record));
  const challengedAt = Math.floor((options.clock ?? Date.now)() / 1000);
  return { json: JSON.stringify(envelope), pending: new Pending(name, challengedAt, registration, digest) };
}

/** code = HMAC-SHA256(nonce, "pushcrypt/1 possession" ‖ 0x00 ‖ lp16(host) ‖ lp16(RID) ‖ SHA-256(record)) */
export const codeOf = (nonce: Buffer, host: string, id: string, record: Buffer): Buffer =>
  hmac(nonce, ascii(`pushcrypt/1 possession\0${lp16(host)}${lp16(id)}`), sha256(record));

/**
 * What the backend stores until the device answers, under its `id`. It is as secret as the record. Remove it from the store before
 * you call `confirm`, with `DELETE ... RETURNING`, so that a challenge has one answer.
 */
export class Pending {
  readonly #codeDigest: Buffer;

  /**
   * @internal
   * @param challengedAt when the challenge was made, in Unix seconds.
   */
  constructor(
    readonly id: string,
    readonly challengedAt: number,
    readonly registration: Registration,
    codeDigest: Buffer,
  ) {
    this.#codeDigest = codeDigest;
  }

  /** For a column of a database, as `pushcrypt registrations` and the other libraries write it. */
  toJson(): string {
    const { kid, record, recipient } = this.registration;
    const registration = { version: 1, kid, hasPSK: recipient.key.psk !== undefined, record: record.toString("utf8") };
    const { id, challengedAt } = this;
    return JSON.stringify({ version: 1, id, registration, codeDigest: b64(this.#codeDigest), challengedAt });
  }

  /** Reads what `toJson` wrote. Refuses with `malformed`, and with `pskMissing` for a record that lost its psk. */
  static fromJson(json: Text): Pending {
    return reading("the pending registration", () => {
      const pending = PENDING(readObject(bytesOf(json)), "it");
      const { kid, hasPSK, record } = pending.registration;
      const registration = new Registration(record, { requiring: hasPSK ? ["psk"] : [] });
      const isSame = kid === registration.kid && hasPSK === (registration.recipient.key.psk !== undefined);
      if (!isSame) refuse("malformed", "its record was replaced");
      return new Pending(pending.id, pending.challengedAt, registration, pending.codeDigest);
    });
  }

  /** The `id` of the pending registration that an answer is for. Refuses with `malformed`. */
  static idOf(answer: Text): string {
    return readAnswer(answer).registration;
  }

  /**
   * Returns the registration: the device has the private key and the psk of its record. Refuses with `malformed`, `otherChallenge`,
   * `challengeExpired`, `possessionNotProven`.
   */
  confirm(answer: Text, { clock = Date.now }: { readonly clock?: () => number } = {}): Registration {
    const { registration, answer: code } = readAnswer(answer);
    if (registration !== this.id) refuse("otherChallenge", "the answer is for another challenge");
    const age = Math.abs(Math.floor(clock() / 1000) - this.challengedAt);
    if (!(age <= VALIDITY)) refuse("challengeExpired", "the answer isn't within 10 minutes of the challenge");
    if (isSame(sha256(code), this.#codeDigest)) return this.registration;
    return refuse(
      "possessionNotProven",
      "the answer is of another key, record or host; the record counts byte for byte",
    );
  }
}

/** {"registration": RID, "answer": BASE64URL(32 bytes)} */
const readAnswer = (answer: Text) => reading("the answer", () => ANSWER(readObject(bytesOf(answer), MAX_SIZE), "it"));
