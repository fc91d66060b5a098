import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, it } from "node:test";
import { Registration, SenderKey } from "../src/index.js";
import { plainKeyset } from "./keysets.js";
import { vectors } from "./vectors.js";

// The README's code as one program, in a project that has the package installed.

const folder = mkdtempSync(join(tmpdir(), "pushcrypt-readme-"));
after(() => rmSync(folder, { recursive: true }));
const readme = readFileSync("README.md", "utf8");
const blocks = [...readme.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code ?? "");
const { records } = vectors("sender-refusals-v1.json");

/** What the README leaves to its reader. */
const given = `
const upload: string = ${JSON.stringify(records["p256 psk"])};
const [passphrase, lastHead] = ["correct horse", ${"LAST_HEAD"}];
const payload = { aps: { alert: { title: "T", body: "B" } }, text: "long ".repeat(1_000) };
const placeholder = { title: "New message" };
const sent: string[] = [];
const send = async (headers: Readonly<Record<string, string>>, body: Buffer) => void sent.push(headers["apns-topic"] + " " + body.length);
const put = async (url: string, data: Buffer) => void sent.push(url + " " + data.length);
const store = (head: { n: number; hash: string }) => void sent.push("head " + head.n);
const log = (text: string) => void sent.push(text);
`;

function run(command: string, ...options: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, options, { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

it("the README fits a screen, and its code compiles and runs", () => {
  assert.ok(readme.split("\n").length <= 70);
  assert.equal(blocks.length, 3);
  const installed = join(folder, "node_modules", "pushcrypt");
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, "package.json"), readFileSync("package.json"));
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  const tsc = process.env["TSC"] ?? "tsc";
  const types = resolve("node_modules", "@types");
  run(tsc, "-p", resolve("tsconfig.json"), "--outDir", join(installed, "dist"));
  const key = SenderKey.generate();
  const { text, head } = plainKeyset(key.toJwk({ isPrivate: true }));
  mkdirSync(join(folder, "Keys"));
  writeFileSync(join(folder, "Keys", "backend.keyset"), text, { mode: 0o600 });
  // The keyset of this program is in clear, so it has no passphrase.
  const code = blocks.join("").replace("  secret: { passphrase },", "  // secret: { passphrase },");
  const imports = [...code.matchAll(/^import .*\n/gm)].map(([line]) => line).join("");
  const body = code.replace(/^import .*\n/gm, "");
  const program = `${imports}${given.replace("LAST_HEAD", JSON.stringify(head))}void passphrase;\n${body}signer.close();\nconsole.log(sent.join("\\n"));\n`;
  writeFileSync(join(folder, "program.ts"), program);
  run(tsc, "--strict", "--target", "es2022", "--module", "node16", "--skipLibCheck", "--typeRoots", types, "--types", "node", "program.ts");
  const [pushed, uploaded, ...others] = run(process.execPath, "program.js").trimEnd().split("\n");
  assert.match(pushed ?? "", /^com\.example\.app \d+$/);
  assert.equal(uploaded, `https://files.example.com/1 ${4 + 2 * 4_096 + 16}`);
  assert.deepEqual(others, []);
  assert.equal(dirname(installed), join(folder, "node_modules"));
  assert.equal(new Registration(records["p256 psk"], { requiring: ["psk", "asymmetric"] }).recipient.suite, 1);
});
