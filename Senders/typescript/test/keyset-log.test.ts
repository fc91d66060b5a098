import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PushCryptError } from "../src/index.js";
import { KeysetFile } from "../src/keyset-file.js";
import { KeysetLog } from "../src/keyset-log.js";
import { MOMENTS, time } from "../src/keyset.js";
import { isXWingAvailable } from "../src/suites.js";
import { codeOfAsync, vectors } from "./vectors.js";

const file = vectors("keyset-log-v1.json");
const bytes = (text: string): Buffer => Buffer.from(text, "utf8");
const secretOf = (passphrase: string | undefined) => (passphrase === undefined ? {} : { secret: { passphrase } });

describe("keyset-log-v1: accepted", () => {
  for (const { name, keyset, passphrase, id, kind, head, points, state } of file.accepted) {
    it(name, async () => {
      const { log } = await KeysetFile.read(bytes(keyset), secretOf(passphrase));
      assert.deepEqual([log.id, log.kind, { n: log.head.n, hash: log.head.hash }, log.points], [id, kind, head, points]);
      assert.equal(log.head.at, time(state.at, "at"));
      assert.deepEqual([...log.secrets], state.secrets ?? []);
      const keys = [...log.keys].map(([kid, { key, times, psk, lost }]) => [kid, {
        algorithm: key === undefined ? "shared" : key.use === "publisher" ? "ed25519-publisher" : ["ed25519", "p256", "x25519", "xwing"][key.kind.suite], times, psk, lost }]);
      const expected = Object.entries(state.keys as Record<string, Record<string, unknown>>).map(([kid, key]) => [kid, {
        algorithm: key["algorithm"], psk: key["psk"] === true, lost: key["lost"] === true,
        times: Object.fromEntries(MOMENTS.filter((moment) => moment in key).map((moment) => [moment, time(key[moment], moment)])) }]);
      assert.deepEqual(Object.fromEntries(keys), Object.fromEntries(expected));
    });
    it(`${name}: its keys`, { skip: !keyset.includes('"digest"') && passphrase === undefined }, async () => {
      const opened = await KeysetFile.read(bytes(keyset), secretOf(passphrase));
      const material = Object.entries(state.keys as Record<string, object>).filter(([, key]) => !("destroyedAt" in key) && !("lost" in key));
      assert.deepEqual(Object.keys(Object.fromEntries(material)).sort(), [...opened.log.keys].filter(([, { times, lost }]) => times.destroyedAt === undefined && !lost).map(([kid]) => kid).sort());
      assert.equal(opened.keyset().use, kind);
      assert.equal(opened.keyset().sequence, head.n);
    });
  }
});

describe("keyset-log-v1: refused", () => {
  for (const { name, keyset, passphrase, code, row } of file.refused) {
    it(name, { skip: keyset.includes('"AKP"') && !isXWingAvailable() && code === "otherKeys" }, async () => {
      await assert.rejects(KeysetFile.read(bytes(keyset), secretOf(passphrase)), (error: unknown) => {
        assert.ok(error instanceof PushCryptError);
        assert.deepEqual([error.code, error.facts.row], [code, row], error.message);
        return true;
      });
    });
  }
  it("a file of more than 4 MiB", async () => {
    assert.equal(await codeOfAsync(() => KeysetFile.read(Buffer.alloc(4 * 2 ** 20 + 1, "\n"))), "tooLarge");
  });
  it("bytes that aren't UTF-8", async () => {
    const text = bytes(file.accepted[1].keyset);
    assert.equal(await codeOfAsync(() => KeysetFile.read(Buffer.concat([text.subarray(0, 60), Buffer.of(0xff), text.subarray(60)]))), "malformed");
  });
});

describe("keyset-log-v1: extends", () => {
  const logOf = (text: string): KeysetLog => new KeysetLog(text.split("\n").filter((row) => row !== "" && !row.startsWith('{"v"')).map(bytes));
  for (const { name, log, point, other, extends: isExtended } of file.extends) {
    it(name, () => assert.equal(logOf(log).extends(point ?? logOf(other).head), isExtended));
  }
});
