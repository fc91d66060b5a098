import { reading, refuse } from "./sender/errors.js";
import { alertOf, outerAps } from "./sender/outer.js";
import { readPayload, type Header, type InnerPayload, type PayloadText } from "./sender/payload.js";
import { MAX_LIMIT, readTopic, type Draft, type Parties } from "./sender/seal.js";
import { type SealedBlob } from "./blobs.js";
import { checkFields, requestOf, valueOf, wayOf, type Carrier, type CarrierRequests, type Delivery } from "./carriers.js";
import { Recipient, SenderKey } from "./keys.js";
import { checkExposed, checkOptions, extrasOf, hasInstructions, messageId, WINDOW, type SealOptions } from "./options.js";
import { fitted } from "./oversize.js";

/** What signs: a key, or a watched keyset, which is asked for each push. */
export type Signer = SenderKey | { senderKey(): SenderKey };

/** The keys of one push or challenge. */
export function partiesOf(topic: string, recipient: Recipient, signer: Signer | undefined): Parties {
  const key = signer === undefined || signer instanceof SenderKey ? signer : signer.senderKey();
  return { topic: readTopic(topic), to: Recipient.keyOf(recipient), signer: key && SenderKey.keyOf(key) };
}

/** A sealed push. */
export interface Push<C extends Carrier> extends Delivery {
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
  constructor(topic: string, { signer, clock = Date.now }: { readonly signer?: Signer; readonly clock?: () => number } = {}) {
    [this.#topic, this.#signer, this.#clock] = [readTopic(topic), signer, clock];
  }

  /**
   * Encrypts a payload: an object with `aps`, or its JSON, which is sealed byte for byte.
   *
   * Refuses with `invalidPayload`, `invalidPlaceholder`, `invalidOption`, `notExposable`, `notAuthenticated`, `suiteTooLow`,
   * `deviceMissing`, `tooLarge`, and with a watched keyset `noKeySeals`.
   */
  seal<C extends Carrier = "apns">(payload: PayloadText, options: SealOptions<C>): Push<C> {
    const { carrier = "apns" as C, quiet = false, padding = 128, exposed = [], collapseId } = options;
    const { place, reserved } = wayOf(carrier);
    const limit = options.limit ?? MAX_LIMIT - reserved;
    checkOptions(options, limit, padding);
    const alert = alertOf(options.placeholder);
    const parties = partiesOf(this.#topic, options.to, this.#signer);
    const header = this.#header(parties, options);
    const inner = reading("the payload", () => readPayload(payload), { malformed: "invalidPayload" });
    if ("badge" in header && inner.aps.has("badge")) refuse("invalidPayload", "the payload sets the badge, and badgeAdd adds to it");
    checkExposed(inner.aps, exposed);
    checkFields(carrier, alert, exposed, inner.aps);
    const draftOf = (its: InnerPayload, head: Header): Draft =>
      ({ payload: its, header: head, aps: outerAps(its, alert, exposed, quiet), place, padding, limit });
    const { sealing, ...made } = fitted(parties, draftOf, inner, header, options.oversize ?? {});
    const body = sealing.outerPayload();
    const { id, iat: sealedAt, exp: expiresAt } = header;
    const headers = {
      "apns-push-type": "alert", "apns-topic": this.#topic, "apns-expiration": String(expiresAt), "apns-priority": quiet ? "5" : "10",
      ...(collapseId !== undefined && { "apns-collapse-id": collapseId }),
    };
    const delivery = { body, id, topic: this.#topic, carrier, quiet, collapseId, sealedAt, expiresAt, headers, ...made };
    return {
      ...delivery,
      get payload() { return valueOf(body); },
      get request() { return requestOf(carrier, body.toString("utf8"), delivery) as CarrierRequests[C]; },
    };
  }

  #header({ to, signer }: Parties, options: SealOptions): Header {
    const [iat, id, lifetime] = [Math.floor(this.#clock() / 1000), messageId(options.campaign, to), options.expiresAfter ?? WINDOW];
    if (!(iat >= 0 && Number.isSafeInteger(iat + lifetime))) refuse("invalidOption", "the clock's time can't be represented");
    const extras = reading("the options", () => extrasOf(id, options), { malformed: "invalidOption" });
    const isProven = signer !== undefined || to.psk !== undefined || to.kind.use === "shared"; // PROTOCOL section 11
    if (hasInstructions(extras, options) && !isProven) {
      refuse("notAuthenticated", `everyone can seal to key ${to.kid}, so its device ignores retract, quiet, badgeAdd and avatars: `
        + "sign the push, or use a registration record with a psk");
    }
    return { id, iat, exp: iat + lifetime, ...extras };
  }
}
