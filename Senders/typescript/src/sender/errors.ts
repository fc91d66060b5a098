/** The codes of refusals, as in the other implementations: of sealing, keys, registrations, and files of keysets. */
export type ErrorCode =
  | "invalidPayload" | "invalidPlaceholder" | "invalidOption" | "notExposable" | "notAuthenticated" | "deviceMissing" | "tooLarge"
  | "malformed" | "unsupportedKey" | "unsupportedSuite" | "invalidKey" | "kidMismatch" | "duplicateKey" | "wrongKind" | "pskMissing"
  | "noKeySeals" | "invalidDeviceID" | "invalidTopic" | "rolledBack" | "suiteTooLow"
  | "notAsymmetric" | "conflict" | "otherAccount" | "otherChallenge" | "challengeExpired" | "possessionNotProven"
  | "incomplete" | "unsupportedVersion" | "wrongNumber" | "brokenChain" | "timeWentBack" | "misplaced" | "unknownEpoch" | "wrongDigest"
  | "notAuthentic" | "otherKeys" | "otherSecrets" | "notEncrypted" | "secretNeeded" | "wrongSecret" | "wrapCommandFailed"
  | "olderThanHistory" | "looseMode" | "foreignOwner";

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
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, reason: string, facts: ErrorFacts = {}) {
    super(reason);
    this.name = "PushCryptError";
    this.code = code;
    this.facts = facts;
  }
}

export function refuse(code: ErrorCode, reason: string, facts?: ErrorFacts): never {
  throw new PushCryptError(code, reason, facts);
}

/** Says in the refusals of `read` what was read. `codes` replaces codes. */
export function reading<T>(what: string, read: () => T, codes: Partial<Record<ErrorCode, ErrorCode>> = {}, facts?: ErrorFacts): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PushCryptError)) throw error;
    return refuse(codes[error.code] ?? error.code, `${what}: ${error.message}`, { ...facts, ...error.facts });
  }
}
