import assert from "node:assert/strict";
import { verify } from "node:crypto";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { challenge, Keyset, PushCryptError, Recipient, Registration, registrationChange, Sealer, SenderKey, type SealOptions } from "../src/index.js";
import { macOf } from "../src/device-set.js";
import { b64, sha256 } from "../src/sender/bytes.js";
import { P256 } from "../src/sender/curves.js";
import { recordOf, type Key } from "../src/sender/key.js";
import { contextInfo } from "../src/sender/seal.js";
import { campaignId } from "../src/options.js";
import { hkdf, isXWingAvailable } from "../src/suites.js";
import { aeadOf, contentOf, envelopeOf, openAead, openMessage, publicOkpObject } from "./opener.js";
import { codeOfRefusal, keyOf, vectors } from "./vectors.js";

const file = vectors("device-sets-v1.json");
const needs = (suite: number, ...texts: string[]) => ({ skip: !isXWingAvailable() && (suite === 3 || texts.some((text) => text.includes("pushcrypt-3"))) });
const kidAt = (recipient: Recipient, at: number): string | null => recipient.deviceSet?.keyAt(at)?.kid ?? null;

describe("device-sets-v1", () => {
  it("has the MAC of a set", () => {
    const { kid, psk, set, key, mac } = file.mac;
    const record = { ...keyOf(JSON.stringify(vectors("pushcrypt-v1.json").keys["p256 psk"])), kid };
    assert.equal(b64(record.psk?.export() ?? Buffer.alloc(0)), psk);
    assert.equal(b64(hkdf(Buffer.from(psk, "base64url"), Buffer.alloc(0), Buffer.from(`pushcrypt/1 device set\0\0\x0b${kid}`), 32)), key);
    assert.equal(b64(macOf(record, set)), mac);
  });
  for (const { name, suite, failure, failureOfUpload, flight, at, failsAt, text } of file.vectors) {
    it(`sealed to: ${name}`, needs(suite, text), () => {
      assert.equal(codeOfRefusal(() => Recipient.fromJwk(text)), failure);
      if (failure !== null) return;
      const recipient = Recipient.fromJwk(text);
      for (const [time, kid] of at) assert.equal(kidAt(recipient, time), kid, String(time));
      for (const time of failsAt) assert.equal(codeOfRefusal(() => kidAt(recipient, time)), failureOfUpload, String(time));
      if (failureOfUpload !== "tooLarge") assert.equal(recipient.longestLifetime, flight);
    });
    it(`uploaded: ${name}`, needs(suite, text), () => assert.equal(codeOfRefusal(() => new Registration(text, { requiring: [] })), failureOfUpload));
  }
  for (const { name, suite, campaign, id, at, text } of file.campaigns) {
    it(`campaign ${name}`, needs(suite), () => {
      assert.equal(campaignId(campaign, Recipient.fromJwk(text).key), id);
      for (const [time, kid] of at) {
        const push = new Sealer("com.example.app", { clock: () => time * 1_000 }).seal('{"aps":{"alert":"x"}}', { to: Recipient.fromJwk(text), placeholder: { title: "t" }, campaign });
        assert.deepEqual([push.id, push.usesLastResortKey], [id, kid === null]);
      }
    });
  }
  for (const { name, suite, failure, isWritten, upload, stored } of file.changes) {
    it(`change: ${name}`, needs(suite, upload, stored), () => {
      const [row, old] = [upload, stored].map((text: string) => ({ registration: new Registration(text, { requiring: [] }), account: "a", deviceToken: "t" }));
      const decide = () => registrationChange(row!, { over: [old!], isProven: false });
      assert.equal(codeOfRefusal(decide), failure);
      if (failure === null) assert.equal(decide().isWritten, isWritten);
    });
  }
});

const DAY = 86_400;
const today = 20_835 * DAY; // 2027-01-17
const topic = "com.example.app";
const secretRecord = keyOf(vectors("pushcrypt-v1.json").keys["p256 psk"]);
const { secret: _, ...record }: Key = secretRecord;
const dayKeys = Object.values(file.keys as Record<string, { kty: string }>).filter(({ kty }) => kty === "EC").map((jwk) => keyOf(jwk));
const time = (at: number): string => new Date(at * 1_000).toISOString();

/** A record whose device set has a key for each of these days. */
function recordWith(days: number[], { seq = 1, flight = 2 * DAY, change = (jwk: object): object => jwk } = {}): string {
  const all = days.map((start, index) => ({ start, key: dayKeys[index]! }));
  const keys = all.map(({ key }) => { const { d: _, ...jwk } = recordOf(key); return change(jwk); });
  const times = all.map(({ start, key }) => [key.kid, { activatesAt: time(start), retiresAt: time(start + DAY), expiresAt: time(start + DAY + flight + 600), psk: true }]);
  const set = JSON.stringify({ keys, pushcrypt: { seq, registration: record.kid, flight, keys: Object.fromEntries(times) } });
  return JSON.stringify({ ...recordOf(record), deviceSet: `${b64(macOf(record, set))}.${set}` });
}

const seal = (at: number, text: string, options: Partial<SealOptions> = {}) =>
  new Sealer(topic, { clock: () => at * 1_000 + 999 }).seal('{"aps":{"alert":"x"}}', { to: Recipient.fromJwk(text), placeholder: { title: "t" }, ...options });
const kidOf = (body: Buffer): string => (JSON.parse(body.toString()) as { pushcrypt: { kid: string } }).pushcrypt.kid;
const codeAt = (at: number, text: string, options: Partial<SealOptions> = {}): string | null => codeOfRefusal(() => seal(at, text, options));

describe("a push to a device with day keys", () => {
  const text = recordWith([today, today + DAY]);
  it("is sealed to the key of the day of iat with the record's psk, and to the record's key on other days", () => {
    const [first, second] = dayKeys.map((key) => ({ ...key, psk: record.psk })) as [Key, Key];
    const cases = [[today, first], [today + DAY - 1, first], [today + DAY, second], [today + 2 * DAY, secretRecord], [today - 1, secretRecord]] as const;
    for (const [at, key] of cases) {
      const { body, usesLastResortKey, sealedAt } = seal(at, text);
      assert.deepEqual([kidOf(body), usesLastResortKey, sealedAt], [key.kid, key === secretRecord, at]);
      const opened = openMessage(key, undefined, topic, envelopeOf(body).sealed);
      assert.equal(contentOf(opened ?? Buffer.alloc(0)).payload, '{"aps":{"alert":"x"}}');
    }
  });
  it("is signed with R of the record's key on every day", () => {
    const signer = SenderKey.fromJwk(vectors("sender-refusals-v1.json").records.sender);
    const days: [number, Key][] = [[today, dayKeys[0]!], [today + DAY, dayKeys[1]!], [today + 2 * DAY, secretRecord]];
    for (const [at, key] of days) {
      const { body } = new Sealer(topic, { signer, clock: () => at * 1_000 }).seal('{"aps":{"alert":"x"}}', { to: Recipient.fromJwk(text), placeholder: { title: "t" } });
      const parties = { topic, to: { ...key, psk: record.psk }, signer: signer.key };
      const info = contextInfo(parties, false);
      const { sealed } = envelopeOf(body);
      const plaintext = openAead(aeadOf(parties.to, info, sealed.subarray(0, 65)), sealed.subarray(65)) ?? Buffer.alloc(0);
      const signed = Buffer.concat([Buffer.from("pushcrypt/1 signature\0"), info, sha256(record.publicKey), plaintext.subarray(64)]);
      assert.ok(verify(null, signed, publicOkpObject("Ed25519", signer.key.publicKey), plaintext.subarray(0, 64)), String(at));
    }
  });
  it("whose record has no set is sealed to the record's key, which isn't a last-resort key", () => {
    const push = seal(today, JSON.stringify(recordOf(record)), { requiresDayKey: true });
    assert.deepEqual([kidOf(push.body), push.usesLastResortKey, push.expiresAt - push.sealedAt], [record.kid, false, 30 * DAY]);
  });
  it("expires after the flight at the latest, which is the default", () => {
    for (const at of [today, today + 9 * DAY]) {
      assert.equal(seal(at, text).expiresAt, at + 2 * DAY);
      assert.equal(seal(at, text, { expiresAfter: 2 * DAY }).expiresAt, at + 2 * DAY);
      assert.equal(seal(at, text, { expiresAfter: 1 }).expiresAt, at + 1);
      assert.equal(codeAt(at, text, { expiresAfter: 2 * DAY + 1 }), "expiresTooLate");
      assert.equal(codeAt(at, text, { expiresAfter: 30 * DAY + 1 }), "invalidOption");
    }
    assert.equal(Recipient.fromJwk(text).longestLifetime, 2 * DAY);
    assert.equal(Recipient.fromJwk(recordOf(record)).longestLifetime, 30 * DAY);
  });
  it("is refused with noDayKey on a day without a key, if the options demand one", () => {
    assert.equal(codeAt(today + DAY, text, { requiresDayKey: true }), null);
    assert.equal(codeAt(today + 2 * DAY, text, { requiresDayKey: true }), "noDayKey");
    assert.equal(codeAt(today + 2 * DAY, text, { requiresDayKey: false }), null);
    assert.equal(codeAt(today, text, { requiresDayKey: 1 as never }), "invalidOption");
  });
  it("has the campaign's id of the record on every day", () => {
    const ids = [today, today + DAY, today + 2 * DAY].map((at) => seal(at, text, { campaign: "c" }).id);
    assert.deepEqual(new Set(ids), new Set([campaignId("c", record)]));
  });
  it("is refused on the day of a flawed key, and not before it", () => {
    const flawed = recordWith([today, today + DAY], { change: (jwk) => ((jwk as Key).kid === dayKeys[1]!.kid ? { ...jwk, x: b64(Buffer.alloc(32, 1)) } : jwk) });
    assert.deepEqual([codeAt(today, flawed), codeAt(today + DAY, flawed), codeAt(today + 2 * DAY, flawed)], [null, "invalidKey", null]);
    assert.equal(codeOfRefusal(() => new Registration(flawed, { requiring: [] })), "invalidKey");
  });
  it("doesn't read the key of a day again for a recipient that is kept", (test) => {
    const { deviceSet } = Recipient.fromJwk(text);
    const check = test.mock.method(P256, "check");
    for (const [at, calls] of [[today, 1], [today + 5, 1], [today + DAY, 2], [today + 2 * DAY, 2], [today + DAY + 5, 2], [today, 3]] as const) {
      deviceSet?.keyAt(at);
      assert.equal(check.mock.callCount(), calls, String(at));
    }
  });
});

describe("a record with day keys", () => {
  const text = recordWith([today]);
  it("is a registration, whose challenge is sealed to the record's key", () => {
    const registration = new Registration(text, { requiring: ["psk", "asymmetric"] });
    assert.equal(registration.kid, record.kid);
    const { json } = challenge(registration, { host: "example.com", topic, clock: () => today * 1_000 });
    const { kid, sealed } = envelopeOf(`{"pushcrypt":${json}}`);
    assert.deepEqual([kid, openMessage(secretRecord, undefined, topic, sealed, true)?.length], [record.kid, 32]);
  });
  it("has at most 4,096 bytes beside its set", () => {
    const longest = (name: string, size: number): string => {
      const value = JSON.stringify((JSON.parse(text) as { deviceSet: string }).deviceSet);
      const base = text.length - value.length;
      return text.replace("{", `{"${name}":"${"x".repeat(size - base - name.length - 6)}",`);
    };
    assert.equal(codeOfRefusal(() => new Registration(longest("n", 4_096), { requiring: [] })), null);
    assert.equal(codeOfRefusal(() => new Registration(longest("n", 4_097), { requiring: [] })), "tooLarge");
    assert.equal(codeOfRefusal(() => new Registration(" ".repeat(4_097 + 6 * 32_768), { requiring: [] })), "tooLarge"); // before it is read
  });
  it("whose set was changed or has no psk is refused, also where it is a set of one key", () => {
    const { psk: _, ...open } = JSON.parse(text) as Record<string, string>;
    const changed = { ...open, psk: b64(Buffer.alloc(32, 1)) };
    assert.equal(codeOfRefusal(() => Recipient.fromJwk(open)), "pskMissing");
    for (const given of [changed, { keys: [changed] }]) assert.equal(codeOfRefusal(() => Recipient.fromJwk(given)), "notAuthentic");
    const keyset = Keyset.fromJson({ keys: [changed], pushcrypt: { seq: 1, keys: { [record.kid]: { activatesAt: time(0) } } } });
    assert.equal(codeOfRefusal(() => Recipient.fromKeyset(keyset)), "notAuthentic");
    assert.equal(codeOfRefusal(() => SenderKey.fromJwk({ ...SenderKey.generate().toJwk({ isPrivate: true }), deviceSet: 1 } as never)), null); // ignored
  });
  it("shows no secret when it is printed or refused", () => {
    const psk = record.psk?.export() ?? Buffer.alloc(32);
    const recipient = Recipient.fromJwk(text);
    kidAt(recipient, today);
    const refusal = ((): unknown => { try { return Recipient.fromJwk(text.replace("seq", "qes")); } catch (error) { return error; } })();
    assert.ok(refusal instanceof PushCryptError);
    for (const shown of [inspect(recipient, { depth: 9, showHidden: true }), JSON.stringify(recipient), inspect(refusal, { depth: 9 })]) {
      assert.ok(!shown.includes(b64(psk)) && !shown.includes(psk.toString("hex").slice(0, 6)));
    }
  });
  it("replaces one with a lower seq, the same one, and any by one without a set", () => {
    const row = (given: string) => ({ registration: new Registration(given, { requiring: [] }), account: "a", deviceToken: "t" });
    const code = (upload: string, stored: string) => codeOfRefusal(() => registrationChange(row(upload), { over: [row(stored)], isProven: true }));
    const [none, second, other] = [JSON.stringify(recordOf(record)), recordWith([today], { seq: 2 }), recordWith([today + DAY])];
    assert.deepEqual([code(second, text), code(text, text), code(none, text), code(text, none)], [null, null, null, null]);
    assert.deepEqual([code(text, second), code(other, text), code(other, second)], ["rolledBack", "conflict", "rolledBack"]);
    assert.deepEqual(registrationChange(row(none), { over: [row(second)], isProven: false }), { isWritten: true, removed: [] });
  });
});
