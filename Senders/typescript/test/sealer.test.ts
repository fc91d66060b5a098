import assert from "node:assert/strict";
import { createSecretKey } from "node:crypto";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import { Keyset, Recipient, sealAttachment, Sealer, sealOffload, SenderKey, PushCryptError, type OversizePlan, type SealOptions } from "../src/index.js";
import { contentOf, envelopeOf, openMessage } from "./opener.js";
import { codeOfRefusal, keyOf, vectors } from "./vectors.js";

const { records } = vectors("sender-refusals-v1.json");
const { keys } = vectors("pushcrypt-v1.json");
const privateKey = keyOf(keys["p256 psk"]);
const { d: _, ...publicRecord } = keys["p256 psk"];
const to = Recipient.fromJwk(publicRecord);
const placeholder = { title: "New message", body: "Open the app to read it" };
const clock = (): number => 1_800_000_000_999;
const sealer = new Sealer("com.example.app", { clock });
const message = (body: Buffer): Buffer => openMessage(privateKey, undefined, "com.example.app", envelopeOf(body).sealed) ?? Buffer.alloc(0);
const innerOf = (body: Buffer): { aps: { alert: string & { body: string } }; [name: string]: unknown } => JSON.parse(contentOf(message(body)).payload);
const seal = (payload: string | object, options: Partial<SealOptions> = {}) => sealer.seal(payload as string, { to, placeholder, ...options });
const codeOf = (payload: string | object, options: Partial<SealOptions> = {}): string | null => codeOfRefusal(() => seal(payload, options));

describe("the outer payload", () => {
  const aps = (payload: string, options: Partial<SealOptions> = {}): string => /^\{"aps":(.*),"pushcrypt"/.exec(seal(payload, options).body.toString())?.[1] ?? "";
  const alert = '{"alert":{"title":"New message","body":"Open the app to read it"},"mutable-content":1';
  const cases: [string, string, Partial<SealOptions>?][] = [
    ['{"aps":{"alert":"x"}}', ""], ['{"aps":{"alert":"x","sound":"a"}}', ',"sound":"default"'], ['{"aps":{"alert":"x","sound":{"name":"a"}}}', ',"sound":"default"'],
    ['{"aps":{"alert":"x","sound":null}}', ""], ['{"aps":{"alert":"x","sound":""}}', ""], ['{"aps":{"alert":"x","sound":{}}}', ""],
    ['{"aps":{"alert":"x","sound":false}}', ',"sound":"default"'], ['{"aps":{"alert":"x","content-available":1}}', ',"content-available":1'],
    ['{"aps":{"alert":"x","content-available":1.0}}', ""], ['{"aps":{"alert":"x","content-available":true}}', ""],
    ['{"aps":{"alert":"x","sound":"a"}}', "", { quiet: true }], ['{"aps":{"alert":"x","badge": 3 ,"sound":"a\\u0062"}}', ',"badge":3,"sound":"a\\u0062"', { exposed: ["badge", "sound", "badge"] }],
    ['{"aps":{"alert":"x","content-available":1,"n":1e2}}', ',"content-available":1,"n":1e2', { exposed: ["n", "content-available"] }],
  ];
  for (const [payload, members, options] of cases) it(`${payload} ${JSON.stringify(options ?? {})}`, () => assert.equal(aps(payload, options), `${alert}${members}}`));
  it("has placeholders with Apple's names", () => {
    const all = { titleLocKey: "K", titleLocArgs: ["a"], subtitleLocKey: "S", subtitleLocArgs: ["b"], locKey: "L", locArgs: ["c", "é"], launchImage: "i", subtitle: "", body: "b" };
    const outer = JSON.parse(seal('{"aps":{"alert":"x"}}', { placeholder: all }).body.toString()) as { aps: { alert: object } };
    assert.deepEqual(outer.aps.alert, { "title-loc-key": "K", "title-loc-args": ["a"], "subtitle-loc-key": "S", "subtitle-loc-args": ["b"], "loc-key": "L",
      "loc-args": ["c", "é"], "launch-image": "i", body: "b" });
  });
  it("refuses placeholders of another form", () => {
    const bad = [undefined, null, "x", {}, { title: 1 }, { title: "\ud800" }, { locArgs: ["x"] }, { title: "x", locArgs: "x" }, { title: "x", locArgs: [1] }, { title: "x", "loc-key": "y" }, { title: "x", other: "y" }];
    for (const one of bad) assert.equal(codeOf('{"aps":{"alert":"x"}}', { placeholder: one as never }), "invalidPlaceholder", JSON.stringify(one));
  });
});

describe("payloads", () => {
  it("are sealed byte for byte, and the header is the last member", () => {
    const text = '{ "x" : 1.50 , "aps":{"alert":"\\u00e9 é"} , "y":[ ] } \n';
    const sealed = message(seal(text, { padding: "none", expiresAfter: 60 }).body).toString();
    assert.match(sealed, /^\{ "x" : 1\.50 , "aps":\{"alert":"\\u00e9 é"\} , "y":\[ \],"pushcrypt":\{"id":"[\w-]{22}","iat":1800000000,"exp":1800000060\} \} \n$/);
  });
  it("of Live Activities are refused", () => {
    for (const member of ['"content-state":{}', '"attributes":1', '"attributes-type":"a"', '"event":"start"', '"event":"update"', '"event":"end"']) {
      assert.equal(codeOf(`{"aps":{"alert":"x",${member}}}`), "invalidPayload", member);
    }
    for (const member of ['"content-state":null', '"attributes":null', '"attributes-type":null', '"event":"other"', '"event":null']) assert.equal(codeOf(`{"aps":{"alert":"x",${member}}}`), null, member);
  });
  it("may be values", () => {
    assert.deepEqual(innerOf(seal({ aps: { alert: "é", badge: 3 }, list: [1, null] }).body), { aps: { alert: "é", badge: 3 }, list: [1, null] });
    const circular: Record<string, unknown> = { aps: { alert: "x" } };
    circular["self"] = circular;
    for (const bad of [circular, { aps: { alert: "x" }, n: NaN }, { aps: { alert: "x" }, n: 1n }, { aps: { alert: "\ud800" } }, 1, null, undefined, [], "", new Map()]) {
      assert.equal(codeOf(bad as never), "invalidPayload", typeof bad);
    }
    assert.equal(codeOf({ aps: { alert: "Infinity" } }), null);
  });
  it("errors quote nothing of a payload", () => {
    for (const text of ['{"aps":{"alert":"secret","alert":"secret"}}', '{"aps":{"secret":1}}', '{"secret"', '{"aps":{"alert":"x"}}secret']) {
      assert.throws(() => seal(text), (error: unknown) => error instanceof PushCryptError && !JSON.stringify([error.message, error.facts, error.stack]).includes("secret"));
    }
  });
});

describe("sizes", () => {
  const rooms = [["p256 psk", true, 2_801], ["x25519", true, 2_834], ["device", true, 2_850], ["p256", false, 2_881]] as const;
  for (const [name, isSigned, room] of rooms) {
    it(`${name} ${isSigned ? "signed" : "unsigned"} has room for a message of ${room} bytes`, () => {
      const signing = new Sealer("com.example.app", { clock, ...(isSigned && { signer: SenderKey.fromJwk(records.sender) }) });
      const options = { to: Recipient.fromJwk(records[name]), placeholder };
      const overhead = '{"aps":{"alert":""},"pushcrypt":{"id":"AAAAAAAAAAAAAAAAAAAAAA","iat":1800000000,"exp":1802592000}}'.length;
      const payload = (size: number): string => `{"aps":{"alert":"${"x".repeat(size - overhead)}"}}`;
      const push = signing.seal(payload(room), options);
      assert.ok(push.body.length > 4_092 && push.body.length <= 4_096);
      assert.throws(() => signing.seal(payload(room + 1), options), (error: unknown) => error instanceof PushCryptError && error.code === "tooLarge"
        && error.facts.bytesAvailable === 4_096 && (error.facts.bytesNeeded ?? 0) > 4_096);
      const needed = (size: number): number => {
        try { return signing.seal(payload(size), { ...options, padding: "none" }).body.length; } catch (error) { return (error as PushCryptError).facts.bytesNeeded ?? 0; }
      };
      for (let size = room - 4; size < room + 8; size += 1) assert.ok(needed(size + 3) - needed(size) === 4);
    });
  }
  it("are multiples of the padding", () => {
    for (const padding of [1, 64, 100, 128, 1_024]) assert.equal(message(seal('{"aps":{"alert":"x"}}', { padding }).body).length % padding, 0);
    assert.equal(message(seal('{"aps":{"alert":"x"}}', { padding: "none" }).body).toString().trimEnd().length, message(seal('{"aps":{"alert":"x"}}', { padding: "none" }).body).length);
    for (const padding of [0, -1, 1.5, "x", null, NaN]) assert.equal(codeOf('{"aps":{"alert":"x"}}', { padding: padding as number }), "invalidOption");
  });
  it("leave the bytes that a carrier adds", () => {
    for (const [carrier, reserved] of [["rebuilt", 64], ["fcm", 192], ["text", 192], ["expo", 192], ["oneSignal", 128]] as const) {
      const { length } = seal('{"aps":{"alert":"x"}}', { carrier, padding: "limit" }).body;
      assert.ok(length <= 4_096 - reserved && length > 4_092 - reserved, carrier);
    }
  });
});

describe("payloads that don't fit", () => {
  const body = "é👩‍👩‍👧‍👦".repeat(300);
  const long = { aps: { alert: { title: "T", body }, sound: "a" }, custom: "c" };
  const bodyOf = (payload: object, oversize: OversizePlan) => {
    const push = seal(payload, { oversize });
    return [push, innerOf(push.body)] as const;
  };
  it("are shortened at the end of a character", () => {
    const [push, inner] = bodyOf(long, { shortenBodyTo: 10 });
    assert.equal(push.isBodyShortened, true);
    const shorter = inner.aps.alert.body;
    assert.ok(shorter.endsWith("…") && body.startsWith(shorter.slice(0, -1)) && /(é|👩‍👩‍👧‍👦)…$/u.test(shorter));
    assert.deepEqual([inner["custom"], shorter.length > 900], ["c", true]);
    assert.ok(push.body.length > 4_050);
    const [text, plain] = bodyOf({ aps: { alert: "x\n".repeat(3_000) } }, { shortenBodyTo: 1 });
    assert.ok(text.isBodyShortened && plain.aps.alert.endsWith("…") && text.body.length > 4_090);
  });
  it("that fit aren't changed", () => {
    const [push, inner] = bodyOf({ aps: { alert: "short" } }, { shortenBodyTo: 10, offload: () => assert.fail() });
    assert.deepEqual([push.isBodyShortened, push.offloaded, inner.aps.alert], [false, undefined, "short"]);
  });
  it("are refused if too few characters would stay", () => {
    const custom = { aps: { alert: "abcdef" }, custom: "c".repeat(2_850) };
    assert.equal(codeOf(custom, { oversize: { shortenBodyTo: 6 } }), "tooLarge");
    assert.equal(codeOf(custom), "tooLarge");
    for (const shortenBodyTo of [0, -1, 1.5, "1"]) assert.equal(codeOf(long, { oversize: { shortenBodyTo: shortenBodyTo as number } }), "invalidOption");
  });
  it("aren't cut where the ellipsis would join a character", () => {
    const characters = new Intl.Segmenter("en", { granularity: "grapheme" });
    const cut = [0, 1, 2, 3, 4, 5].map((extra) => bodyOf({ aps: { alert: "\u0600\n".repeat(1_000) }, custom: "c".repeat(extra) }, { shortenBodyTo: 1 })[1].aps.alert);
    for (const text of cut) assert.equal([...characters.segment(text)].at(-1)?.segment, "…");
    assert.ok(new Set(cut.map((text) => text.length)).size > 1);
    assert.equal(codeOf({ aps: { alert: "\u0600".repeat(3_000) } }, { oversize: { shortenBodyTo: 1 } }), "tooLarge"); // one character
  });
  it("are offloaded", () => {
    const huge = { aps: { alert: { body: "b".repeat(5_000) } }, custom: "c".repeat(10_000) };
    const [push, inner] = bodyOf(huge, { shortenBodyTo: 4_000, offload: (blob) => `https://a.b/${blob.data.length}` });
    assert.deepEqual(Object.keys(inner), ["aps"]);
    assert.ok(inner.aps.alert.body.endsWith("…") && push.isBodyShortened);
    const { header } = contentOf(message(push.body));
    assert.equal((header.get("offload") as Map<string, unknown>).get("url"), `https://a.b/${4 + 4_096 * 4 + 16}`);
    assert.equal(codeOf(huge, { oversize: { offload: () => "http://a.b/" } }), "invalidOption");
    assert.equal(codeOf(huge, { quiet: true, oversize: { offload: () => "https://a.b/" } }), "invalidOption");
    assert.equal(codeOf({ aps: { alert: { title: "t".repeat(5_000) } } }, { oversize: { offload: () => "https://a.b/" } }), "tooLarge");
  });
});

describe("an offloaded payload that sets the badge", () => {
  const sealed = (payload: object) => sealOffload(payload as Record<string, unknown>).at("https://a.b/");
  const offload = sealed({ aps: { alert: "x", badge: 1 } });
  const signed = new Sealer("com.example.app", { clock, signer: SenderKey.generate() });
  const add = (reference: object) => codeOfRefusal(() => signed.seal('{"aps":{"alert":"x"}}', { to, placeholder, badgeAdd: 1, offload: reference as typeof offload }));
  it("is refused with badgeAdd, and others aren't", () => {
    assert.deepEqual([add(offload), add(sealed({ aps: { alert: "x" }, badge: 1 })), codeOf('{"aps":{"alert":"x"}}', { offload })], ["invalidPayload", null, null]);
  });
  it("isn't named so in the message", () => {
    const names = (body: Buffer) => [...(contentOf(message(body)).header.get("offload") as Map<string, unknown>).keys()].sort();
    const huge = { aps: { alert: "x".repeat(5_000), badge: 1 } };
    for (const push of [seal('{"aps":{"alert":"x"}}', { offload }), seal(huge, { oversize: { offload: () => "https://a.b/" } })]) assert.deepEqual(names(push.body), ["key", "sha256", "size", "url"]);
  });
});

describe("files to attach", () => {
  it("have a key that is neither printed nor stored, unless it is exported", () => {
    const reference = sealAttachment(Uint8Array.of(1)).at("https://a.b/", { type: "image/png" });
    const secret = reference.key.export();
    for (const one of [reference, { reference }, [{ ...reference }]]) {
      const text = inspect(one, { depth: 9, showHidden: true }) + JSON.stringify(one);
      for (const form of [secret.toString("base64url"), secret.toString("hex").slice(0, 6), String([...secret.subarray(0, 8)])]) assert.ok(!text.includes(form));
    }
    const written = { ...reference, key: secret.toString("base64url") };
    for (const attachment of [reference, { ...reference, key: createSecretKey(written.key, "base64url") }, written as unknown as typeof reference]) {
      const [file] = contentOf(message(seal('{"aps":{"alert":"x"}}', { attachments: [attachment] }).body)).header.get("attachments") as Map<string, unknown>[];
      assert.deepEqual(Object.fromEntries(file ?? []), { ...written, size: file?.get("size") });
    }
    assert.equal(codeOf('{"aps":{"alert":"x"}}', { attachments: [JSON.parse(JSON.stringify(reference)) as typeof reference] }), "invalidOption");
  });
  it("are bytes", () => {
    for (const data of ["x", 1, [1], null, undefined, new ArrayBuffer(1)]) assert.throws(() => sealAttachment(data as unknown as Uint8Array), /^TypeError: a file to seal is a Uint8Array$/);
    assert.equal(sealAttachment(Uint8Array.of(1)).data.length, 4 + 1 + 16);
  });
});

describe("options of other types are refused", () => {
  const cases: Record<string, unknown>[] = [
    { to: publicRecord }, { limit: "1" }, { limit: 0 }, { limit: 4_097 }, { limit: 1.5 }, { quiet: 1 }, { bare: "x" }, { selfTest: 0 }, { collapseId: "" }, { collapseId: "é" },
    { collapseId: "x".repeat(65) }, { collapseId: "a", carrier: "expo" }, { carrier: "x" }, { carrier: "toString" }, { exposed: "badge" }, { exposed: [1] }, { retract: "x" }, { expiresAfter: "1" },
    { expiresAfter: NaN }, { minimumSuite: 5 }, { minimumSuite: 0 }, { campaign: 1 }, { campaign: "\ud800" }, { badgeAdd: 1.5 }, { attachments: [1] }, { attachments: "x" }, { attachments: [null] }, { offload: 1 },
  ];
  for (const options of cases) it(JSON.stringify(options), () => assert.equal(codeOf('{"aps":{"alert":"x"}}', options), "invalidOption"));
  it("topics, signers and clocks too", () => {
    for (const topic of ["", "a b", "x".repeat(156), "é", 1]) assert.equal(codeOfRefusal(() => new Sealer(topic as string)), "invalidTopic");
    for (const time of [NaN, -1, Infinity, Number.MAX_VALUE]) assert.equal(codeOfRefusal(() => new Sealer("a.b", { clock: () => time }).seal('{"aps":{"alert":"x"}}', { to, placeholder })), "invalidOption");
  });
});

describe("a sealer", () => {
  it("isn't made with a signer that can't sign", () => {
    const signer = (record: object | string, at: number) => ({ senderKey: () => SenderKey.fromKeyset(Keyset.fromJson(record as string), { at }) });
    assert.equal(codeOfRefusal(() => new Sealer("a.b", { signer: signer(records.sender, 1) })), null);
    for (const name of ["p256 psk", "shared"]) assert.equal(codeOfRefusal(() => new Sealer("a.b", { signer: signer(records[name], 1) })), "wrongKind", name);
    assert.equal(codeOfRefusal(() => new Sealer("a.b", { signer: signer(records.sender, -1) })), "noKeySeals");
  });
});

describe("exposed numbers", () => {
  const exposed = ["relevance-score"];
  for (const number of ["0.5", "1e-99999999999", "-1E-400", "1e308", "-0"]) {
    it(`${number} stays as it is`, () => {
      const push = seal(`{"aps":{"alert":"x","relevance-score":${number}}}`, { exposed, carrier: "oneSignal" });
      assert.ok(push.body.includes(`"relevance-score":${number}}`));
      assert.equal(push.request["ios_relevance_score"], Number(number));
    });
  }
  for (const number of ["1e309", "-1e99999999999"]) it(`${number} isn't a double`, () => assert.equal(codeOf(`{"aps":{"alert":"x","relevance-score":${number}}}`, { exposed }), "notExposable"));
});

describe("carriers that write aps themselves", () => {
  const payload = '{"aps":{"alert":"x","thread-id":"t","sound":{"name":"s"},"relevance-score":1}}';
  it("take only what they have fields for", () => {
    assert.equal(codeOf(payload, { carrier: "expo", placeholder: { locKey: "k" } }), "invalidPlaceholder");
    assert.equal(codeOf(payload, { carrier: "oneSignal", placeholder: { title: "t" } }), "invalidPlaceholder");
    assert.equal(codeOf(payload, { carrier: "expo", placeholder: { title: "t" } }), null);
    assert.equal(codeOf(payload, { carrier: "expo", exposed: ["thread-id"] }), "notExposable");
    assert.equal(codeOf(payload, { carrier: "expo", exposed: ["sound"] }), "notExposable");
    assert.equal(codeOf(payload, { carrier: "oneSignal", exposed: ["thread-id", "relevance-score"] }), null);
    assert.equal(codeOf('{"aps":{"alert":"x","title":"t"}}', { carrier: "oneSignal", exposed: ["title"] }), "notExposable");
    assert.equal(codeOf(payload, { carrier: "fcm", exposed: ["sound"], placeholder: { locKey: "k" } }), null);
  });
});
