import assert from "node:assert/strict";
import { inspect } from "node:util";
import { describe, it } from "node:test";
import { Keyset, Pending, readReceipt, Recipient, Registration, sealOffload, SenderKey } from "../src/index.js";
import { PushCryptError } from "../src/sender/errors.js";
import { SENDER_KINDS } from "../src/sender/curves.js";
import { readObject } from "../src/sender/json.js";
import { readKey } from "../src/sender/key.js";
import { time } from "../src/keyset.js";
import { deviceKey, isXWingAvailable, KINDS } from "../src/suites.js";
import { campaignId } from "../src/options.js";
import { codeOfRefusal, keyOf, vectors } from "./vectors.js";

const file = vectors("keysets-v1.json");
const needsMlkem = (text: string): boolean => text.includes('"AKP"') && !isXWingAvailable();

function read(as: string, text: string): string[] {
  if (as === "recipient") return [Recipient.fromJwk(text).kid];
  if (as === "signer") return [SenderKey.fromJwk(text).kid];
  const keyset = Keyset.fromJson(text);
  if (as === "senders" && keyset.use !== "sender") throw new PushCryptError("wrongKind", "not senders");
  return keyset.kids;
}

describe("keysets-v1: records and sets", () => {
  for (const { name, as, failure, text, kids } of file.vectors) {
    it(`${as}, ${name}`, { skip: needsMlkem(text) && !["malformed", "unsupportedKey"].includes(failure) }, () => {
      if (failure === null) return assert.deepEqual(read(as, text), kids);
      // A record with two faults may be refused for either; suite 3's can't be checked without ML-KEM.
      const code = codeOfRefusal(() => read(as, text));
      if (needsMlkem(text)) assert.ok([failure, "unsupportedSuite"].includes(code ?? ""), String(code));
      else assert.equal(code, failure);
    });
  }
});

describe("keysets-v1: the key that seals", () => {
  for (const { name, text, at, primary, states } of file.states) {
    it(name, () => {
      assert.equal(Keyset.fromJson(text).primary(at)?.key.kid ?? null, primary);
      assert.deepEqual(Object.fromEntries(Keyset.fromJson(text).states(at)), states);
      if (primary === null) assert.equal(codeOfRefusal(() => SenderKey.fromKeyset(Keyset.fromJson(text), { at })), "noKeySeals");
    });
  }
});

describe("keysets-v1: campaigns", () => {
  const { keys, device } = vectors("pushcrypt-v1.json");
  const all = { ...keys, ...vectors("xwing-keys.json").keys };
  for (const { campaign, key: name, id } of file.campaigns) {
    it(`${campaign.slice(0, 20)} for ${name}`, { skip: needsMlkem(JSON.stringify(all[name] ?? {})) }, () => {
      const key = all[name] === undefined ? deviceKey(keyOf(all.shared), device) : keyOf(all[name]);
      assert.equal(campaignId(campaign, key), id);
    });
  }
});

describe("times", () => {
  const of = (text: unknown): number | string | null => {
    let found: number | undefined;
    return codeOfRefusal(() => (found = time(text, "it"))) ?? found ?? null;
  };
  it("are of RFC 3339 with an offset, without fractions, and a leap second is the second after it", () => {
    const noon = Date.UTC(2026, 5, 1, 12) / 1000;
    for (const text of ["2026-06-01T12:00:00Z", "2026-06-01t12:00:00.999z", "2026-06-01T14:30:00+02:30", "2026-06-01T09:30:00-02:30", "2026-06-01T11:59:60Z"]) assert.equal(of(text), noon, text);
    assert.equal(of("0000-01-01T00:00:00Z"), -62_167_219_200);
    assert.equal(of("9999-12-31T23:59:59Z"), 253_402_300_799);
    assert.equal(of("2024-02-29T00:00:00Z"), Date.UTC(2024, 1, 29) / 1000);
  });
  it("of other forms are malformed", () => {
    const bad = ["2026-06-01T12:00:00", "2026-06-01 12:00:00Z", "2026-06-01T12:60:00Z", "2026-06-01T12:00:61Z", "2026-06-01T24:00:00Z", "2026-06-01T12:00:00+24:00", "2026-06-01T12:00:00+00:60",
      "2026-02-29T00:00:00Z", "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-00T00:00:00Z", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:60Z", "2026-06-01T12:00:00.Z", "12026-06-01T12:00:00Z", " 2026-06-01T12:00:00Z", 1, null, ""];
    for (const text of bad) assert.equal(of(text), "malformed", String(text));
  });
});

describe("records are refused", () => {
  const { records } = vectors("sender-refusals-v1.json");
  const codeOf = (record: string, changes: object): string | null =>
    codeOfRefusal(() => readKey(readObject(JSON.stringify({ ...(JSON.parse(record) as object), ...changes })), KINDS));
  const secret = Buffer.alloc(32, 1).toString("base64url");
  it("with a private key or a secret that their kind can't have, which is malformed", () => {
    for (const [name, foreign] of [["p256", ["priv", "device"]], ["x25519", ["priv", "device"]], ["sender", ["priv", "psk", "device"]], ["shared", ["d", "priv", "psk"]]] as const) {
      for (const member of foreign) assert.equal(codeOf(records[name], { [member]: secret }), "malformed", `${name} ${member}`);
      assert.equal(codeOf(records[name], { other: secret }), null, name);
    }
  });
  it("with another role than publisher, which is unsupportedKey, in sender keys alone", () => {
    for (const role of [null, "", "Publisher", "sender", 1]) assert.equal(codeOf(records.sender, { role }), "unsupportedKey", String(role));
    assert.equal(codeOf(records.sender, { role: "publisher" }), null);
    assert.equal(codeOf(records.p256, { role: "x" }), null); // a member that readers ignore
  });
  it("with an Ed25519 y that isn't canonical, is of small order or has no point, which is invalidKey", () => {
    const y = (value: bigint): string => Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse().toString("base64url");
    const field = 2n ** 255n - 19n;
    const order8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022n;
    for (const value of [0n, 1n, field - 1n, field, field + 1n, field + 3n, order8, field - order8, 2n, 7n]) {
      assert.equal(codeOf(records.sender, { x: y(value), d: undefined }), "invalidKey", String(value));
    }
    assert.equal(codeOf(records.sender, { x: y(3n), d: undefined }), "kidMismatch"); // it is a point
  });
});

describe("generated sender keys", () => {
  it("sign, and are read again from their private JWK", () => {
    const key = SenderKey.generate();
    const again = SenderKey.fromJwk(key.toJwk({ isPrivate: true }));
    assert.deepEqual([again.kid, again.toJwk()], [key.kid, key.toJwk()]);
    assert.deepEqual(Object.keys(key.toJwk()).sort(), ["alg", "crv", "kid", "kty", "x"]);
    assert.equal(codeOfRefusal(() => SenderKey.fromJwk(key.toJwk())), "wrongKind"); // it is public
    assert.equal(Keyset.fromJson(key.toJwk()).use, "sender");
    assert.notEqual(SenderKey.generate().kid, key.kid);
  });
  it("don't show the private key", () => {
    const key = SenderKey.generate();
    const { d = "" } = key.toJwk({ isPrivate: true });
    assert.equal(Buffer.from(d, "base64url").length, 32);
    assert.ok(!`${inspect(key, { depth: 9, showHidden: true })}${JSON.stringify(key)}`.includes(d));
  });
});

describe("keys of suite 3", () => {
  const record = JSON.stringify(vectors("xwing-keys.json").keys.xwing);
  it("are refused with a fact where Node lacks ML-KEM-768", { skip: isXWingAvailable() }, () => {
    assert.throws(() => Recipient.fromJwk(record), (error: unknown) => error instanceof PushCryptError
      && error.code === "unsupportedSuite" && error.facts.unavailable === "ML-KEM-768");
  });
  it("are those of the draft's first vector", { skip: !isXWingAvailable() }, () => assert.equal(keyOf(record).kid, "zRxjBWsUPo0"));
});

describe("sets", () => {
  const { records } = vectors("sender-refusals-v1.json");
  const key = (name: string): Record<string, string> => JSON.parse(records[name]) as Record<string, string>;
  const set = (keys: Record<string, string>[], times: object[], seq = 5): object =>
    ({ keys, pushcrypt: { seq, keys: Object.fromEntries(keys.map(({ kid }, index) => [kid, times[index]])) } });
  const [old, young] = [{ activatesAt: "2026-01-01T00:00:00Z" }, { activatesAt: "2026-06-01T00:00:00Z" }];

  it("that are older than one seen are refused", () => {
    const text = set([key("p256")], [old]);
    assert.equal(Keyset.fromJson(text as Record<string, unknown>, { minimumSequence: 5 }).sequence, 5);
    assert.equal(codeOfRefusal(() => Keyset.fromJson(text as Record<string, unknown>, { minimumSequence: 6 })), "rolledBack");
  });
  it("choose the newest key that is active", () => {
    const keyset = Keyset.fromJson(set([key("p256"), key("x25519")], [old, young]) as Record<string, unknown>);
    assert.equal(Recipient.fromKeyset(keyset, { at: 1_780_000_000 }).suite, 1);
    assert.equal(Recipient.fromKeyset(keyset, { at: 1_790_000_000 }).suite, 2);
    assert.equal(codeOfRefusal(() => Recipient.fromKeyset(keyset, { at: 1_700_000_000 })), "noKeySeals");
  });
  it("that demand a psk need it", () => {
    const demanding = Keyset.fromJson(set([key("p256")], [{ ...old, psk: true }]) as Record<string, unknown>);
    assert.equal(codeOfRefusal(() => Recipient.fromKeyset(demanding)), "pskMissing");
  });
  it("whose newest key ranks below an older one are refused, unless an operator allows it", { skip: !isXWingAvailable() }, () => {
    const { priv: _, ...xwing } = vectors("xwing-keys.json").keys.xwing;
    const keyset = Keyset.fromJson(set([xwing, key("p256")], [old, young]) as Record<string, unknown>);
    assert.equal(codeOfRefusal(() => Recipient.fromKeyset(keyset)), "suiteTooLow");
    assert.equal(Recipient.fromKeyset(keyset, { allowsLowerSuite: true }).suite, 1);
    assert.equal(Recipient.fromKeyset(Keyset.fromJson(set([xwing, key("p256")], [young, old]) as Record<string, unknown>)).suite, 3);
  });
  it("of shared keys and key pairs rank in this order, too", () => {
    const ranked = Object.assign(new Keyset([{ key: keyOf(records.shared), times: { activatesAt: 1 }, demandsPsk: false }]), {
      entries: [{ key: keyOf(records.shared), times: { activatesAt: 1 } }, { key: keyOf(records.p256), times: { activatesAt: 2 } }] });
    assert.equal(codeOfRefusal(() => ranked.checkRank()), "suiteTooLow");
    const rising = Object.assign(new Keyset([{ key: keyOf(records.shared), times: { activatesAt: 3 }, demandsPsk: false }]), {
      entries: [{ key: keyOf(records.shared), times: { activatesAt: 3 } }, { key: keyOf(records.p256), times: { activatesAt: 2 } }] });
    assert.equal(codeOfRefusal(() => rising.checkRank()), null);
  });
  it("with times aren't read as one key", () => {
    const expiring = set([key("p256")], [{ ...old, expiresAt: "2027-01-01T00:00:00Z" }]) as Record<string, unknown>;
    assert.equal(codeOfRefusal(() => Recipient.fromJwk(expiring)), "malformed");
    assert.equal(Recipient.fromJwk(set([key("p256")], [old]) as Record<string, unknown>).suite, 1);
    for (const times of [{}, { createdAt: old.activatesAt }, { activatesAt: "9999-01-01T00:00:00Z" }, { ...old, destroyedAt: young.activatesAt }]) {
      assert.equal(codeOfRefusal(() => Recipient.fromJwk(set([key("p256")], [times]) as Record<string, unknown>)), "noKeySeals");
      assert.equal(codeOfRefusal(() => SenderKey.fromJwk(set([key("sender")], [times]) as Record<string, unknown>)), "noKeySeals");
    }
  });
  it("have at most 4 MiB", () => {
    const longest = JSON.stringify(key("p256")).padEnd(4 * 2 ** 20);
    assert.equal(Keyset.fromJson(longest).use, "recipient");
    for (const longer of [`${longest} `, Buffer.from(`${longest} `), { x: longest }]) assert.equal(codeOfRefusal(() => Keyset.fromJson(longer)), "tooLarge");
  });
  it("that are broken leave no text in an error and its causes", () => {
    for (const broken of ['{"k":"SECRET",}', '{"k":"SECRET\ud800"}', '{"k":"SECRET"}[', '{"kid":"SECRET"}', Buffer.from('{"k":"SECRET\xff"}', "latin1"), `${"[".repeat(9_999)}SECRET`]) {
      for (const read of [Keyset.fromJson, Recipient.fromJwk, Pending.fromJson, readReceipt, sealOffload, (text: string) => new Registration(text, { requiring: [] })]) {
        assert.throws(() => (read as (text: unknown) => unknown)(broken), (error: unknown) => error instanceof PushCryptError && !inspect(error, { depth: 9, showHidden: true }).includes("SECRET"));
      }
    }
  });
  it("show no secret when they are printed", () => {
    const sender = SenderKey.fromJwk(records.sender);
    const secrets = ["p256 psk", "shared", "sender"].map((name) => key(name)).flatMap(({ psk, k, d }) => [psk, k, d].flatMap((one) => one ?? []));
    const printed = [sender, Keyset.fromJson(records.shared), Recipient.fromJwk(records["p256 psk"])].map((one) => inspect(one, { depth: 9, showHidden: true }) + JSON.stringify(one));
    for (const secret of secrets) assert.ok(!printed.some((text) => text.includes(secret) || text.includes(Buffer.from(secret, "base64url").toString("hex").slice(0, 6))));
  });
  it("of the level sender have P-256 and Ed25519 only", () => {
    assert.equal(readKey(readObject(records["p256 psk"]), SENDER_KINDS).kind.suite, 1);
    assert.equal(codeOfRefusal(() => readKey(readObject(records.x25519), SENDER_KINDS)), "unsupportedKey");
  });
});
