import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ascii, hmac, sha256 } from "../src/sender/bytes.js";
import { sealEnvelope } from "../src/sender/seal.js";
import { readObject, type JsonObject } from "../src/sender/json.js";
import { type Key } from "../src/sender/key.js";
import { keySchedule, sealHpke } from "../src/sender/hpke.js";
import { contextInfo, identityOf, signedText } from "../src/sender/seal.js";
import { signEd25519 } from "../src/sender/curves.js";
import { Keyset } from "../src/keyset.js";
import { codeOf } from "../src/possession.js";
import { deviceKey, isXWingAvailable, sealShared, X25519_SUITE, XWING_SUITE } from "../src/suites.js";
import { P256_SUITE } from "../src/sender/curves.js";
import { contentOf, envelopeOf, openMessage } from "./opener.js";
import { answered } from "./operations.js";
import { codeOfRefusal, hex, keyOf, vectors } from "./vectors.js";

describe("steps-v1", () => {
  for (const push of vectors("steps-v1.json").pushes) {
    it(push.name, { skip: push.suite === 3 && !isXWingAvailable() }, () => {
      const [key, sender] = [keyOf(push.key), push.sender === null ? undefined : keyOf(push.sender)];
      const value = (name: string): Buffer => hex(push.values[name] ?? "");
      const info = contextInfo({ topic: push.topic, to: key, signer: sender }, false);
      assert.deepEqual(info, value("info"));
      const message = value("message");
      let plaintext = message;
      if (sender !== undefined) {
        const identity = identityOf(key);
        assert.deepEqual(identity, value("R"));
        assert.deepEqual(identity, push.suite === 4 ? hmac(key.secret?.export() as Buffer, ascii("pushcrypt/1 recipient")) : sha256(key.publicKey));
        const signature = signEd25519(sender, signedText(key, info, message));
        assert.deepEqual(signature, value("signature"));
        plaintext = Buffer.concat([signature, message]);
      }
      assert.deepEqual(plaintext, value("plaintext"));
      const sealed = push.suite === 4 ? sealShared(key, info, plaintext, value("salt")) : hpkeSteps(push.suite, key, info, plaintext, value);
      assert.deepEqual(sealed, Buffer.concat([push.suite === 4 ? value("salt") : value("enc"), value("ct")]));
      assert.deepEqual(sealed, envelopeOf(push.payload).sealed);
    });
  }
});

function hpkeSteps(suite: 1 | 2 | 3, key: Key, info: Buffer, plaintext: Buffer, value: (name: string) => Buffer): Buffer {
  const psk = key.psk && { secret: key.psk.export(), id: ascii(key.kid) };
  if (psk !== undefined) assert.deepEqual([psk.secret, psk.id], [value("psk"), value("psk_id")]);
  const ciphersuite = { 1: P256_SUITE, 2: X25519_SUITE, 3: XWING_SUITE }[suite];
  const made = keySchedule(ciphersuite, value("shared_secret"), info, psk);
  assert.deepEqual([made.context, made.key, made.nonce], [value("key_schedule_context"), value("key"), value("base_nonce")]);
  return Buffer.concat([value("enc"), sealHpke(ciphersuite, value("shared_secret"), info, psk, plaintext)]);
}

const isOfSuite3 = (...texts: (string | null)[]): boolean => texts.some((text) => text?.includes('"AKP"') === true);

/** The key of a set, which must be readable as a set. */
function keyIn(set: string, kid: string): Key | undefined {
  if (!Keyset.fromJson(set).kids.includes(kid)) return undefined;
  const { keys, ...record } = JSON.parse(set) as { keys?: { kid: string }[]; kid?: string };
  return keyOf((keys ?? [record]).find((one) => one.kid === kid));
}

// The vectors that open prove info, R, the key schedule and the suites; those that don't prove that each part of info counts.
describe("envelopes-v1", () => {
  const file = vectors("envelopes-v1.json");
  for (const vector of file.vectors) {
    if (vector.failure !== null && vector.failure !== "undecryptable") continue;
    const [set, senders]: [string, string | null] = [file.sets[vector.keyset], vector.senders === null ? null : file.sets[vector.senders]];
    it(vector.name, { skip: isOfSuite3(set) && !isXWingAvailable() }, () => {
      const { kid, skid, sealed } = envelopeOf(vector.payload);
      const key = keyIn(set, kid);
      const sender = skid === undefined || senders === null ? undefined : keyIn(senders, skid);
      const isPinned = (senders === null) === (skid === undefined);
      const message = key && isPinned ? openMessage(key, sender, vector.topic, sealed) : undefined;
      if (vector.failure !== null) return assert.equal(message, undefined);
      const { payload, header } = contentOf(message as Buffer);
      if (payload === file.inner) assert.equal(header.has("id"), true);
      else assert.equal(readObject(message as Buffer).has("pushcrypt"), true);
    });
  }
  const malformed = /twice|duplicate|byte order mark|surrogate|levels|too deep|behind|cut short|UTF-8|an array$/;
  for (const { name, failure, payload } of file.vectors) {
    if (failure !== "malformed" || !/payload (with|cut|an array|empty|followed)|too deep|levels/.test(name) || !malformed.test(name) || /message's/.test(name)) continue;
    it(`strict JSON: ${name}`, () => assert.equal(codeOfRefusal(() => readObject(payload)), "malformed"));
  }
});

describe("carriers-v1 and instructions-v1", () => {
  const carriers = vectors("carriers-v1.json");
  const places = { apns: [["pushcrypt"], false], text: [["pushcrypt"], true], expo: [["body", "pushcrypt"], false], oneSignal: [["custom", "a", "pushcrypt"], false] };
  for (const { name, payload, failure } of carriers.vectors) {
    const place = /^at the place of (\w+), for an app of \1$/.exec(name)?.[1] as keyof typeof places | undefined;
    if (place === undefined || failure !== null) continue;
    it(name, () => {
      const [path, isText] = (places[place] ?? places.apns) as [string[], boolean];
      const message = openMessage(keyOf(carriers.key), undefined, carriers.topic, envelopeOf(payload, path, isText).sealed);
      assert.equal(contentOf(message as Buffer).payload, carriers.inner);
    });
  }
  for (const vector of vectors("instructions-v1.json").vectors) {
    if (vector.failure !== null) continue;
    it(`instructions: ${vector.name}`, { skip: isOfSuite3(vector.keyset) && !isXWingAvailable() }, () => {
      const { kid, skid, sealed } = envelopeOf(vector.payload);
      const sender = skid === undefined ? undefined : keyIn(vector.senders, skid);
      const header = contentOf(openMessage(keyIn(vector.keyset, kid) as Key, sender, vector.topic, sealed) as Buffer).header;
      assert.equal(header.has("id"), true);
      if (vector.opened.retract.length > 0) assert.deepEqual(header.get("retract"), vector.opened.retract);
      if (vector.opened.badgeAdd !== null) assert.equal((header.get("badge") as JsonObject).raw("add"), String(vector.opened.badgeAdd));
    });
  }
});

describe("possession-v1: challenges", () => {
  for (const { name, failure, keyset, senders, topic, host, record, challenge, answer } of vectors("possession-v1.json").challenges) {
    if (failure !== null && failure !== "undecryptable") continue;
    it(name, { skip: isOfSuite3(keyset) && !isXWingAvailable() }, () => {
      const { kid, skid, sealed } = envelopeOf(`{"pushcrypt":${challenge}}`);
      const isPinned = (senders === null) === (skid === undefined);
      const nonce = isPinned ? openMessage(keyIn(keyset, kid) as Key, skid === undefined ? undefined : keyIn(senders, skid), topic, sealed, true) : undefined;
      if (failure !== null) return assert.equal(nonce, undefined);
      const { registration } = JSON.parse(challenge) as { registration: string };
      assert.deepEqual(JSON.parse(answer), { registration, answer: codeOf(nonce as Buffer, host, registration, Buffer.from(record)).toString("base64url") });
    });
  }
});

describe("pushcrypt-v1", () => {
  const { topic, keys, contextInfo: info, opened, inner } = vectors("pushcrypt-v1.json");
  it("info", () => {
    assert.equal(contextInfo({ topic, to: keyOf(keys[info.key]), signer: keyOf(keys[info.signer]) }, false).toString("hex"), info.hex);
  });
  for (const { name, key, trust, payload, id, iat, exp } of opened) {
    it(name, () => {
      const { skid, sealed } = envelopeOf(payload);
      const message = openMessage(keyOf(keys[key]), skid === undefined ? undefined : keyOf(keys[trust]), topic, sealed) as Buffer;
      const content = contentOf(message);
      assert.deepEqual([content.payload, content.header.get("id"), content.header.raw("iat"), content.header.raw("exp")], [inner, id, String(iat), String(exp)]);
    });
  }
});

describe("sealing-v1", () => {
  const { keys, device } = vectors("pushcrypt-v1.json");
  const all: Record<string, object> = { ...keys, ...vectors("xwing-keys.json").keys };
  const places: Record<string, [string[], boolean]> = { text: [["pushcrypt"], true], expo: [["body", "pushcrypt"], false], oneSignal: [["custom", "a", "pushcrypt"], false] };
  for (const { name, failure, suite, key: keyName, signer, request } of vectors("sealing-v1.json").vectors) {
    it(name, { skip: (suite === 3 || JSON.stringify(request).includes("AKP")) && !isXWingAvailable() }, () => {
      const answer = answered({ op: "seal", ...request }) as { ok?: true; failure?: string; payload: string };
      if (failure !== null) return assert.equal(answer.failure, failure);
      assert.equal(answer.ok, true, answer.failure);
      const record = all[keyName];
      const key = record === undefined ? deviceKey(keyOf(all["shared"]), device) : keyOf(record);
      const owner = request.device === undefined || key.device !== undefined ? key : deviceKey(key, request.device);
      const { sealed } = envelopeOf(answer.payload, ...(places[request.carrier] ?? [["pushcrypt"], false]));
      const message = openMessage(owner, signer === null ? undefined : keyOf(all[signer]), request.topic, sealed);
      assert.equal(contentOf(message as Buffer).payload, (request.payload as string).trimEnd());
    });
  }
});

it("a challenge is sealed with another context than a push", () => {
  const key = keyOf(vectors("steps-v1.json").pushes[1].key);
  const parties = { topic: "com.example.app", to: key, signer: undefined };
  const sealed = sealEnvelope(parties, Buffer.alloc(32), true);
  assert.equal(openMessage(key, undefined, parties.topic, sealed), undefined);
  assert.deepEqual(openMessage(key, undefined, parties.topic, sealed, true), Buffer.alloc(32));
});
