import { randomBytes } from "node:crypto";
import { ascii, b64, sealGcm, sha256, unb64 } from "./sender/bytes.js";
import { reading, refuse } from "./sender/errors.js";
import { MAX_PAYLOAD, readPayload, spacesBehind, type PayloadText } from "./sender/payload.js";

const MAGIC = ascii("PCB1");
const CHUNK = 65_536, PAGE = 4_096, MAX_SIZE = 2 ** 48; // an offloaded payload is padded to a multiple of PAGE
const ATTACHMENT = 1, PAYLOAD = 2; // purposes

const PORT = "(?!0+(?![0-9]))(?:[0-9]{1,4}|[0-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
const URL = new RegExp(`^(?!.{2049})https://(?![A-Za-z0-9.-]{254})[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*(?::${PORT})?`
  + "(?:[/?](?:[A-Za-z0-9._~:/?\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?$");
const TYPE = /^[a-z0-9][a-z0-9.+_-]{0,63}\/[a-z0-9][a-z0-9.+_-]{0,63}$/;
const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** A reference to a blob as the message has it. It is a secret: `key` opens the blob. */
export interface Reference {
  readonly url: string;
  readonly key: string;
  readonly size: number;
  readonly sha256: string;
}

/** A reference to a sealed file. An avatar is the picture of the message's sender; keep the reference for its next pushes. */
export interface Attachment extends Reference {
  /** The MIME type. */
  readonly type: string;
  readonly id?: string;
  readonly use?: "avatar";
}

/** A sealed file, before its address is known. Upload `data`, and don't store the key beside it. */
export class SealedBlob {
  readonly data: Buffer;
  readonly #key: Buffer;
  readonly #size: number;

  /** @internal The key must be fresh: a second blob under it would have the same nonces. */
  constructor(purpose: number, plaintext: Uint8Array, key = randomBytes(32)) {
    [this.data, this.#key, this.#size] = [sealBlob(key, purpose, plaintext), key, plaintext.length];
  }

  /** The reference for `offload`, and with a `type` for `attachments`. `url` is the https address where you upload `data`. */
  at<T extends Omit<Attachment, keyof Reference> | undefined>(url: string, file?: T): Reference & T {
    return { url, key: b64(this.#key), size: this.#size, sha256: b64(sha256(this.data)), ...(file as T) };
  }
}

/** Encrypts a file under a fresh key. */
export const sealAttachment = (data: Uint8Array): SealedBlob => new SealedBlob(ATTACHMENT, data);

/** Encrypts a payload that is too large for a push. Refuses with `invalidPayload`. */
export function sealOffload(payload: PayloadText): SealedBlob {
  const { source } = reading("the payload to offload", () => readPayload(payload), { malformed: "invalidPayload" }).root;
  const bytes = Buffer.from(source.slice(0, source.length - spacesBehind(source)), "utf8");
  return new SealedBlob(PAYLOAD, Buffer.concat([bytes, Buffer.alloc(-bytes.length & (PAGE - 1), " ")]));
}

/**
 * blob  = "PCB1" ‖ chunk+                                                                                       (PROTOCOL section 7)
 * chunk = AES-256-GCM(key, nonce, aad, 65,536 bytes of plaintext; 1 to 65,536 in the last chunk, 0 only if the plaintext is empty)
 * nonce = unsigned 88-bit counter from 0, below 2^32 ‖ 0x00, or 0x01 in the last chunk
 * aad   = "PCB1" ‖ u8(purpose)
 */
function sealBlob(key: Buffer, purpose: number, plaintext: Uint8Array): Buffer {
  const last = Math.max(Math.ceil(plaintext.length / CHUNK) - 1, 0);
  const chunks = Array.from({ length: last + 1 }, (_, counter) => {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(counter, 7);
    nonce.writeUInt8(counter === last ? 1 : 0, 11);
    return sealGcm(key, nonce, Buffer.concat([MAGIC, Buffer.of(purpose)]), plaintext.subarray(counter * CHUNK, (counter + 1) * CHUNK));
  });
  return Buffer.concat([MAGIC, ...chunks]);
}

/** The members of a reference that the protocol knows. Refuses with `malformed`. */
export function checkedReference(value: Reference | Attachment, isAttachment: boolean): Reference {
  const { url, key, size, sha256: digest, type, id, use } = { ...value } as Partial<Attachment>;
  if (typeof url !== "string" || !URL.test(url)) refuse("malformed", "its url isn't an https URL of 1 to 2,048 bytes");
  unb64(key, 32, "its key");
  unb64(digest, 32, "its sha256");
  const isSize = Number.isSafeInteger(size) && (size as number) >= 0 && (size as number) <= (isAttachment ? MAX_SIZE : MAX_PAYLOAD);
  if (!isSize) refuse("malformed", "its size is out of range");
  if (!isAttachment) return { url, key, size, sha256: digest } as Reference;
  if (typeof type !== "string" || !TYPE.test(type)) refuse("malformed", "its type isn't a MIME type in lower case");
  if (id !== undefined && !(typeof id === "string" && ID.test(id))) refuse("malformed", "its id isn't 1 to 64 letters, digits, _ and -");
  if (use !== undefined && use !== "avatar") refuse("malformed", 'its use isn\'t "avatar"');
  return { url, key, size, sha256: digest, type, ...(id !== undefined && { id }), ...(use !== undefined && { use }) } as Attachment;
}
