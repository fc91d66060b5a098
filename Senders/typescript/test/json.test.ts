import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { b64 } from "../src/sender/bytes.js";
import { bytes, integer } from "../src/sender/forms.js";
import { JsonNumber, JsonObject, readObject, type Json } from "../src/sender/json.js";
import { codeOfRefusal } from "./vectors.js";

function plain(json: Json | undefined): unknown {
  if (json instanceof JsonObject) return Object.fromEntries([...json].map(([name, value]) => [name, plain(value)]));
  return json instanceof JsonNumber ? Number(json.text) : Array.isArray(json) ? json.map(plain) : json;
}

const nested = (depth: number): string => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

describe("strict JSON", () => {
  const accepted = ['{}', ' { } ', '{"a":1,"b":[true,false,null,"x",-0.5e+7,{}],"c":{"d":[]}}', '{"\\u0061":"\\"\\\\\\/\\b\\f\\n\\r\\t\\ud83d\\ude00é😀"}', '{"a": [ 1 , 2 ] }', '\t\r\n{"__proto__":{"toString":1}}',
    '{"a":"\\\\u0061","b":"\\\\"}', '{"A":1,"a":2}', '{"\u00e9":1,"e\u0301":2}', nested(64), '{"a":"\u2028\u007f"}'];
  for (const text of accepted) {
    it(`accepts ${text.slice(0, 60)}`, () => {
      assert.deepEqual(plain(readObject(text)), JSON.parse(text));
      assert.deepEqual(plain(readObject(Buffer.from(text))), JSON.parse(text));
    });
  }
  const refused = ["", " ", "{", "}", "[]", '"a"', "1", "null", "{}x", "{}{}", "{},", '{"a"}', '{"a":}', '{"a":1,}', "{,}", '{"a":1 "b":2}', "{a:1}", "{'a':1}", '{"a":01}', '{"a":+1}', '{"a":.5}', '{"a":1.}', '{"a":1e}', '{"a":-}', '{"a":NaN}',
    '{"a":Infinity}', '{"a":0x1}', '{"a":True}', '{"a":nul}', '{"a":[1,]}', '{"a":[,1]}', '{"a":[1 2]}', '{"a":[1}', '{"a":"x}', '{"a":"\n"}', '{"a":"\t"}', '{"a":"\\x"}', '{"a":"\\u12"}', '{"a":"\\u12g4"}', '{"a":"\\ud800"}', '{"a":"\\udc00\\ud800"}',
    '{"\\ud800":1}', '{"a":"\ud800"}', '{"a":1,"a":1}', '{"a":1,"\\u0061":1}', '{"b":{"a":1,"c":[],"a":1}}', '{"b":[{"a":1,"a":1}]}', '\ufeff{}', '{}\ufeff', '{"a":1}\u00a0', '/**/{}', '{"a":1}//', '{"a":1;"b":2}', '{"a":1:"b":2}', '{"a","b"}', nested(65),
    `{"a":${'{"a":'.repeat(64)}1${"}".repeat(64)}}`, '{"a":[1:2]}', '{"a":[1]]}', '{"__proto__":1,"__proto__":2}'];
  for (const text of refused) it(`refuses ${JSON.stringify(text).slice(0, 60)}`, () => assert.equal(codeOfRefusal(() => readObject(text)), "malformed"));
  it("refuses bytes that aren't UTF-8", () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
      assert.equal(codeOfRefusal(() => readObject(Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]))), "malformed");
    }
    assert.equal(codeOfRefusal(() => readObject(Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]))), "malformed");
  });
  it("has limits", () => {
    assert.equal(codeOfRefusal(() => readObject('{"a":"é"}', 10)), null);
    assert.equal(codeOfRefusal(() => readObject('{"a":"é"}', 9)), "malformed");
    assert.equal(codeOfRefusal(() => readObject('{"a":[1,2]}', 99, 4)), null);
    assert.equal(codeOfRefusal(() => readObject('{"a":[1,2]}', 99, 3)), "malformed");
  });
  it("keeps the texts of values", () => {
    const root = readObject('{"a" : 1.50 ,"b": {"c":[ 1 ]} , "d":"\\u0061" }');
    assert.deepEqual([root.raw("a"), root.raw("b"), root.raw("d"), (root.get("b") as JsonObject).raw("c")], ["1.50", '{"c":[ 1 ]}', '"\\u0061"', "[ 1 ]"]);
  });
  it("has integers without sign, fraction and exponent", () => {
    const value = (text: string): Json | undefined => readObject(`{"a":${text}}`).get("a");
    for (const text of ["0", "9007199254740991", "12"]) assert.equal(integer(0)(value(text), "a"), Number(text));
    for (const text of ["-0", "-1", "1.0", "1e0", "1E2", "9007199254740992", "9007199254740993", "10000000000000000000", "true", '"1"', "null", "[]"]) {
      assert.equal(codeOfRefusal(() => integer(0)(value(text), "a")), "malformed", text);
    }
  });
  it("accepts a text that would exhaust a naive reader", () => {
    const long = `{"a":"${"x\\n".repeat(1_000_000)}"}`;
    assert.equal((readObject(long).get("a") as string).length, 2_000_000);
  });
});

describe("base64url", () => {
  it("is canonical", () => {
    for (const size of [1, 2, 3, 16, 32]) assert.deepEqual(bytes(size)(b64(Buffer.alloc(size, 0xfb)), "it"), Buffer.alloc(size, 0xfb));
    for (const text of ["", "A", "AB", "AAB", "AA==", "AA=", "A A", "AA\n", " AA", "+A", "/A", "AA.", "ÄA", 1, null, undefined, ["AA"]]) {
      assert.equal(codeOfRefusal(() => bytes()(text, "it")), "malformed", String(text));
    }
    assert.equal(codeOfRefusal(() => bytes(2)("AAAA", "it")), "malformed");
  });
});

describe("the package", () => {
  const files = (folder: string): string[] => readdirSync(join(process.cwd(), "src", folder)).filter((name) => name.endsWith(".ts")).map((name) => join(folder, name));
  const text = (name: string): string => readFileSync(join(process.cwd(), "src", name), "utf8");
  const imports = (name: string): string[] => [...text(name).matchAll(/from "([^"]+)"/g)].map(([, from]) => from ?? "");
  it("has the level sender in files of its own", () => {
    for (const name of files("sender")) assert.ok(imports(name).every((from) => /^\.\/[a-z]+\.js$|^node:crypto$/.test(from)), name);
    assert.ok(files("sender").map((name) => text(name).split("\n").length - 1).reduce((sum, count) => sum + count) <= 900);
  });
  it("depends on Node alone, and parses JSON nowhere else", () => {
    for (const name of [...files("."), ...files("sender")]) {
      assert.ok(imports(name).every((from) => /^\.{1,2}\/|^node:(crypto|fs|fs\/promises|child_process|stream\/consumers|util)$/.test(from)), name);
      assert.doesNotMatch(text(name), /Math\.random|getRandomValues|\beval\b/, name);
      if (!["carriers.ts", "sealer.ts", join("sender", "json.ts")].includes(name)) assert.doesNotMatch(text(name), /JSON\.parse/, name); // of what was sealed or checked
    }
    const manifest = JSON.parse(readFileSync(join(process.cwd(), "package.json"), "utf8")) as object;
    assert.ok(!("dependencies" in manifest) && !("peerDependencies" in manifest));
  });
});
