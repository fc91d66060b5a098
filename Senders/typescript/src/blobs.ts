import { createSecretKey, KeyObject, randomBytes } from "node:crypto";
import { ascii, b64, sealGcm, sha256, u8 } from "./sender/bytes.js";
import { reading } from "./sender/errors.js";
import { base64, integer, object, oneOf, text, type Form } from "./sender/forms.js";
import { MAX_PAYLOAD, readPayload, spacesBehind, type PayloadText } from "./sender/payload.js";

const MAGIC = ascii("PCB1");
const CHUNK = 65_536; // bytes
const PAGE = 4_096; // an offloaded payload is padded to a multiple of it
const ATTACHMENT = 1; // purposes
const PAYLOAD = 2;

const PORT = "(?!0+(?![0-9]))(?:[0-9]{1,4}|[0-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
const HOST = "(?![A-Za-z0-9.-]{254})[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*";
const REST = "(?:[/?](?:[A-Za-z0-9._~:/?\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?";
const URL = new RegExp(`^(?!.{2049})https://${HOST}(?::${PORT})?${REST}$`);
const keyForm: Form<string> = (value, name) =>
  base64(32)(value instanceof KeyObject ? b64(value.export()) : value, name);
const REFERENCE = { url: text(URL), key: keyForm, sha256: base64(32) };

/** A reference to a blob. */
export interface Reference {
  readonly url: string;
  /** Opens the blob. Nothing prints it or writes it as JSON: store `key.export()`, of which `createSecretKey` of Node makes it again. */
  readonly key: KeyObject;
  readonly size: number;
  readonly sha256: string;
  /** Whether it is a payload that sets the badge, which `badgeAdd` refuses. The message doesn't have it. */
  readonly setsBadge?: boolean;
}

/** A reference to a sealed file. An avatar is the picture of the message's sender; keep the reference for its next pushes. */
export interface Attachment extends Reference {
  /** The MIME type. */
  readonly type: string;
  readonly id?: string;
  readonly use?: "avatar";
}

/** A reference to an offloaded payload. */
export const offloadForm = object({ ...REFERENCE, size: integer(0, MAX_PAYLOAD) });

export const attachmentForm = object(
  { ...REFERENCE, size: integer(0, 2 ** 48), type: text(/^[a-z0-9][a-z0-9.+_-]{0,63}\/[a-z0-9][a-z0-9.+_-]{0,63}$/) },
  { id: text(/^[A-Za-z0-9_-]{1,64}$/), use: oneOf("avatar" as const) },
);

/** A sealed file, before its address is known. Upload `data`, and don't store the key beside it. */
export class SealedBlob {
  readonly data: Buffer;
  readonly #key: KeyObject;
  readonly #size: number;
  readonly #setsBadge: boolean;

  /** @internal The key must be fresh: a second blob under it would have the same nonces. */
  constructor(purpose: number, plaintext: Uint8Array, key = randomBytes(32), setsBadge = false) {
    if (!(plaintext instanceof Uint8Array)) throw new TypeError("a file to seal is a Uint8Array");
    this.data = sealBlob(key, purpose, Buffer.from(plaintext));
    this.#key = createSecretKey(key);
    this.#size = plaintext.length;
    this.#setsBadge = setsBadge;
  }

  /** The reference for `offload`, and with a `type` for `attachments`. `url` is the https address where you upload `data`. */
  at<T extends Omit<Attachment, keyof Reference> | undefined>(url: string, file?: T): Reference & T {
    const reference = { url, key: this.#key, size: this.#size, sha256: b64(sha256(this.data)) };
    return { ...reference, ...(this.#setsBadge && { setsBadge: true }), ...(file as T) };
  }
}

/** Encrypts a file under a fresh key. */
export const sealAttachment = (data: Uint8Array): SealedBlob => new SealedBlob(ATTACHMENT, data);

/** Encrypts a payload that is too large for a push. Refuses with `invalidPayload`. */
export function sealOffload(payload: PayloadText): SealedBlob {
  const { root, aps } = reading("the payload to offload", () => readPayload(payload), { malformed: "invalidPayload" });
  const source = root.source;
  const bytes = Buffer.from(source.slice(0, source.length - spacesBehind(source)), "utf8");
  const padded = Buffer.concat([bytes, Buffer.alloc(-bytes.length & (PAGE - 1), " ")]);
  return new SealedBlob(PAYLOAD, padded, undefined, aps.has("badge"));
}

/**
 * blob  = "PCB1" ‖ chunk+                                                                                       (PROTOCOL section 7)
 * chunk = AES-256-GCM(key, nonce, aad, 65,536 bytes of plaintext; 1 to 65,536 in the last chunk, 0 only if the plaintext is empty)
 * nonce = unsigned 88-bit counter from 0, below 2^32 ‖ 0x00, or 0x01 in the last chunk
 * aad   = "PCB1" ‖ u8(purpose)
 */
function sealBlob(key: Buffer, purpose: number, plaintext: Buffer): Buffer {
  const aad = Buffer.concat([MAGIC, u8(purpose)]);
  const last = Math.max(Math.ceil(plaintext.length / CHUNK) - 1, 0);
  const chunks = Array.from({ length: last + 1 }, (_, counter) => {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(counter, 7);
    nonce.writeUInt8(counter === last ? 1 : 0, 11);
    return sealGcm(key, nonce, aad, plaintext.subarray(counter * CHUNK, (counter + 1) * CHUNK));
  });
  return Buffer.concat([MAGIC, ...chunks]);
}
