import { randomBytes } from "node:crypto";
import { ascii, b64, hmac, isSame, lp16, sha256, unb64 } from "./sender/bytes.js";
import { reading, refuse } from "./sender/errors.js";
import { JsonObject, matching, natural, readObject, type Text } from "./sender/json.js";
import { sealEnvelope } from "./sender/seal.js";
import { Recipient } from "./keys.js";
import { bytesOf, Registration } from "./registration.js";
import { partiesOf, type Signer } from "./sealer.js";

const VALIDITY = 600; // seconds
const MAX_SIZE = 4_096; // bytes
const REGISTRATION_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** A challenge for one upload (PROTOCOL section 13). */
export interface Challenge {
  /** The body of the response to the upload. */
  readonly json: string;
  readonly pending: Pending;
}

/**
 * Makes a challenge for an uploaded record. Refuses with `invalidOption` for another form of host, and with `invalidTopic`.
 *
 * @param options.host the one that the app registers with, in lower case and without port.
 * @param options.clock milliseconds since 1970.
 */
export function challenge(
  registration: Registration,
  options: { readonly host: string; readonly topic: string; readonly signer?: Signer; readonly clock?: () => number },
): Challenge {
  const { host, topic, signer, clock = Date.now } = options;
  reading("the host", () => matching(host, /^[a-z0-9.-]{1,253}$/, "a name in lower case without port"), { malformed: "invalidOption" });
  const parties = partiesOf(topic, registration.recipient, signer);
  const [id, nonce] = [b64(randomBytes(16)), randomBytes(32)];
  const sealed = b64(sealEnvelope(parties, nonce, true));
  const json = JSON.stringify({ v: 1, registration: id, kid: registration.kid, sealed, skid: parties.signer?.kid }); // without undefined
  const digest = sha256(codeOf(nonce, host, id, registration.record));
  return { json, pending: new Pending(id, registration, digest, Math.floor(clock() / 1000)) };
}

/** code = HMAC-SHA256(nonce, "pushcrypt/1 possession" ‖ 0x00 ‖ lp16(host) ‖ lp16(RID) ‖ SHA-256(record)) */
export function codeOf(nonce: Buffer, host: string, id: string, record: Buffer): Buffer {
  return hmac(nonce, ascii("pushcrypt/1 possession\0"), lp16(host), lp16(id), sha256(record));
}

/**
 * What the backend stores until the device answers, under its `id`. It is as secret as the record. Remove it from the store before you
 * call `confirm`, with `DELETE ... RETURNING`, so that a challenge has one answer.
 */
export class Pending {
  readonly id: string;
  readonly challengedAt: number;
  readonly #registration: Registration;
  readonly #codeDigest: Buffer;

  /** @internal */
  constructor(id: string, registration: Registration, codeDigest: Buffer, challengedAt: number) {
    [this.id, this.#registration, this.#codeDigest, this.challengedAt] = [id, registration, codeDigest, challengedAt];
  }

  /** For a column of a database, as `pushcrypt registrations` and the other libraries write it. */
  toJson(): string {
    const { kid, record, recipient } = this.#registration;
    const registration = { version: 1, kid, hasPSK: Recipient.keyOf(recipient).psk !== undefined, record: record.toString("utf8") };
    return JSON.stringify({ version: 1, id: this.id, registration, codeDigest: b64(this.#codeDigest), challengedAt: this.challengedAt });
  }

  /** Reads what `toJson` wrote. Refuses with `malformed`, and with `pskMissing` for a record that lost its psk. */
  static fromJson(text: Text): Pending {
    return reading("the pending registration", () => {
      const root = readObject(bytesOf(text));
      const stored = root.get("registration");
      if (!(stored instanceof JsonObject)) return refuse("malformed", "registration isn't an object");
      const versions = [root, stored].map((object) => natural(object.get("version"), "version"));
      const hasPsk = stored.get("hasPSK");
      const registration = new Registration(matching(stored.get("record"), /^/, "record"), { requiring: hasPsk === true ? ["psk"] : [] });
      const isSame = stored.get("kid") === registration.kid && hasPsk === (Recipient.keyOf(registration.recipient).psk !== undefined);
      if (versions.join() !== "1,1" || !isSame) refuse("malformed", "it has another version, or its record was replaced");
      const id = matching(root.get("id"), REGISTRATION_ID, "id");
      const digest = unb64(root.get("codeDigest"), 32, "codeDigest");
      return new Pending(id, registration, digest, natural(root.get("challengedAt"), "challengedAt"));
    });
  }

  /** The `id` of the pending registration that an answer is for. Refuses with `malformed`. */
  static idOf(answer: Text): string { return readAnswer(answer).id; }

  /**
   * Returns the registration: the device has the private key and the psk of its record. Refuses with `malformed`, `otherChallenge`,
   * `challengeExpired`, `possessionNotProven`.
   */
  confirm(answer: Text, { clock = Date.now }: { readonly clock?: () => number } = {}): Registration {
    const { id, code } = readAnswer(answer);
    if (id !== this.id) refuse("otherChallenge", "the answer is for another challenge");
    const age = Math.abs(Math.floor(clock() / 1000) - this.challengedAt);
    if (!(age <= VALIDITY)) refuse("challengeExpired", "the answer isn't within 10 minutes of the challenge");
    if (isSame(sha256(code), this.#codeDigest)) return this.#registration;
    return refuse("possessionNotProven", "the answer is of another key, record or host; the record counts byte for byte");
  }
}

/** {"registration": RID, "answer": BASE64URL(32 bytes)} */
function readAnswer(text: Text): { readonly id: string; readonly code: Buffer } {
  return reading("the answer", () => {
    const root = readObject(bytesOf(text), MAX_SIZE);
    return { id: matching(root.get("registration"), REGISTRATION_ID, "registration"), code: unb64(root.get("answer"), 32, "answer") };
  });
}
