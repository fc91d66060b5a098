import { createHash } from "node:crypto";

// Keysets of sender keys, written as docs/keyset-log.md says.

export const b64 = (bytes: Buffer): string => bytes.toString("base64url");
export const day = (count: number): string => new Date(Date.UTC(2026, 0, 1 + count)).toISOString().replace(".000", "");
export const id = b64(Buffer.alloc(16, 1));
export type Line = Record<string, unknown>;

/** The rows of a log with these changes, and the hash of the last. */
export function rowsOf(lines: Line[]): { rows: string; hash: string } {
  let rows = "";
  let prev: Buffer = Buffer.alloc(32);
  lines.forEach((line, index) => {
    const row = JSON.stringify({ n: index + 1, who: "test", prev: b64(prev), ...line });
    prev = createHash("sha256").update(row).digest();
    rows += `${row}\n`;
  });
  return { rows, hash: b64(prev) };
}

/** A keyset in clear. */
export function plain(lines: Line[], keys: Readonly<Record<string, string>>[]): string {
  const { rows } = rowsOf(lines);
  const value = JSON.stringify(keys);
  return `${rows}{"v":1,"keys":${value},"digest":"${b64(createHash("sha256").update(rows + value).digest())}"}\n`;
}

/** A keyset in clear with one key, active since the first day, and the point of its log. */
export function plainKeyset(key: Readonly<Record<string, string>>): { text: string; head: { n: number; hash: string } } {
  const { d: _, ...jwk } = key;
  const line = { at: day(0), what: "created", id, kind: "sender", keys: { [key["kid"] ?? ""]: { jwk, activatesAt: day(0) } } };
  return { text: plain([line], [key]), head: { n: 1, hash: rowsOf([line]).hash } };
}
