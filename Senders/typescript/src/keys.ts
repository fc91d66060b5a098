import { refuse } from "./sender/errors.js";
import { type Key } from "./sender/key.js";
import { Keyset, useOf, type Entry, type RecordText } from "./keyset.js";
import { deviceKey } from "./suites.js";

/** How to choose a key of a set. */
export interface ChoiceOptions {
  /** A Unix time in seconds; now by default. */
  readonly at?: number;
  /**
   * Allows a set of recipients' keys whose newest ranks below an older one. Only an operator decides that: someone who can change the
   * set could otherwise make all further pushes easier to open.
   */
  readonly allowsLowerSuite?: boolean;
}

function primary(keyset: Keyset, { at = Math.floor(Date.now() / 1000) }: ChoiceOptions): Entry {
  return Keyset.primaryOf(keyset, at) ?? refuse("noKeySeals", "no key of the set is active at this time: fetch it again, or rotate it");
}

/** The key of one installation of the app, to which a sender seals. */
export class Recipient {
  readonly #key: Key;

  private constructor(key: Key) { this.#key = key; }

  /**
   * Reads a public key, a shared key or a device's key: a JWK, or a set of one JWK. Read uploads with `Registration`. Refuses with
   * `wrongKind` for a sender's key or a recipient's private key, `pskMissing`, or a code of `Keyset.fromJson`.
   */
  static fromJwk(record: RecordText): Recipient { return Recipient.ofEntry(Keyset.onlyOf(Keyset.fromJson(record))); }

  /** The key of a published set that seals now. Refuses also with `noKeySeals` and `suiteTooLow`. */
  static fromKeyset(keyset: Keyset, options: ChoiceOptions = {}): Recipient {
    if (options.allowsLowerSuite !== true) Keyset.checkRank(keyset);
    return Recipient.ofEntry(primary(keyset, options));
  }

  /** @internal */
  static ofEntry({ key, demandsPsk }: Omit<Entry, "times">): Recipient {
    if (key.kind.use === "sender") refuse("wrongKind", `key ${key.kid} is a sender's: nothing is sealed to it`);
    if (key.kind.use === "recipient" && key.secret !== undefined) {
      refuse("wrongKind", `key ${key.kid} is private, which only the device may have: export the registration record`);
    }
    if (demandsPsk && key.psk === undefined) refuse("pskMissing", `key ${key.kid} needs a psk, which only the registration record has`);
    return new Recipient(key);
  }

  /** @internal */
  static keyOf(recipient: Recipient): Key { return recipient.#key; }

  get kid(): string { return this.#key.kid; }

  /** The suite of messages to the key, 1 to 4. */
  get suite(): number { return this.#key.kind.suite; }

  /** The device id, if this is the key of one device. */
  get device(): string | undefined { return this.#key.device; }

  /** A device's own key, if this is the shared key of many devices. Refuses with `invalidDeviceID`, `wrongKind`. */
  forDevice(device: string): Recipient {
    return new Recipient(deviceKey(this.#key, device));
  }
}

/** A sender's private key, Ed25519, which signs messages. */
export class SenderKey {
  readonly #key: Key;

  private constructor({ key }: Entry) {
    const isSigner = useOf(key) === "sender" && key.secret !== undefined;
    this.#key = isSigner ? key : refuse("wrongKind", `key ${key.kid} isn't a sender's private key`);
  }

  /** Reads a private JWK. Refuses with `wrongKind`, or a code of `Keyset.fromJson`. */
  static fromJwk(record: RecordText): SenderKey { return new SenderKey(Keyset.onlyOf(Keyset.fromJson(record))); }

  /** The key of a private set that signs now. Refuses with `noKeySeals` or `wrongKind`. */
  static fromKeyset(keyset: Keyset, options: ChoiceOptions = {}): SenderKey {
    return new SenderKey(primary(keyset, options));
  }

  /** @internal */
  static keyOf(sender: SenderKey): Key { return sender.#key; }

  get kid(): string { return this.#key.kid; }
}
