import { reading, refuse } from "./sender/errors.js";
import { alertOf, outerAps } from "./sender/outer.js";
import { readPayload, type Header, type InnerPayload, type PayloadText } from "./sender/payload.js";
import { MAX_LIMIT, readTopic, type Draft, type Parties } from "./sender/seal.js";
import { type SealedBlob } from "./blobs.js";
import { checkFields, requestOf, wayOf, type Carrier, type CarrierRequests, type Delivery } from "./carriers.js";
import { SenderKey, type Recipient } from "./keys.js";
import { checkExposed, headerOf, readOptions, type SealOptions } from "./options.js";
import { fitted } from "./oversize.js";

/** What signs: a key, or a watched keyset, which is asked for each push. */
export type Signer = SenderKey | { senderKey(): SenderKey };

/** The keys of one push or challenge. Refuses with `invalidTopic`. */
export function partiesOf(topic: string, { key: to }: Recipient, signer: Signer | undefined): Parties {
  const signing = signer === undefined || signer instanceof SenderKey ? signer : signer.senderKey();
  return { topic: readTopic(topic), to, signer: signing?.key };
}

/** A sealed push. */
export interface Push<C extends Carrier = Carrier> extends Delivery {
  /** The payload as the device receives it. With the carrier "apns" it is the body of the request to APNs. */
  readonly body: Buffer;
  /** The message's id, for logs and to retract the push later. It is never sent unencrypted. */
  readonly id: string;
  readonly topic: string;
  readonly carrier: C;
  /** Unix times in seconds. The device refuses the message from `expiresAt` on. */
  readonly sealedAt: number;
  readonly expiresAt: number;
  /** The headers of the request to APNs. Add `authorization` with your own token for APNs. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the oversize plan did. Upload the `data` of a blob before you send the push. */
  readonly isBodyShortened: boolean;
  readonly offloaded: SealedBlob | undefined;
  /** The payload as a value, for clients that take one. Such a client writes the JSON again: seal for "rebuilt". */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The request to the carrier's service. Add the device's address and your credentials. */
  readonly request: CarrierRequests[C];
}

/** Seals the pushes to one app. */
export class Sealer {
  readonly #topic: string;
  readonly #signer: Signer | undefined;
  readonly #clock: () => number;

  /**
   * @param topic the app's bundle identifier. With another topic than the app's, every push shows its placeholder.
   * @param options.signer signs every push, for apps that pin this sender.
   * @param options.clock milliseconds since 1970.
   */
  constructor(topic: string, options: { readonly signer?: Signer; readonly clock?: () => number } = {}) {
    this.#topic = readTopic(topic);
    this.#signer = options.signer;
    this.#clock = options.clock ?? Date.now;
  }

  /**
   * Encrypts a payload: an object with `aps`, or its JSON, which is sealed byte for byte.
   *
   * Refuses with `invalidPayload`, `invalidPlaceholder`, `invalidOption`, `notExposable`, `notAuthenticated`, `suiteTooLow`,
   * `deviceMissing`, `tooLarge`, and with a watched keyset `noKeySeals`.
   */
  seal<C extends Carrier = "apns">(payload: PayloadText, options: SealOptions<C>): Push<C> {
    const given = readOptions(options);
    const {
      placeholder,
      padding = 128,
      carrier = "apns",
      quiet = false,
      exposed = [],
      collapseId,
      oversize = {},
    } = given;
    const way = wayOf(carrier);
    const limit = given.limit ?? MAX_LIMIT - way.reserved;
    const alert = alertOf(placeholder);
    const parties = partiesOf(this.#topic, given.to, this.#signer);
    const header = headerOf(given, parties, this.#clock());
    const inner = reading("the payload", () => readPayload(payload), { malformed: "invalidPayload" });
    if ("badge" in header && inner.aps.has("badge"))
      refuse("invalidPayload", "it sets the badge, and badgeAdd adds to it");
    checkExposed(inner.aps, exposed);
    checkFields(carrier, alert, exposed, inner.aps);
    const draftOf = (its: InnerPayload, head: Header): Draft => {
      return { payload: its, header: head, aps: outerAps(its, alert, exposed, quiet), place: way, padding, limit };
    };
    const { sealing, ...made } = fitted(parties, draftOf, inner, header, oversize);
    const body = sealing.seal();
    const { id, iat: sealedAt, exp: expiresAt } = header;
    const headers = {
      "apns-push-type": "alert",
      "apns-topic": this.#topic,
      "apns-expiration": String(expiresAt),
      "apns-priority": quiet ? "5" : "10",
      ...(collapseId !== undefined && { "apns-collapse-id": collapseId }),
    };
    const delivery = { headers, sealedAt, expiresAt, quiet, collapseId };
    return {
      ...delivery,
      ...made,
      body,
      id,
      topic: this.#topic,
      carrier: carrier as C,
      get payload() {
        return JSON.parse(body.toString());
      },
      get request() {
        return requestOf(carrier, body, delivery) as CarrierRequests[C];
      },
    };
  }
}
