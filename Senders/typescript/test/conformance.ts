import { createInterface } from "node:readline";
import { readObject } from "../src/sender/json.js";
import { answered, valueOf, type Request } from "./operations.js";

// The program of the conformance kit: pushcrypt-conformance --level sender-full node .build/test/conformance.js

for await (const line of createInterface({ input: process.stdin })) {
  const request = valueOf(readObject(line)) as Request;
  process.stdout.write(`${JSON.stringify({ tag: request["tag"], ...answered(request) })}\n`);
}
