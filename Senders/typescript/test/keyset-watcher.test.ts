import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { createCipheriv, createHash, createHmac, randomBytes, scryptSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, chown, mkdtemp, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { KeysetWatcher, readKeysetFile, Recipient, Sealer, type KeysetSecret, type Point } from "../src/index.js";
import { b64, day, id, plain, rowsOf, type Line } from "./keysets.js";
import { lockForm, unwrap } from "../src/keyset-secret.js";
import { codeOfAsync, codeOfRefusal, keyOf, vectors } from "./vectors.js";

const known = vectors("steps-v1.json").pushes[0].sender as Record<string, string>;
const clock = (count: number) => (): number => Date.UTC(2026, 0, 1 + count);

function generated(): Record<string, string> {
  const secret = randomBytes(32);
  const x = b64(keyOf(known).kind.publicOf(secret));
  const kid = b64(createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest().subarray(0, 8));
  return { ...known, x, kid, d: b64(secret) };
}

const [first, second] = [known, generated()];
const publicOf = ({ d: _, ...record }: Record<string, string>): Record<string, string> => record;

const created: Line = { at: day(0), what: "created", id, kind: "sender", keys: { [first["kid"] ?? ""]: { jwk: publicOf(first), activatesAt: day(0) } } };
const rotated: Line = { at: day(10), what: "rotated", keys: { [second["kid"] ?? ""]: { jwk: publicOf(second), activatesAt: day(20) }, [first["kid"] ?? ""]: { retiresAt: day(20) } } };
const revoked: Line = { at: day(11), what: "revoked", keys: { [first["kid"] ?? ""]: { revokedAt: day(30) } } };

function enc(key: Buffer, aad: string | Buffer, text: string | Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(aad));
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

const passphrase = "correct horse é";
const keysetKey = Buffer.alloc(32, 9);

/** Locked by a passphrase, and by a command whose wrapped key is the key with each byte changed. */
function encrypted(lines: Line[], keys: Record<string, string>[], names = ["kms", "words"]): string {
  const { rows } = rowsOf(lines);
  const [salt, history, dataKey] = [randomBytes(16), randomBytes(32), randomBytes(32)];
  const derived = scryptSync(passphrase, salt, 48, { N: 16, r: 8, p: 1 });
  const wrapped = enc(derived.subarray(0, 32), "pushcrypt/1 keyset key", keysetKey);
  const locks = JSON.stringify([{ name: names[0], command: true, key: b64(Buffer.from(keysetKey.map((byte) => byte ^ 1))) },
    { name: names[1], passphrase: { n: 16, r: 8, p: 1, salt: b64(salt), check: b64(derived.subarray(32)) }, key: b64(wrapped) }]);
  const text = enc(dataKey, Buffer.concat([Buffer.from("pushcrypt/1 keyset\0"), Buffer.from(`${locks}\0${rows}`)]), JSON.stringify({ keys, history: b64(history) }));
  const sealed = `{"locks":${locks},"dataKey":"${b64(enc(keysetKey, "pushcrypt/1 data key", dataKey))}","keys":"${b64(text)}"}`;
  return `${rows}{"v":1,"sealed":${sealed},"mac":"${b64(createHmac("sha256", history).update(rows).digest())}"}\n`;
}

describe("keysets on disk", () => {
  let folder = "";
  let path = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "pushcrypt-"));
    path = join(folder, "senders.keyset");
  });
  after(() => rm(folder, { recursive: true }));

  async function write(text: string, mode = 0o600): Promise<void> {
    const next = join(folder, "next");
    await writeFile(next, text, { mode });
    await chmod(next, mode);
    await rename(next, path);
  }

  it("are read in clear, and not with a secret", async () => {
    await write(plain([created], [first]));
    assert.equal((await readKeysetFile(path)).keyset().sequence, 1);
    assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: { passphrase } })), "notEncrypted");
  });
  it("of other users are refused, and root's only if others can't open them", { skip: process.geteuid?.() !== 0 && "only root can give files away" }, async () => {
    await write(plain([created], [first]));
    await chown(path, 12_345, 0);
    assert.equal(await codeOfAsync(() => readKeysetFile(path)), "foreignOwner");
    await chown(path, 0, 12_345);
    await chmod(path, 0o640);
    assert.equal(await codeOfAsync(() => readKeysetFile(path)), null);
    const asUser = async (mode: number, owner: number): Promise<string | null> => {
      await chown(path, owner, 0);
      await chmod(path, mode);
      const [isRoot, file] = [process.geteuid, readFileSync(path)];
      process.geteuid = () => 12_345; // what is checked depends on the owner and the mode alone
      try { assert.ok(file.length > 0); return await codeOfAsync(() => readKeysetFile(path)); } finally { process.geteuid = isRoot as () => number; }
    };
    assert.deepEqual([await asUser(0o600, 12_345), await asUser(0o640, 12_345), await asUser(0o640, 0), await asUser(0o644, 0), await asUser(0o660, 0)], [null, "looseMode", null, "looseMode", "looseMode"]);
    assert.equal(await asUser(0o600, 54_321), "foreignOwner");
  });
  it("must be private", async () => {
    for (const mode of [0o644, 0o660, 0o604, 0o610]) {
      await write(plain([created], [first]), mode);
      const isRoots = process.geteuid?.() === 0 && mode === 0o640;
      assert.equal(await codeOfAsync(() => readKeysetFile(path)), isRoots ? null : "looseMode", mode.toString(8));
    }
    await write(plain([created], [first]), 0o400);
    assert.equal(await codeOfAsync(() => readKeysetFile(path)), null);
    await assert.rejects(readKeysetFile(join(folder, "none")), { code: "ENOENT" });
  });

  it("may be pipes, which have no mode and no owner", async () => {
    const pipe = join(folder, "pipe");
    spawnSync("mkfifo", ["-m", "644", pipe]);
    await write(plain([created], [first]));
    const [file] = await Promise.all([readKeysetFile(pipe), new Promise((resolve) => execFile("cp", [path, pipe], resolve))]);
    assert.equal(file.keyset().sequence, 1);
  });
  it("of another kind make no sealer", async () => {
    const { d, ...jwk } = vectors("pushcrypt-v1.json").keys.p256 as Record<string, string>;
    const line: Line = { at: day(0), what: "created", id, kind: "recipient", keys: { [jwk["kid"] ?? ""]: { jwk, activatesAt: day(0) } } };
    await write(plain([line], [{ ...jwk, d: d ?? "" }]));
    const signer = await KeysetWatcher.open(path);
    assert.equal(codeOfRefusal(() => new Sealer("com.example.app", { signer })), "wrongKind");
    signer.close();
  });
  it("are read only up to their limit", async () => {
    await write("");
    await truncate(path, 3 * 2 ** 30); // more than Node reads at once
    assert.equal(await codeOfAsync(() => readKeysetFile(path)), "tooLarge");
    await write(plain([created], [first]));
  });

  const secretsLine: Line = { ...created, secrets: ["words", "kms"] };
  const flip = "process.stdin.on('data', (d) => process.stdout.write(d.map((byte) => byte ^ 1)))";
  const command = (script: string): KeysetSecret => ({ command: [process.execPath, "-e", script, "--"] });
  it("are decrypted with a passphrase or a command", async () => {
    await write(encrypted([secretsLine], [first]));
    for (const secret of [{ passphrase }, { passphrase: Buffer.from(passphrase) }, command(flip)]) {
      assert.equal((await readKeysetFile(path, { secret })).keyset().use, "sender");
    }
    assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: { passphrase: "wrong" } })), "wrongSecret");
    assert.equal(codeOfRefusal(await readKeysetFile(path).then((file) => () => file.keyset())), "secretNeeded");
    const isUnwrap = `if (process.argv[process.argv.length - 1] === "unwrap") { ${flip} }`;
    assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: command(isUnwrap) })), null);
  });
  it("refuse commands that fail", async () => {
    const failing = ["process.exit(3)", `${flip}; process.stdout.write("x")`, "", "process.stdout.write(Buffer.alloc(1 << 22))", `${flip}; process.on("exit", () => (process.exitCode = 1))`, "process.kill(process.pid)"];
    for (const script of failing) assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: command(script) })), "wrapCommandFailed", script);
    assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: { command: [join(folder, "none")] } })), "wrapCommandFailed");
    for (const command of [[], ["a\0b"], [1 as unknown as string]]) assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: { command } })), "wrapCommandFailed");
    assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: command("process.stdout.write(Buffer.alloc(32))") })), "notAuthentic");
    assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: { command: [`${process.execPath} -e "${flip}"`] } })), "wrapCommandFailed"); // no shell
    process.env["PUSHCRYPT_PASSPHRASE"] = "secret";
    const hidden = `process.env.PUSHCRYPT_PASSPHRASE === undefined ? ${flip} : process.exit(1)`;
    assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: command(hidden) })), null);
    delete process.env["PUSHCRYPT_PASSPHRASE"];
  });
  it("refuse a command for which no file handle is left", () => {
    const script = `import { openSync } from "node:fs"; import { unwrap } from ${JSON.stringify(new URL("../src/keyset-secret.js", import.meta.url).href)};
      try { for (;;) openSync("/dev/null"); } catch { unwrap(["true"], Buffer.alloc(32)).catch(({ code }) => console.log(code)); }`;
    const run = spawnSync("sh", ["-c", 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, script], { encoding: "utf8" });
    assert.deepEqual([run.stdout, run.status], ["wrapCommandFailed\n", 0], run.stderr);
  });
  it("refuse passphrases of other types without showing them", async () => {
    await write(encrypted([secretsLine], [first]));
    for (const secret of [{ passphrase: 12_345_678 }, { passphrase: ["12345678"] }, "12345678", {}]) {
      await assert.rejects(readKeysetFile(path, { secret: secret as unknown as KeysetSecret }), ({ code, message }) => code === "wrongSecret" && !message.includes("12345678"));
    }
  });
  it("have scrypt with the limits of RFC 7914", () => {
    const lock = (n: number, r: number) => ({ name: "a", key: b64(Buffer.alloc(60)), passphrase: { n, r, p: 1, salt: b64(Buffer.alloc(16)), check: b64(Buffer.alloc(16)) } });
    assert.deepEqual([[2 ** 15, 1], [2 ** 16, 1], [2 ** 16, 2], [2 ** 20, 8], [2 ** 20, 9], [3, 8]].map(([n = 0, r = 0]) => codeOfRefusal(() => lockForm(lock(n, r), "it"))), [null, "malformed", null, null, "malformed", "malformed"]);
  });
  it("end with the child processes of a command that needs too long", async () => {
    const pidFile = join(folder, "pid");
    const waiting = `sleep 60 & echo $! > ${pidFile}; wait`;
    assert.equal(await codeOfAsync(() => unwrap(["sh", "-c", waiting, "kms"], Buffer.alloc(32), 500)), "wrapCommandFailed");
    const pid = Number(await readFile(pidFile, "utf8"));
    const isRunning = (): boolean => {
      try { return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")); } catch { return false; }
    };
    assert.ok(pid > 0);
    for (let looks = 0; isRunning() && looks < 200; looks += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(isRunning(), false);
  });
  it("whose mac isn't that of the rows, or whose keys were sealed for other rows, are refused", async () => {
    const text = encrypted([secretsLine], [first]);
    await write(text.replace(/"mac":"./, (found) => `${found.slice(0, -1)}${found.endsWith("A") ? "B" : "A"}`));
    assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: { passphrase } })), "notAuthentic");
    await write(text.replace('"who":"test"', '"who":"tests"'));
    assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: { passphrase } })), "notAuthentic");
  });
  it("whose secrets aren't those of the log are refused", async () => {
    await write(encrypted([secretsLine], [first], ["kms", "other"]));
    assert.equal(await codeOfAsync(() => readKeysetFile(path, { secret: { passphrase } })), "otherSecrets");
  });

  it("are reloaded, and never go back", async () => {
    await write(plain([created], [first]));
    const [changes, refusals]: [Point[], Error[]] = [[], []];
    let now = clock(5);
    const watcher = await KeysetWatcher.open(path, { interval: 20, clock: () => now(), onChange: (head) => changes.push(head), onRefusal: (error) => refusals.push(error) });
    const sealer = new Sealer("com.example.app", { signer: watcher, clock: () => now() });
    const skid = (): string => /"skid":"([\w-]+)"/.exec(sealer.seal('{"aps":{"alert":"x"}}', { to: Recipient.fromJwk(vectors("sender-refusals-v1.json").records.p256), placeholder: { title: "x" } }).body.toString())?.[1] ?? "";
    try {
      assert.equal(skid(), first["kid"]);
      await write(plain([created, rotated], [first, second]));
      for (let waited = 0; changes.length === 0 && waited < 500; waited += 1) await new Promise((resolve) => setTimeout(resolve, 10));
      assert.deepEqual([changes.length, watcher.head.n, watcher.head, skid()], [1, 2, changes[0], first["kid"]]);
      now = clock(21);
      assert.equal(skid(), second["kid"]); // the time chooses without a change of the file
      const seen = watcher.head;
      for (const [text, code] of [[plain([created], [first]), "olderThanHistory"], [plain([{ ...created, id: b64(Buffer.alloc(16, 2)) }, rotated], [first, second]), "olderThanHistory"],
        [plain([created, rotated], [first]), "otherKeys"], ["", "incomplete"]] as const) {
        await write(text);
        await watcher.reload();
        assert.equal((watcher.refusal as Error & { code: string }).code, code);
        assert.deepEqual([watcher.head, skid()], [seen, second["kid"]]);
        await watcher.reload();
      }
      assert.equal(refusals.length, 4); // one for each refusal of another text
      assert.equal(await codeOfAsync(() => KeysetWatcher.open(path, { seen })), "incomplete");
      await write(plain([created], [first]));
      assert.equal(await codeOfAsync(() => KeysetWatcher.open(path, { seen })), "olderThanHistory");
      await write(plain([created, rotated], [first, second]));
      await watcher.reload();
      assert.equal(watcher.refusal, undefined);
    } finally {
      watcher.close();
    }
  });
  it("sign nothing when the key in use was revoked, and keep it when a file only lacks a key", async () => {
    await write(plain([created], [first]));
    const watcher = await KeysetWatcher.open(path, { interval: 60_000, clock: clock(5) });
    const retired = { ...rotated, keys: { [first["kid"] ?? ""]: { retiresAt: day(1) } } };
    await write(plain([created, retired], [first]));
    await watcher.reload();
    assert.deepEqual([watcher.senderKey().kid, (watcher.refusal as Error & { code: string }).code], [first["kid"], "noKeySeals"]);
    await write(plain([created, { ...revoked, at: day(2) }], [first]));
    await watcher.reload();
    assert.deepEqual([codeOfRefusal(() => watcher.senderKey()), watcher.refusal], ["noKeySeals", undefined]);
    assert.equal(await codeOfAsync(() => KeysetWatcher.open(path, { clock: clock(5) })), "noKeySeals");
    watcher.close();
  });
  it("sign nothing when a restored log revokes the key in use, which it doesn't have", async () => {
    const active = { ...rotated, keys: { ...(rotated["keys"] as object), [second["kid"] ?? ""]: { jwk: publicOf(second), activatesAt: day(11) } } };
    await write(plain([created, active], [first, second]));
    const watcher = await KeysetWatcher.open(path, { interval: 60_000, clock: clock(15) });
    assert.equal(watcher.senderKey().kid, second["kid"]);
    const restored: Line = { n: 3, at: day(12), what: "restored", over: [watcher.head], revoked: { [second["kid"] ?? ""]: day(12) }, keys: { [first["kid"] ?? ""]: { retiresAt: day(12) } } };
    await write(plain([created, restored], [first]));
    await watcher.reload();
    assert.deepEqual([codeOfRefusal(() => watcher.senderKey()), watcher.refusal, watcher.head.n], ["noKeySeals", undefined, 3]);
    watcher.close();
  });
  it("sign nothing when the key in use was revoked and destroyed, and take every newer file from then on", async () => {
    await write(plain([created], [first]));
    const watcher = await KeysetWatcher.open(path, { interval: 60_000, clock: clock(5) });
    const gone = [created, { ...revoked, at: day(2) }, { at: day(3), what: "destroyed", keys: { [first["kid"] ?? ""]: { destroyedAt: day(3) } } }];
    await write(plain(gone, []));
    await watcher.reload();
    assert.deepEqual([codeOfRefusal(() => watcher.senderKey()), watcher.refusal, watcher.head.n], ["noKeySeals", undefined, 3]);
    await write(plain([...gone, { at: day(4), what: "rotated", keys: { [second["kid"] ?? ""]: { jwk: publicOf(second), activatesAt: day(20) } } }], [second]));
    await watcher.reload();
    assert.deepEqual([codeOfRefusal(() => watcher.senderKey()), watcher.refusal, watcher.head.n], ["noKeySeals", undefined, 4]);
    watcher.close();
  });
  it("are replaced without an active key when the keys in use have expired", async () => {
    await write(plain([{ ...created, keys: { [first["kid"] ?? ""]: { jwk: publicOf(first), activatesAt: day(0), expiresAt: day(6) } } }], [first]));
    let now = clock(5);
    const watcher = await KeysetWatcher.open(path, { interval: 60_000, clock: () => now() });
    now = clock(7);
    await write(plain([{ ...created, keys: { [first["kid"] ?? ""]: { jwk: publicOf(first), activatesAt: day(0), expiresAt: day(6) } } }, { at: day(7), what: "rotated", keys: { [second["kid"] ?? ""]: { jwk: publicOf(second), activatesAt: day(8) } } }], [first, second]));
    await watcher.reload();
    assert.deepEqual([watcher.refusal, watcher.head.n], [undefined, 2]);
    now = clock(9);
    assert.equal(watcher.senderKey().kid, second["kid"]);
    watcher.close();
  });
  it("stay in use when a callback throws, and a refusal that comes again after a success is told again", async (context) => {
    const logged = context.mock.method(console, "error", () => undefined);
    const refusals: string[] = [];
    await write(plain([created], [first]));
    const failing = { onChange: (): never => { throw new Error("secret"); }, onRefusal: async ({ message }: Error): Promise<never> => { refusals.push(message); throw new Error("secret"); } };
    const watcher = await KeysetWatcher.open(path, { interval: 60_000, clock: clock(5), ...failing });
    await write(plain([created, rotated], [first, second]));
    await watcher.reload();
    assert.deepEqual([watcher.head.n, watcher.refusal], [2, undefined]);
    for (let times = 0; times < 2; times += 1) {
      await rm(path);
      await watcher.reload();
      await watcher.reload();
      assert.equal((watcher.refusal as Error & { code: string }).code, "ENOENT");
      await write(plain([created, rotated], [first, second]));
      await watcher.reload();
      assert.equal(watcher.refusal, undefined);
    }
    await new Promise(setImmediate);
    assert.deepEqual([refusals.length, logged.mock.callCount()], [2, 3]);
    assert.ok(!JSON.stringify(logged.mock.calls.map((call) => call.arguments)).includes("secret"));
    watcher.close();
  });
});
