type SealCode = "invalidPayload" | "invalidPlaceholder" | "invalidOption" | "notExposable" | "notAuthenticated";
type KeyCode = "malformed" | "unsupportedKey" | "unsupportedSuite" | "invalidKey" | "kidMismatch" | "wrongKind";
type SetCode = "duplicateKey" | "noKeySeals" | "rolledBack" | "suiteTooLow" | "deviceMissing" | "pskMissing";
type RecordCode = "invalidDeviceID" | "invalidTopic" | "tooLarge" | "notAsymmetric" | "conflict" | "otherAccount";
type ProofCode = "otherChallenge" | "challengeExpired" | "possessionNotProven" | DayCode;
type DayCode = "otherRegistration" | "noDayKey" | "expiresTooLate";
type RowCode = "incomplete" | "unsupportedVersion" | "wrongNumber" | "brokenChain" | "timeWentBack" | "misplaced";
type KeysetCode = "unknownEpoch" | "wrongDigest" | "notAuthentic" | "otherKeys" | "otherSecrets" | "notEncrypted";
type FileCode = "secretNeeded" | "wrongSecret" | "wrapCommandFailed" | "olderThanHistory" | AccessCode;
type AccessCode = "looseMode" | "foreignOwner";

/** The codes of refusals, as in the other implementations. */
export type ErrorCode = SealCode | KeyCode | SetCode | RecordCode | ProofCode | RowCode | KeysetCode | FileCode;

/** What a program can use of an error. */
export interface ErrorFacts {
  /** `tooLarge` of a push: the length of the outer payload without padding, and the limit, in bytes. */
  readonly bytesNeeded?: number;
  readonly bytesAvailable?: number;
  /** A keyset's file: the row at fault, counted from 1; 0 is the whole file. */
  readonly row?: number;
  /** `unsupportedSuite`: the algorithm that this version of Node lacks. */
  readonly unavailable?: "ML-KEM-768";
}

/** Why something was refused. It contains no secret and nothing of a payload. */
export class PushCryptError extends Error {
  override readonly name = "PushCryptError";

  constructor(
    readonly code: ErrorCode,
    reason: string,
    readonly facts: ErrorFacts = {},
  ) {
    super(reason);
  }
}

export function refuse(code: ErrorCode, reason: string, facts?: ErrorFacts): never {
  throw new PushCryptError(code, reason, facts);
}

type Codes = { readonly [code in ErrorCode]?: ErrorCode };

/** Says in a refusal what was read, and throws it again. `codes` replaces codes. */
export function rethrow(error: unknown, what: string, codes: Codes = {}, row?: number): never {
  if (!(error instanceof PushCryptError)) throw error;
  const facts = row === undefined ? error.facts : { row, ...error.facts };
  throw new PushCryptError(codes[error.code] ?? error.code, `${what}: ${error.message}`, facts);
}

/** What `read` returns. Its refusals say what was read. */
export function reading<T>(what: string, read: () => T, codes?: Codes, row?: number): T {
  try {
    return read();
  } catch (error) {
    return rethrow(error, what, codes, row);
  }
}
