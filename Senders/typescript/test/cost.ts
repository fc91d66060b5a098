import {
  createCipheriv, createECDH, createHash, createHmac, createPrivateKey, diffieHellman, generateKeyPairSync, randomBytes, sign, type KeyObject,
} from "node:crypto";
import { Recipient, Sealer, SenderKey } from "../src/index.js";
import { vectors } from "./vectors.js";

// What sealing costs beside the primitives that the protocol asks for: node .build/test/cost.js
// Both run in turns, after a warm-up, and the best of many rounds counts.

const [ROUNDS, CALLS] = [400, 20]; // a round is short, so that the best ones aren't interrupted
const { records } = vectors("sender-refusals-v1.json");
const signingKey = createPrivateKey({ key: { ...JSON.parse(records.sender), alg: undefined }, format: "jwk" });
const payload = '{"aps":{"alert":{"title":"Dr. Amara Osei","body":"Your results are in."},"sound":"default"},"case":"2041"}';
const placeholder = { title: "New message", body: "Open the app to read it" };
const [message, info, secret] = [Buffer.alloc(256, " "), randomBytes(56), randomBytes(32)];
const signed = Buffer.concat([Buffer.from("pushcrypt/1 signature\0"), info, secret, message]);

const hmac = (key: Uint8Array, text: Uint8Array): Buffer => createHmac("sha256", key).update(text).digest();

/** R, the signature, and AES-GCM. */
function finish(identity: () => void, key: Buffer, nonce: Buffer): void {
  identity();
  const text = Buffer.concat([sign(null, signed, signingKey), message]);
  const cipher = createCipheriv(key.length === 16 ? "aes-128-gcm" : "aes-256-gcm", key, nonce);
  Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** The HMACs of RFC 9180: two of the KEM, and five of the key schedule. */
function hpke(shared: Buffer, enc: Buffer, size: number): void {
  const prk = hmac(Buffer.alloc(0), shared);
  const sharedSecret = hmac(prk, enc);
  const infoHash = hmac(Buffer.alloc(0), info);
  const pskIdHash = hmac(Buffer.alloc(0), secret);
  const schedule = hmac(sharedSecret, Buffer.concat([secret, pskIdHash, infoHash]));
  finish(() => createHash("sha256").update(secret).digest(), hmac(schedule, secret).subarray(0, size), hmac(schedule, secret).subarray(0, 12));
}

const generate = generateKeyPairSync as unknown as (type: string, options: object) => { privateKey: KeyObject; publicKey: { x: string } };
const p256 = createECDH("prime256v1");
const p256Key = p256.generateKeys();
const x25519Key = generateKeyPairSync("x25519").publicKey;
const primitives: Record<string, () => void> = {
  "p256 psk": () => {
    randomBytes(16);
    const pair = createECDH("prime256v1");
    const enc = pair.generateKeys();
    hpke(pair.computeSecret(p256Key), enc, 32);
  },
  x25519: () => {
    randomBytes(16);
    const { privateKey, publicKey } = generate("x25519", { publicKeyEncoding: { format: "jwk" } });
    hpke(diffieHellman({ privateKey, publicKey: x25519Key }), Buffer.from(publicKey.x, "base64url"), 16);
  },
  device: () => {
    randomBytes(16);
    const prk = hmac(randomBytes(16), secret);
    const first = hmac(prk, info);
    const second = hmac(prk, Buffer.concat([first, info]));
    finish(() => hmac(secret, info), first, second.subarray(0, 12));
  },
};

function microseconds(run: () => void): number {
  const start = process.hrtime.bigint();
  for (let call = 0; call < CALLS; call += 1) run();
  return Number(process.hrtime.bigint() - start) / 1_000 / CALLS;
}

const only = process.argv[2];
for (const [name, floor] of Object.entries(primitives)) {
  if (only !== undefined && only !== name) continue;
  const record = name === "x25519" ? { ...JSON.parse(records.x25519), psk: secret.toString("base64url") } : records[name];
  const sealer = new Sealer("com.example.app", { signer: SenderKey.fromJwk(records.sender) });
  const to = Recipient.fromJwk(record);
  const seal = (): unknown => sealer.seal(payload, { to, placeholder });
  const [own, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [sealed, made] = [microseconds(seal), microseconds(floor)];
    if (round < ROUNDS / 4) continue;
    own.push(sealed);
    bare.push(made);
  }
  const [best, least] = [Math.min(...own), Math.min(...bare)];
  console.log(`${name}: seal ${best.toFixed(1)} us, primitives ${least.toFixed(1)} us, ${(best / least).toFixed(2)}`);
}
