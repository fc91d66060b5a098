import { reading, refuse } from "./sender/errors.js";
import { type Key } from "./sender/key.js";
import { alertOf, outerAps } from "./sender/outer.js";
import { readPayload, type Header, type InnerPayload, type PayloadText } from "./sender/payload.js";
import { MAX_LIMIT, readTopic, type Draft, type Parties } from "./sender/seal.js";
import { type SealedBlob } from "./blobs.js";
import { checkFields, requestOf, wayOf, type Carrier, type Members } from "./carriers.js";
import { SenderKey } from "./keys.js";
import { checkExposed, headerOf, readOptions, type SealOptions } from "./options.js";
import { fitted } from "./oversize.js";

/** What signs: a key, or a watched keyset, which is asked for each push. */
export type Signer = SenderKey | { senderKey(): SenderKey };

/** @internal The keys of one push or challenge. Refuses with `invalidTopic`. */
export function partiesOf(topic: string, to: Key, signer: Signer | undefined): Parties {
  const signing = signer === undefined || signer instanceof SenderKey ? signer : signer.senderKey();
  return { topic: readTopic(topic), to, signer: signing?.key };
}

/** A sealed push. */
export class Push {
  /** @internal */
  constructor(
    /** The payload as the device receives it. With the carrier "apns" it is the body of the request to APNs. */
    readonly body: Buffer,
    /** The message's id, for logs and to retract the push later. It is never sent unencrypted. */
    readonly id: string,
    readonly topic: string,
    readonly carrier: Carrier,
    /** Unix times in seconds. The device refuses the message from `expiresAt` on. */
    readonly sealedAt: number,
    readonly expiresAt: number,
    readonly isQuiet: boolean,
    readonly collapseId: string | undefined,
    /** What the oversize plan did. Upload the `data` of a blob before you send the push. */
    readonly isBodyShortened: boolean,
    readonly offloaded: SealedBlob | undefined,
    /** Whether the device has day keys and none for today. Count these pushes: its app hasn't run for long. */
    readonly usesLastResortKey: boolean,
  ) {}

  /** The headers of the request to APNs. Add `authorization` with your own token for APNs. */
  get headers(): Readonly<Record<string, string>> {
    const { topic, expiresAt, isQuiet, collapseId } = this;
    const head = { "apns-push-type": "alert", "apns-topic": topic, "apns-expiration": String(expiresAt) };
    const priority = { "apns-priority": isQuiet ? "5" : "10" };
    return { ...head, ...priority, ...(collapseId !== undefined && { "apns-collapse-id": collapseId }) };
  }

  /** The payload as a value, for clients that take one. Such a client writes the JSON again: seal for "rebuilt". */
  get payload(): Members {
    return JSON.parse(this.body.toString()) as Members;
  }

  /** The request to the carrier's service (docs/services.md). Add the device's address and your credentials. */
  get request(): Members {
    return requestOf(this);
  }
}

/** Seals the pushes to one app. */
export class Sealer {
  readonly #topic: string;
  readonly #signer: Signer | undefined;
  readonly #clock: () => number;

  /**
   * @param topic the app's bundle identifier. With another topic than the app's, every push shows its placeholder.
   * @param options.signer signs every push, for apps that pin this sender. One that can't sign is refused: `wrongKind`, `noKeySeals`.
   * @param options.clock milliseconds since 1970.
   */
  constructor(topic: string, options: { readonly signer?: Signer; readonly clock?: () => number } = {}) {
    this.#topic = readTopic(topic);
    this.#signer = options.signer;
    this.#clock = options.clock ?? Date.now;
    if (!(this.#signer instanceof SenderKey)) this.#signer?.senderKey();
  }

  /**
   * Encrypts a payload: an object with `aps`, or its JSON, which is sealed byte for byte.
   *
   * Refuses with `invalidPayload`, `invalidPlaceholder`, `invalidOption`, `notExposable`, `notAuthenticated`, `suiteTooLow`,
   * `deviceMissing`, `expiresTooLate`, `noDayKey`, `tooLarge`, for a day key a code of `Registration`, and with a
   * watched keyset `noKeySeals`.
   */
  seal(payload: PayloadText, options: SealOptions): Push {
    const given = readOptions(options);
    const { placeholder, padding = 128, carrier = "apns", quiet = false } = given;
    const { exposed = [], collapseId, oversize = {} } = given;
    const place = wayOf(carrier);
    const limit = given.limit ?? MAX_LIMIT - place.reserved;
    const alert = alertOf(placeholder);
    const now = Math.floor(this.#clock() / 1000);
    const { key, deviceSet } = given.to;
    const dayKey = deviceSet?.keyAt(now);
    const usesLastResortKey = deviceSet !== undefined && dayKey === undefined;
    if (usesLastResortKey && given.requiresDayKey)
      refuse("noDayKey", `the device of key ${key.kid} has no key for today: its app must run and upload others`);
    const parties = partiesOf(this.#topic, dayKey ?? key, this.#signer);
    const header = headerOf(given, parties, now);
    const inner = reading("the payload", () => readPayload(payload), { malformed: "invalidPayload" });
    if ("badge" in header && inner.aps.has("badge"))
      refuse("invalidPayload", "it sets the badge, and badgeAdd adds to it");
    checkExposed(inner.aps, exposed);
    checkFields(carrier, alert, exposed, inner.aps);
    const draftOf = (its: InnerPayload, head: Header): Draft => {
      return { payload: its, header: head, aps: outerAps(its, alert, exposed, quiet), place, padding, limit };
    };
    const { sealing, isBodyShortened, offloaded } = fitted(parties, draftOf, inner, header, oversize);
    const [body, { id, iat, exp }] = [sealing.seal(), header];
    const done = [isBodyShortened, offloaded, usesLastResortKey] as const;
    return new Push(body, id, this.#topic, carrier, iat, exp, quiet, collapseId, ...done);
  }
}
