import assert from "node:assert/strict";
import { type KeyObject } from "node:crypto";
import { describe, it } from "node:test";
import {
  challenge, isXWingAvailable, Pending, PushCryptError, Recipient, Registration, sealAttachment, Sealer, sealOffload, SenderKey, type Carrier, type SealOptions,
} from "../src/index.js";
import { ask, askOne, hasPython } from "./python.js";
import { codeOfRefusal, vectors } from "./vectors.js";

const AT = 1_800_000_000;
const clock = (): number => AT * 1000;
const topic = "com.example.app";
const placeholder = { title: "New message" };
const payload = '{ "aps" : {"alert":{"title":"Zoë","body":"x"},"badge":3,"sound":"s.caf","thread-id":"t\\u0031","relevance-score":0.50,"interruption-level":"time-sensitive",'
  + '"category":"c","content-available":1,"target-content-id":"i"}, "user" : 12345678901234567890 }\n ';

/** Spaces behind a payload are padding. */
const restored = payload.replace(/ +$/, "");

interface Keys {
  private: string;
  record: string;
}

interface Opened {
  json: string;
  id: string;
  issuedAt: number;
  expiresAt: number;
  signedBy: string | null;
  proof: number;
  retract: string[];
  quiet: boolean;
  badgeAdd: number | null;
  selfTest: boolean;
  attachments: object[];
  offload: object | null;
}

describe("pushes open with the Python package", { skip: !hasPython }, () => {
  const sender = hasPython ? askOne<{ private: string; public: string }>({ op: "generate_sender" }) : { private: "", public: "" };
  const signer = hasPython ? SenderKey.fromJwk(sender.private) : undefined;
  const suites = [1, 2, ...(isXWingAvailable() ? [3] : []), 4];
  const profiles = suites.flatMap((suite) => (suite === 4 ? [false] : [false, true]).flatMap((psk) => [false, true].map((isSigned) => ({ suite, psk, isSigned }))));
  const openOne = (keys: Keys, isSigned: boolean, body: string, others: object = {}): Opened =>
    askOne<Opened>({ op: "open_push", payload: body, key: keys.private, sender: isSigned ? sender.public : null, ...others });

  for (const { suite, psk, isSigned } of profiles) {
    it(`suite ${suite}, ${psk ? "psk" : "base"}, ${isSigned ? "signed" : "unsigned"}`, () => {
      const keys = askOne<Keys>({ op: "generate", suite, psk });
      const sealer = new Sealer(topic, { clock, ...(isSigned && signer && { signer }) });
      const to = Recipient.fromJwk(keys.record);
      const pushes = ([128, "limit", "none", 1, 1_000] as const).map((padding) => sealer.seal(payload, { to, placeholder, padding, bare: true, selfTest: true }));
      const answers = ask(...pushes.map(({ body }) => ({ op: "open_push", payload: body.toString(), key: keys.private, sender: isSigned ? sender.public : null })));
      for (const [index, push] of pushes.entries()) {
        const opened = answers[index]?.ok as Opened;
        assert.equal(opened.json, restored);
        assert.deepEqual([opened.id, opened.issuedAt, opened.expiresAt, opened.selfTest], [push.id, AT, push.expiresAt, true]);
        assert.equal(opened.proof, (psk || suite === 4 ? 1 : 0) + (isSigned ? 2 : 0));
        assert.ok(push.body.length <= 4_096 && (index !== 1 || push.body.length > 4_092));
      }
      const [other] = ask({ op: "open_push", payload: pushes[0]?.body.toString(),
        key: keys.private, sender: isSigned ? null : sender.public });
      assert.equal(other?.failure, isSigned ? "unknownKey" : "undecryptable");
    });
  }

  it("a device's key", () => {
    const keys = askOne<Keys>({ op: "generate", suite: 4, psk: false });
    const to = Recipient.fromJwk(keys.record).forDevice("phone-1");
    const body = new Sealer(topic, { clock }).seal(payload, { to, placeholder }).body.toString();
    assert.equal(openOne(keys, false, body, { device: "phone-1" }).json, restored);
    assert.equal(ask({ op: "open_push", payload: body, key: keys.private, device: "phone-2" })[0]?.failure, "undecryptable");
  });

  it("instructions, attachments and an offloaded payload", () => {
    const keys = askOne<Keys>({ op: "generate", suite: 1, psk: true });
    const to = Recipient.fromJwk(keys.record);
    const sealer = new Sealer(topic, { clock });
    const plain = '{"aps":{"alert":"x"}}';
    const quiet = sealer.seal(plain, { to, placeholder, quiet: true, retract: [sealer.seal(plain, { to, placeholder }).id], badgeAdd: -7 });
    const opened = openOne(keys, false, quiet.body.toString());
    assert.deepEqual([opened.quiet, opened.retract.length, opened.badgeAdd], [true, 1, -7]);
    const [file, long] = [sealAttachment(Buffer.alloc(70_000, 5)), sealOffload(payload)];
    const stored = <T extends { readonly key: KeyObject }>({ key, ...rest }: T) => ({ ...rest, key: key.export().toString("base64url") });
    const attachments = [file.at("https://a.b/1", { type: "image/png", id: "1" }), file.at("https://a.b/2", { type: "image/png", use: "avatar" })];
    const { setsBadge, ...offload } = long.at("https://a.b/3"); // of the sender, never in the message
    assert.equal(setsBadge, true);
    const push = openOne(keys, false, sealer.seal(plain, { to, placeholder, attachments, offload: { ...offload, setsBadge: true } }).body.toString());
    assert.deepEqual([push.attachments, push.offload], [attachments.map(stored), stored(offload)]);
    const blobs = ask({ op: "open_blob", kind: "attachment", members: attachments.map(stored)[0], blob: file.data.toString("base64url") },
      { op: "open_blob", kind: "offload", members: stored(offload), blob: long.data.toString("base64url") },
      { op: "open_blob", kind: "attachment", members: stored(offload), blob: long.data.toString("base64url") });
    assert.deepEqual(blobs, [{ ok: Buffer.alloc(70_000, 5).toString("base64url") }, { ok: restored }, { failure: "undecryptable" }]);
  });

  it("campaigns have the same id", () => {
    const keys = askOne<Keys>({ op: "generate", suite: 2, psk: true });
    const options = { to: Recipient.fromJwk(keys.record), placeholder, campaign: "spring" };
    const ids = [1, 2].map(() => openOne(keys, false, new Sealer(topic, { clock }).seal(payload, options).body.toString()).id);
    assert.equal(new Set(ids).size, 1);
  });
});

describe("requests are those of the Python package", { skip: !hasPython }, () => {
  const exposed = ["content-available", "badge", "thread-id", "interruption-level", "relevance-score", "category", "sound", "target-content-id"];
  const cases: [Carrier, Partial<SealOptions>][] = [
    ["apns", {}], ["apns", { exposed, collapseId: "c 1" }], ["rebuilt", { exposed, quiet: false }], ["fcm", { exposed }], ["text", { exposed: ["badge"] }],
    ["expo", { exposed: ["badge", "category", "interruption-level", "sound"] }], ["expo", {}], ["oneSignal", { exposed, collapseId: "c" }], ["oneSignal", {}],
    ["oneSignal", { quiet: true, exposed: ["badge"], expiresAfter: 60 }], ["expo", { quiet: true, expiresAfter: 60 }], ["apns", { quiet: true }],
  ];
  for (const [carrier, options] of cases) {
    it(`${carrier} ${JSON.stringify(options)}`, () => {
      const keys = askOne<Keys>({ op: "generate", suite: 1, psk: true });
      const texts = { title: "T", body: "B", ...(carrier === "oneSignal" && { subtitle: "S" }) };
      const push = new Sealer(topic, { clock }).seal(payload, { to: Recipient.fromJwk(keys.record), placeholder: texts, carrier, ...options });
      const names = { exposed: options.exposed, collapse_id: options.collapseId, quiet: options.quiet, expires_after: options.expiresAfter, carrier };
      const other = askOne<{ request: object; headers: object; json: string }>({ op: "seal", payload, to: keys.record, placeholder: texts,
        options: Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined)) });
      const hidden = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replace(/(sealed[\\]*":[\\]*")[A-Za-z0-9_-]+/g, "$1"));
      assert.deepEqual(hidden(push.request), hidden(other.request));
      assert.deepEqual(push.headers, other.headers);
      assert.equal(push.body.length, other.json.length);
      assert.equal(askOne<Opened>({ op: "open_push", payload: push.body.toString(), key: keys.private, carriers: [carrier] }).json, restored);
    });
  }
});

describe("proofs of possession", { skip: !hasPython }, () => {
  for (const { suite, psk } of [{ suite: 1, psk: true }, { suite: 1, psk: false }, { suite: 2, psk: true }, { suite: 4, psk: false }]) {
    it(`suite ${suite}, ${psk ? "psk" : "base"}`, () => {
      const keys = askOne<Keys>({ op: "generate", suite, psk });
      const host = "push.example.com";
      const registration = new Registration(keys.record, { requiring: [] });
      const made = challenge(registration, { host, topic, clock });
      const answerTo = (json: string, others: object = {}): string =>
        askOne<string>({ op: "answer_challenge", challenge: json, record: keys.record, host, key: keys.private, ...others });
      const answer = answerTo(made.json);
      const pending = Pending.fromJson(made.pending.toJson());
      assert.equal(Pending.idOf(answer), pending.id);
      assert.deepEqual(pending.confirm(answer, { clock }).record, Buffer.from(keys.record));
      assert.equal(askOne({ op: "confirm", pending: pending.toJson(), answer }), registration.kid);
      assert.equal(codeOfRefusal(() => pending.confirm(answerTo(made.json, { host: "other.example.com" }), { clock })), "possessionNotProven");
      assert.equal(codeOfRefusal(() => pending.confirm(answerTo(made.json, { record: `${keys.record} ` }), { clock })), "possessionNotProven");
      const theirs = askOne<{ json: string; pending: string }>({ op: "make_challenge", record: keys.record, host });
      assert.equal(Pending.fromJson(theirs.pending).confirm(answerTo(theirs.json), { clock }).kid, registration.kid);
      assert.equal(ask({ op: "open_push", payload: `{"aps":{"alert":"x","mutable-content":1},"pushcrypt":${made.json}}`, key: keys.private })[0]?.failure, "undecryptable");
    });
  }
});

describe("possession-v1: answers", () => {
  const { pending, answers } = vectors("possession-v1.json");
  const record: string = pending.record;
  const stored = { version: 1, id: pending.registration, codeDigest: pending.codeDigest, challengedAt: pending.challengedAt };
  const kid = new Registration(record, { requiring: [] }).kid;
  const pendingOf = (changes: object = {}, inner: object = {}): Pending =>
    Pending.fromJson(JSON.stringify({ ...stored, registration: { version: 1, kid, hasPSK: true, record, ...inner }, ...changes }));
  for (const { name, failure, answer, at } of answers) {
    it(name, () => assert.equal(codeOfRefusal(() => pendingOf().confirm(answer, { clock: () => at * 1000 })), failure));
  }
  it("a pending registration of another form is refused", () => {
    const refusals = [{ version: 2 }, { id: "a b" }, { codeDigest: "AAAA" }, { challengedAt: "1" }, { registration: [] }].map((changes) => codeOfRefusal(() => pendingOf(changes)));
    assert.deepEqual(new Set(refusals), new Set(["malformed"]));
    for (const inner of [{ version: 2 }, { kid: "AAAAAAAAAAA" }, { hasPSK: false }, { record: 1 }]) assert.equal(codeOfRefusal(() => pendingOf({}, inner)), "malformed");
    const lost = JSON.stringify({ ...(JSON.parse(record) as object), psk: undefined });
    assert.equal(codeOfRefusal(() => pendingOf({}, { record: lost })), "pskMissing");
  });
  it("errors are of one class", () => {
    assert.throws(() => pendingOf().confirm("{}"), (error: unknown) => error instanceof PushCryptError && error instanceof Error && error.name === "PushCryptError");
  });
});
