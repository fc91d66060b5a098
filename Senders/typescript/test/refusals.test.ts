import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { challenge, Recipient, Registration, registrationChange, Sealer, SenderKey, sealOffload, type Placeholder, type SealOptions } from "../src/index.js";
import { attachmentForm, offloadForm, SealedBlob, type Attachment } from "../src/blobs.js";
import { attachmentsForm } from "../src/options.js";
import { isVisible, readPayload } from "../src/sender/payload.js";
import { b64 } from "../src/sender/bytes.js";
import { codeOfRefusal, text64, vectors } from "./vectors.js";

const file = vectors("sender-refusals-v1.json");
const clock = (): number => file.at * 1000;

/** Apple's names as those of Placeholder. */
function placeholderOf(members: Record<string, unknown>): Placeholder {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()), value]));
}

describe("sender-refusals-v1: seal", () => {
  const signer = SenderKey.fromJwk(file.records.sender);
  for (const { name, failure, payload, to, isSigned, placeholder, options } of file.seal) {
    it(name, () => {
      const { requiresDevice = false, ...others } = options;
      const sealer = new Sealer(file.topic, { clock, ...(isSigned && { signer }) });
      const all = { to: Recipient.fromJwk(file.records[to]), placeholder: placeholderOf(placeholder), bare: !requiresDevice, ...others } as SealOptions;
      assert.equal(codeOfRefusal(() => sealer.seal(payload, all)), failure);
    });
  }
});

describe("sender-refusals-v1: register, store, challenge", () => {
  for (const { name, failure, record, requiring } of file.register) {
    it(`register ${name}`, () => assert.equal(codeOfRefusal(() => new Registration(record, { requiring })), failure));
  }
  for (const { name, failure, upload, stored, isProven, allowsLowerSuite, isWritten, removed } of file.store) {
    it(`store ${name}`, () => {
      const row = ({ record, ...rest }: { record: string; account: string; deviceToken: string }) => ({ registration: new Registration(record, { requiring: [] }), ...rest });
      const decide = () => registrationChange(row(upload), { over: stored.map(row), isProven, allowsLowerSuite });
      assert.equal(codeOfRefusal(decide), failure);
      if (failure === null) assert.deepEqual(decide(), { isWritten, removed });
    });
  }
  for (const { name, failure, record, host } of file.challenge) {
    it(`challenge for ${name}`, () => {
      assert.equal(codeOfRefusal(() => challenge(new Registration(record, { requiring: [] }), { host, topic: file.topic })), failure);
    });
  }
  it("parsed records are no uploads", () => {
    assert.throws(() => new Registration({} as string, { requiring: [] }), TypeError);
    assert.throws(() => new Registration(file.records.p256, { requiring: ["psk", "x"] as never }), TypeError);
    assert.throws(() => new Registration(file.records.p256, { requiring: "psk" as never }), TypeError);
  });
});

describe("alerts-v1", () => {
  const alerts = vectors("alerts-v1.json");
  const sealer = new Sealer(alerts.topic);
  const to = Recipient.fromJwk(alerts.keyset);
  for (const { name, alert, isVisible: isRight } of alerts.vectors) {
    it(name, () => {
      const payload = `{"aps":{"alert":${alert}}}`;
      assert.equal(codeOfRefusal(() => sealer.seal(payload, { to, placeholder: { title: "x" } })), isRight ? null : "invalidPayload");
      assert.equal(codeOfRefusal(() => sealOffload(payload)), isRight ? null : "invalidPayload");
      const value = JSON.parse(alert) as unknown;
      if (typeof value === "string") assert.equal(codeOfRefusal(() => sealer.seal('{"aps":{"alert":"x"}}', { to, placeholder: { body: value } })), isRight ? null : "invalidPlaceholder");
    });
  }
  it("has every range of invisible characters, and no others", () => {
    const invisible = new Set<number>();
    for (const range of alerts.invisible as string[]) {
      const ends: number[] = range.split("-").map((end) => parseInt(end, 16));
      for (let code = ends[0] ?? 0; code <= (ends.at(-1) ?? 0); code += 1) invisible.add(code);
    }
    for (let plane = 0; plane < 17; plane += 1) invisible.add((plane << 16) | 0xfffe).add((plane << 16) | 0xffff);
    for (let code = 0; code < 0x110000; code += 1) {
      if (code >= 0xd800 && code < 0xe000) continue;
      assert.equal(isVisible(String.fromCodePoint(code)), !invisible.has(code), code.toString(16));
    }
  });
});

describe("blobs-v1", () => {
  const blobs = vectors("blobs-v1.json");
  for (const { name, purpose, key, size, sha256, blob } of blobs.blobs) {
    it(name, () => {
      const plaintext = Buffer.from(Array.from({ length: size }, (_, i) => (167 * i + 13 * (i >> 8) + size) & 0xff));
      const sealed = new SealedBlob(purpose === "attachment" ? 1 : 2, plaintext, text64(key));
      const reference = sealed.at("https://a.b/");
      assert.deepEqual({ ...reference, key: b64(reference.key.export()) }, { url: "https://a.b/", key, size, sha256 });
      if (blob !== undefined) assert.deepEqual(sealed.data, text64(blob));
    });
  }
  for (const { name, valid, start, repeated, count, end } of blobs.payloads) {
    const isPadded = name.includes("with padding"); // a sender pads an offloaded payload itself
    it(`offloaded: ${name}`, () => assert.equal(codeOfRefusal(() => readPayload(start + repeated.repeat(count) + end)), valid || isPadded ? null : "malformed"));
  }
  for (const { name, valid, header } of blobs.headers) {
    // Values that a sender doesn't write: other types of the members, other uses, and members that it makes itself.
    const { attachments, offload, ...rest } = JSON.parse(header) as { attachments?: Attachment[]; offload?: Attachment };
    const isSenders = Object.keys(rest).join() === "id,iat,exp" && (attachments === undefined || (Array.isArray(attachments) && attachments.length > 0));
    const hasOtherUse = Array.isArray(attachments) && attachments.some((one) => one !== null && typeof one === "object" && "use" in one && (one.use as unknown) !== "avatar");
    if (!isSenders || hasOtherUse || / twice|unknown|ignored|size 5\.0/.test(name) || (offload !== undefined && header.includes('"offload":null'))) continue;
    it(`header: ${name}`, () => {
      const isNull = [...(attachments ?? []), offload].some((one) => one !== null && typeof one === "object" && [one.id, one.use].includes(null as never));
      const read = (): void => {
        if (attachments !== undefined) attachmentsForm(attachments, "attachments");
        if (offload !== undefined) offloadForm(offload, "offload");
      };
      assert.equal(codeOfRefusal(read), valid ? null : "malformed", isNull ? "null" : "");
    });
  }
  it("references keep no other members", () => {
    const { data: _, ...blob } = { ...new SealedBlob(1, Buffer.from("x")).at("https://a.b/c", { type: "image/png", id: "a" }), data: 1, other: 2 };
    assert.deepEqual(Object.keys(attachmentForm(blob, "it")), ["url", "key", "size", "sha256", "type", "id"]);
    assert.deepEqual(Object.keys(offloadForm(blob, "it")), ["url", "key", "size", "sha256"]);
  });
});
