import { spawnSync } from "node:child_process";
import { join } from "node:path";

const interpreter = process.env["PUSHCRYPT_PYTHON"] ?? "python3";
const script = join(process.cwd(), "test", "interop.py");

/** Whether there is a Python with the package pushcrypt: `pip install ../python`, and PUSHCRYPT_PYTHON names the interpreter. */
export const hasPython = spawnSync(interpreter, ["-c", "import pushcrypt"]).status === 0;
if (!hasPython && process.env["CI"] !== undefined) throw new Error("PUSHCRYPT_PYTHON names no Python with the package pushcrypt");

export interface Answer {
  ok?: unknown;
  failure?: string;
}

/** The answers of the Python package to requests of interop.py. */
export function ask(...requests: Record<string, unknown>[]): Answer[] {
  const { stdout, stderr, status } = spawnSync(interpreter, [script], { input: JSON.stringify(requests), maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString()) as Answer[];
}

/** The answer to one request, which must succeed. */
export function askOne<T>(request: Record<string, unknown>): T {
  const [answer] = ask(request);
  if (answer === undefined || answer.failure !== undefined) throw new Error(`${String(request["op"])}: ${answer?.failure ?? "no answer"}`);
  return answer.ok as T;
}
