import { isSame, NONE } from "./sender/bytes.js";
import { reading, refuse } from "./sender/errors.js";
import { readObject, type Text } from "./sender/json.js";
import { readKey } from "./sender/key.js";
import { MAX_SET } from "./device-set.js";
import { Recipient } from "./keys.js";
import { KINDS, rankOf } from "./suites.js";

const MAX_RECORD = 4_096; // bytes without the device set

/**
 * `psk`: a secret that only app and backend have, a psk or a shared key. `asymmetric`: a key pair, so that the backend can't open
 * what it has sealed.
 */
export type Requirement = "psk" | "asymmetric";

/** The bytes of a text as it came. */
export function bytesOf(text: Text): Buffer {
  if (typeof text === "string" || text instanceof Uint8Array) return Buffer.from(text as string);
  throw new TypeError("a parsed value in place of the text as it came: don't parse it before");
}

/** What an app uploads so that a backend can seal to it. */
export class Registration {
  /** The key to seal to. */
  readonly recipient: Recipient;
  readonly #record: Buffer;

  /**
   * Reads the body of an upload, as it came. Require `["psk", "asymmetric"]` of apps that use the library's `DeviceIdentity` as it is.
   * It checks all day keys. To seal to a stored record, `Recipient.fromJwk` is faster: it checks the key of the day, and no requirement.
   *
   * Refuses with `tooLarge`, `malformed`, `unsupportedKey`, `unsupportedSuite`, `invalidKey`, `kidMismatch`; `wrongKind` for a private
   * key or one that signs; `pskMissing` or `notAsymmetric` if a requirement isn't met; `notAuthentic`, `otherRegistration` for day
   * keys of another record.
   */
  constructor(record: Text, { requiring }: { readonly requiring: readonly Requirement[] }) {
    this.#record = bytesOf(record);
    const codes = { invalidDeviceID: "malformed", duplicateKey: "malformed", pskMissing: "malformed" } as const;
    this.recipient = reading("the record", () => recipientOf(this.#record), codes);
    const { key } = this.recipient;
    if (!Array.isArray(requiring) || !requiring.every((one) => one === "psk" || one === "asymmetric")) {
      throw new TypeError('requiring isn\'t an array of "psk" and "asymmetric"');
    }
    const isShared = key.use === "shared";
    if (requiring.includes("psk") && !isShared && key.psk === undefined) {
      refuse("pskMissing", `everyone could seal to key ${key.kid}`);
    }
    if (requiring.includes("asymmetric") && isShared) {
      refuse("notAsymmetric", `key ${key.kid} is shared, and a key pair is required`);
    }
  }

  /** The bytes of the upload. Store them with the account and the device token; they are a secret like a password. */
  get record(): Buffer {
    return Buffer.from(this.#record);
  }

  /** The key of its row. */
  get kid(): string {
    return this.recipient.kid;
  }
}

/** Of a record, whose day keys are checked. */
function recipientOf(record: Buffer): Recipient {
  const checkSize = (size: number) => size > MAX_RECORD && refuse("tooLarge", `it has more than ${MAX_RECORD} bytes`);
  checkSize(record.length - 6 * MAX_SET); // each character may be escaped
  const root = readObject(record);
  checkSize(record.length - Buffer.byteLength(root.raw("deviceSet")));
  const recipient = new Recipient(readKey(root, KINDS), false);
  recipient.deviceSet?.checkKeys();
  return recipient;
}

/** A row of the table of registrations, whose key is the kid. */
export interface StoredRegistration {
  readonly registration: Registration;
  readonly account: string;
  readonly deviceToken: string;
  /** The environment of APNs to which the device token belongs. */
  readonly environment?: "sandbox" | "production";
}

/** What an upload changes in the table. */
export interface RegistrationChange {
  /** Whether the upload is written. False if its row is the same. */
  readonly isWritten: boolean;
  /** The kids of rows to remove: one installation has one registration. */
  readonly removed: readonly string[];
}

/**
 * Decides what to do with the upload of a signed-in account. Read the rows with its kid or its device token, decide, and write in one
 * transaction. Refuses with `conflict` if another key has the kid, or another device set the `seq`; `rolledBack` for an older device set;
 * `otherAccount`, `suiteTooLow`.
 *
 * @param options.isProven the device has answered a challenge for the record. Only then can a key change its account.
 * @param options.allowsLowerSuite only for a device that is known to have lost the suite of its stored key.
 */
export function registrationChange(
  upload: StoredRegistration,
  options: {
    readonly over: Iterable<StoredRegistration>;
    readonly isProven: boolean;
    readonly allowsLowerSuite?: boolean;
  },
): RegistrationChange {
  const { kid, recipient, record } = upload.registration;
  const rows = [...options.over];
  const present = rows.find((row) => row.registration.kid === kid);
  if (present !== undefined) {
    if (!isSameKey(present.registration, upload.registration))
      refuse("conflict", `another key has the id ${kid}; it is never replaced`);
    if (present.account !== upload.account && options.isProven !== true)
      refuse("otherAccount", `key ${kid} belongs to another account`);
    const [old, young] = [present.registration.recipient.deviceSet, recipient.deviceSet];
    const step = (young?.sequence ?? Infinity) - (old?.sequence ?? -Infinity);
    if (step < 0) refuse("rolledBack", `a device set of key ${kid} is stored that is newer`);
    if (step === 0 && young?.text !== old?.text) refuse("conflict", `another device set of key ${kid} has its seq`);
  }
  const replaced = rows.filter((row) => row.deviceToken === upload.deviceToken && row.registration.kid !== kid);
  // The row of another account doesn't count: its user could keep the next user of the device from registering.
  const own = replaced.filter((row) => row.account === upload.account);
  const ranks = own.map((row) => rankOf(row.registration.recipient.suite));
  if (Math.max(...ranks) > rankOf(recipient.suite) && options.allowsLowerSuite !== true)
    refuse("suiteTooLow", `key ${kid} has suite ${recipient.suite}, which ranks below that of the replaced key`);
  const columns = ["account", "deviceToken", "environment"] as const;
  const isSameRow = columns.every((name) => present?.[name] === upload[name]);
  const isWritten = !isSameRow || !isSame(present?.registration.record ?? NONE, record);
  return { isWritten, removed: replaced.map((row) => row.registration.kid) };
}

/** Equal kids aren't enough: an attacker can make two keys with one kid of 64 bits. */
function isSameKey({ recipient: { key: a } }: Registration, { recipient: { key: b } }: Registration): boolean {
  const isSameSecret = (name: "psk" | "secret") => isSame(a[name]?.export() ?? NONE, b[name]?.export() ?? NONE);
  const isSamePublic = a.kind === b.kind && a.device === b.device && a.publicKey.equals(b.publicKey);
  return isSamePublic && isSameSecret("psk") && isSameSecret("secret");
}
