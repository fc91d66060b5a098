import { createSecretKey, randomBytes } from "node:crypto";
import { ED25519 } from "./sender/curves.js";
import { refuse } from "./sender/errors.js";
import { keyId, recordOf, type Key } from "./sender/key.js";
import { DeviceSet } from "./device-set.js";
import { Keyset, type Entry, type RecordText } from "./keyset.js";
import { deviceKey } from "./suites.js";

export const WINDOW = 30 * 86_400; // the longest lifetime of a push, in seconds

/** How to choose a key of a set. */
export interface ChoiceOptions {
  /** A Unix time in seconds; now by default. */
  readonly at?: number;
  /**
   * Allows a set of recipients' keys whose newest ranks below an older one. Only an operator decides that: someone who can change
   * the set could otherwise make all further pushes easier to open.
   */
  readonly allowsLowerSuite?: boolean;
}

function primaryOf(keyset: Keyset, { at = Math.floor(Date.now() / 1000) }: ChoiceOptions): Entry {
  return (
    keyset.primary(at) ?? refuse("noKeySeals", "no key of the set is active at this time: fetch it again, or rotate it")
  );
}

/** The key of one installation of the app, to which a sender seals. */
export class Recipient {
  /** @internal */
  readonly deviceSet?: DeviceSet;

  /** @internal */
  constructor(
    /** @internal */ readonly key: Key,
    demandsPsk: boolean,
  ) {
    if (key.kind.suite === 0) refuse("wrongKind", `key ${key.kid} is a sender's: nothing is sealed to it`);
    if (key.use === "recipient" && key.secret !== undefined) {
      refuse("wrongKind", `key ${key.kid} is private, which only the device may have: export the registration record`);
    }
    if (demandsPsk && key.psk === undefined) {
      refuse("pskMissing", `key ${key.kid} needs a psk, which only the registration record has`);
    }
    if (key.deviceSet !== undefined) this.deviceSet = new DeviceSet(key);
  }

  /**
   * Reads a public key, a shared key or a device's key: a JWK, or a set of one JWK. Read uploads with `Registration`. Refuses with
   * `wrongKind` for a sender's key or a recipient's private key, `pskMissing`, `noKeySeals` for a set whose key isn't
   * active yet, or a code of `Keyset.fromJson`.
   */
  static fromJwk(record: RecordText): Recipient {
    const { key, demandsPsk } = Keyset.fromJson(record).only;
    return new Recipient(key, demandsPsk);
  }

  /** The key of a published set that seals now. Refuses also with `noKeySeals` and `suiteTooLow`. */
  static fromKeyset(keyset: Keyset, options: ChoiceOptions = {}): Recipient {
    if (options.allowsLowerSuite !== true) keyset.checkRank();
    const { key, demandsPsk } = primaryOf(keyset, options);
    return new Recipient(key, demandsPsk);
  }

  /** Its id. */
  get kid(): string {
    return this.key.kid;
  }

  /** The suite of messages to the key, 1 to 4. */
  get suite(): number {
    return this.key.kind.suite;
  }

  /** The device id, if this is the key of one device. */
  get device(): string | undefined {
    return this.key.device;
  }

  /** The longest time until a push expires, in seconds: 30 days, or the 1 to 7 days after which a device erases its day keys. */
  get longestLifetime(): number {
    return this.deviceSet?.flight ?? WINDOW;
  }

  /** A device's own key, if this is the shared key of many devices. Refuses with `invalidDeviceID`, `wrongKind`. */
  forDevice(device: string): Recipient {
    return new Recipient(deviceKey(this.key, device), false);
  }
}

/** A sender's private key, Ed25519, which signs messages. */
export class SenderKey {
  /** @internal */
  constructor(/** @internal */ readonly key: Key) {
    if (key.use !== "sender" || key.secret === undefined)
      refuse("wrongKind", `key ${key.kid} isn't a sender's private key`);
  }

  /** Makes a key, for tests and first steps. A keyset (`pushcrypt keys create`) has keys that rotate. */
  static generate(): SenderKey {
    const secret = randomBytes(32);
    const publicKey = ED25519.publicOf(secret);
    const key: Key = { kind: ED25519, use: "sender", kid: "", publicKey, secret: createSecretKey(secret) };
    return new SenderKey({ ...key, kid: keyId(key) });
  }

  /** Reads a private JWK. Refuses with `wrongKind`, `noKeySeals`, or a code of `Keyset.fromJson`. */
  static fromJwk(record: RecordText): SenderKey {
    return new SenderKey(Keyset.fromJson(record).only.key);
  }

  /** The key of a private set that signs now. Refuses with `noKeySeals` or `wrongKind`. */
  static fromKeyset(keyset: Keyset, options: ChoiceOptions = {}): SenderKey {
    return new SenderKey(primaryOf(keyset, options).key);
  }

  /** Its id. */
  get kid(): string {
    return this.key.kid;
  }

  /** The JWK that apps pin, or with the private key `d`, which `fromJwk` reads and which is a secret. */
  toJwk({ isPrivate = false } = {}): Readonly<Record<string, string>> {
    const { d: _, ...publicRecord } = recordOf(this.key);
    return isPrivate ? recordOf(this.key) : publicRecord;
  }
}
