import { ascii, expand, hmac, NONE, sealGcm, u16, u8 } from "./bytes.js";

// HPKE (RFC 9180), single-shot, in the modes base and psk, with HKDF-SHA256 (0x0001) and AES-GCM.

/** The identifiers of a suite (section 7), and Nk in bytes. */
export type Ciphersuite = Readonly<Record<"kem" | "aead" | "keySize", number>>;

/** What a KEM's Encap returns. */
export type Encapsulation = Readonly<Record<"sharedSecret" | "enc", Buffer>>;

/** Neither is empty (section 5.1, VerifyPSKInputs). */
export type Psk = Readonly<Record<"secret" | "id", Buffer>>;

/** Section 4: LabeledExtract(salt, label, ikm) = Extract(salt, "HPKE-v1" ‖ suite_id ‖ label ‖ ikm) */
const labeledExtract = (suiteId: string, salt: Buffer, label: string, ikm: Buffer): Buffer =>
  hmac(salt, ascii(`HPKE-v1${suiteId}${label}`), ikm);

/** Section 4: LabeledExpand(prk, label, info, L) = Expand(prk, I2OSP(L, 2) ‖ "HPKE-v1" ‖ suite_id ‖ label ‖ info, L) */
const labeledExpand = (suiteId: string, prk: Buffer, label: string, info: Buffer, length: number): Buffer =>
  expand(prk, Buffer.concat([ascii(`${u16(length)}HPKE-v1${suiteId}${label}`), info]), length);

/** Section 4.1: the shared_secret of a DHKEM is ExtractAndExpand(dh, enc ‖ pkRm), with the suite_id "KEM" ‖ I2OSP(kem_id, 2). */
export function encapsulation(kem: number, dh: Buffer, enc: Buffer, publicKey: Buffer): Encapsulation {
  const suiteId = `KEM${u16(kem)}`;
  const prk = labeledExtract(suiteId, NONE, "eae_prk", dh);
  return { enc, sharedSecret: labeledExpand(suiteId, prk, "shared_secret", Buffer.concat([enc, publicKey]), 32) };
}

/** Section 5.1: KeySchedule(mode, shared_secret, info, psk, psk_id), of which the first message needs key and base_nonce. */
export function keySchedule({ kem, aead, keySize }: Ciphersuite, sharedSecret: Buffer, info: Buffer, psk?: Psk) {
  const suiteId = `HPKE${u16(kem)}${u16(1)}${u16(aead)}`;
  const pskIdHash = labeledExtract(suiteId, NONE, "psk_id_hash", psk?.id ?? NONE);
  const infoHash = labeledExtract(suiteId, NONE, "info_hash", info);
  const context = Buffer.concat([u8(psk === undefined ? 0 : 1), pskIdHash, infoHash]); // mode_base is 0, mode_psk is 1
  const secret = labeledExtract(suiteId, sharedSecret, "secret", psk?.secret ?? NONE);
  const key = labeledExpand(suiteId, secret, "key", context, keySize);
  return { context, key, nonce: labeledExpand(suiteId, secret, "base_nonce", context, 12) };
}

/** Section 6.1: ct, under an empty aad. The nonce of sequence number 0 is base_nonce (section 5.2). */
export function sealHpke(
  suite: Ciphersuite,
  sharedSecret: Buffer,
  info: Buffer,
  psk: Psk | undefined,
  plaintext: Buffer,
) {
  const { key, nonce } = keySchedule(suite, sharedSecret, info, psk);
  return sealGcm(key, nonce, NONE, plaintext);
}
