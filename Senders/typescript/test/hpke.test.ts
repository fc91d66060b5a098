import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createECDH } from "node:crypto";
import { describe, it } from "node:test";
import { encapsulateP256, P256, P256_SUITE, privateOkp } from "../src/sender/curves.js";
import { sealGcm } from "../src/sender/bytes.js";
import { encapsulation, keySchedule } from "../src/sender/hpke.js";
import { encapsulateX25519, X25519, X25519_SUITE } from "../src/suites.js";
import { dhP256, dhX25519, openAead } from "./opener.js";
import { hex, vectors } from "./vectors.js";

interface Vector {
  section: string;
  mode: number;
  kem_id: number;
  aead_id: number;
  [name: string]: unknown;
}

const bytes = (vector: Vector, name: string): Buffer => hex(vector[name] as string);
const KEY_SIZES: Record<number, number> = { 1: 16, 2: 32, 3: 32 };

function pskOf(vector: Vector): { secret: Buffer; id: Buffer } | undefined {
  return vector.mode === 1 ? { secret: bytes(vector, "psk"), id: bytes(vector, "psk_id") } : undefined;
}

function suiteOf({ kem_id: kem, aead_id: aead }: Vector): { kem: number; aead: number; keySize: number } {
  return { kem, aead, keySize: KEY_SIZES[aead] ?? 0 };
}

describe("RFC 9180 appendix A, modes base and psk", () => {
  const all = (vectors("rfc9180-appendix-a.json") as Vector[]).filter(({ mode }) => mode < 2);
  assert.equal(all.length, 10);
  for (const vector of all) {
    it(`A sender's values of ${vector.section}`, () => {
      const [pkR, skE] = [bytes(vector, "pkRm"), bytes(vector, "skEm")];
      const pair = createECDH("prime256v1");
      if (vector.kem_id === P256_SUITE.kem) pair.setPrivateKey(skE);
      const made = vector.kem_id === P256_SUITE.kem ? encapsulateP256(pkR, pair) : encapsulateX25519(pkR, { privateKey: privateOkp("X25519", skE), enc: X25519.publicOf(skE) });
      assert.deepEqual(made.enc, bytes(vector, "enc"));
      assert.deepEqual(made.sharedSecret, bytes(vector, "shared_secret"));
      if (vector.aead_id === 0xffff) return; // a key is only exported
      const { key, nonce } = keySchedule(suiteOf(vector), made.sharedSecret, bytes(vector, "info"), pskOf(vector));
      assert.deepEqual(key, bytes(vector, "key"));
      assert.deepEqual(nonce, bytes(vector, "base_nonce"));
      const [first] = vector["encryptions"] as [Record<string, string>];
      if (vector.aead_id > 2) return; // pushcrypt has AES-GCM only
      assert.equal(sealGcm(key, nonce, hex(first["aad"] ?? ""), hex(first["pt"] ?? "")).toString("hex"), first["ct"]);
    });
  }
});

describe("hpke-edges", () => {
  for (const vector of vectors("hpke-edges.json") as Vector[]) {
    it(`${vector.section}: ${String(vector["title"])}`, () => {
      const [enc, skR, pkR] = [bytes(vector, "enc"), bytes(vector, "skRm"), bytes(vector, "pkRm")];
      const isP256 = vector.kem_id === P256_SUITE.kem;
      assert.deepEqual((isP256 ? P256 : X25519).publicOf(skR), pkR);
      const { sharedSecret } = encapsulation(vector.kem_id, isP256 ? dhP256(skR, enc) : dhX25519(skR, enc), enc, pkR);
      const aead = keySchedule(suiteOf(vector), sharedSecret, bytes(vector, "info"), pskOf(vector));
      const [first] = vector["encryptions"] as [Record<string, string>];
      if (vector.aead_id <= 2) assert.deepEqual(openAead(aead, hex(first["ct"] ?? ""), hex(first["aad"] ?? "")), hex(first["pt"] ?? ""));
    });
  }
});

describe("encapsulations", () => {
  const pairs = [[P256, encapsulateP256], [X25519, encapsulateX25519]] as const;
  for (const [kind, encapsulate] of pairs) {
    it(`of suite ${kind.suite} are fresh and checked`, () => {
      const publicKey = kind.publicOf(Buffer.alloc(32, 7));
      const made = new Set(Array.from({ length: 20 }, () => encapsulate(publicKey).enc.toString("hex")));
      assert.equal(made.size, 20);
      assert.throws(() => encapsulate(Buffer.concat([Buffer.from(publicKey.subarray(0, -1)), Buffer.of((publicKey.at(-1) ?? 0) ^ 1)])
        .fill(0, kind === X25519 ? 0 : 1)));
    });
  }
  it("have the identifiers of suites 1 and 2", () => {
    assert.deepEqual([P256_SUITE, X25519_SUITE], [{ kem: 0x10, aead: 2, keySize: 32 }, { kem: 0x20, aead: 1, keySize: 16 }]);
  });
});

it("encapsulations of X25519 don't wait for the garbage collector: Node 20 does if a fresh key is exported later", () => {
  const modules = JSON.stringify(new URL("../src/suites.js", import.meta.url).href);
  const program = `import { encapsulateX25519, X25519 } from ${modules};
    const publicKey = X25519.publicOf(Buffer.alloc(32, 7));
    for (let made = 0; made < 4_000; made += 1) encapsulateX25519(publicKey);`;
  const options = ["--max-semi-space-size=1", "--input-type=module", "--eval", program];
  const { status, signal, stderr } = spawnSync(process.execPath, options, { timeout: 30_000, killSignal: "SIGKILL", encoding: "utf8" });
  assert.deepEqual([status, signal, stderr], [0, null, ""]);
});
