import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readReceipt, receiptName } from "../src/index.js";
import { ascii, b64, sha256 } from "../src/sender/bytes.js";
import { answered } from "./operations.js";
import { codeOfRefusal, vectors } from "./vectors.js";

const id = "AAECAwQFBgcICQoLDA0ODw";
const name = receiptName(id);
const opened = { id: name, push: "42", outcome: "opened", time: 1_800_000_000 };
const failed = { id: `${name}-expired`, push: name, outcome: "expired", time: 0, kid: "jWNm9kJQc8Y", skid: "QG8-uR3dGvs", suppressed: true, test: true };
const lost = { id, outcome: "undecryptable", time: 5 };
const form = (members: object): string => new URLSearchParams(Object.entries(members).map(([key, value]): [string, string] => [key, String(value)])).toString();

describe("receipts", () => {
  it("have the names of their messages", () => {
    assert.equal(name, b64(sha256(ascii("pushcrypt/1 receipt\0"), Buffer.from(id, "base64url"))));
    assert.equal(codeOfRefusal(() => receiptName("AAAA")), "malformed");
  });
  for (const [kind, text] of [["JSON", JSON.stringify], ["a form", form]] as const) {
    it(`are read from ${kind}`, () => {
      const plain = { kid: undefined, skid: undefined, isSuppressed: false, isSelfTest: false };
      assert.deepEqual(readReceipt(text(opened)), { ...plain, id: name, name, pushId: "42", failure: undefined, time: 1_800_000_000 });
      assert.deepEqual(readReceipt(Buffer.from(text(failed))), { id: failed.id, name, pushId: name, failure: "expired", time: 0, kid: failed.kid, skid: failed.skid, isSuppressed: true, isSelfTest: true });
      assert.deepEqual(readReceipt(text(lost)), { ...plain, id, name: undefined, pushId: undefined, failure: "undecryptable", time: 5 });
      assert.equal(readReceipt(text({ ...opened, push: "ä &=+%", other: "x" })).pushId, "ä &=+%");
    });
    it(`are refused from ${kind}`, () => {
      const bad: object[] = [
        { ...opened, id: undefined }, { ...opened, id: "" }, { ...opened, id: `${name}-x` }, { ...opened, id }, { ...opened, id: `${name.slice(0, -1)}B` }, { ...opened, outcome: "a b" },
        { ...opened, outcome: "" }, { ...opened, outcome: "x".repeat(65) }, { ...opened, push: undefined }, { ...opened, push: "x".repeat(257) }, { ...opened, time: -1 }, { ...opened, time: 1.5 },
        { ...opened, time: 2 ** 53 }, { ...opened, time: "x" }, { ...opened, kid: failed.kid }, { ...failed, kid: "x" }, { ...failed, skid: "AAAAAAAAAAB" }, { ...failed, suppressed: false },
        { ...failed, test: "yes" }, { ...lost, push: "x" }, { ...lost, id: `${id}A` }, { ...lost, id: "AAECAwQFBgcICQoLDA0ODx" }, { ...failed, id: `${name}-other` }, { ...opened, more: "x".repeat(4_096) },
      ];
      for (const members of bad) {
        const given = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
        assert.equal(codeOfRefusal(() => readReceipt(text(given))), "malformed", text(given).slice(0, 200));
      }
    });
  }
  it("of other texts are refused", () => {
    const bad = ["", "{}", "[]", "null", "a", "a=1&a=2", "a=%", "a=%zz", "=1", `${form(opened)}&`, `&${form(opened)}`, `${form(opened)}&&x=1`, `${form(opened)}&x=%ff`, `${form(opened)}&x=1=2`, form(opened).replace("time=1", "time=01"),
      form(opened).replace("time=1", "time=%2B1"), `${JSON.stringify(opened)}x`, JSON.stringify(opened).replace("{", '{"time":1,'), JSON.stringify({ ...opened, push: 42 }), JSON.stringify({ ...failed, test: "true" })];
    for (const text of bad) assert.equal(codeOfRefusal(() => readReceipt(text)), "malformed", text.slice(0, 100));
    assert.throws(() => readReceipt({} as string), TypeError);
  });
});

describe("receipts-v1", () => {
  for (const { name, failure, body, receipt } of vectors("receipts-v1.json").vectors) {
    it(name, () => {
      const answer = answered({ op: "receipt", body }) as { failure?: string; receipt?: object };
      if (failure !== null) assert.equal(answer.failure, "malformed");
      else assert.deepEqual(answer.receipt, receipt);
    });
  }
});
