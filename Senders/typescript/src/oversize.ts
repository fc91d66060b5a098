import { reading, refuse } from "./sender/errors.js";
import { JsonObject } from "./sender/json.js";
import { readPayload, type Header, type InnerPayload } from "./sender/payload.js";
import { prepare, type Draft, type Parties, type Sealing } from "./sender/seal.js";
import { offloadForm, sealOffload, type SealedBlob } from "./blobs.js";

const ELLIPSIS = "…";
const CHARACTERS = new Intl.Segmenter("und", { granularity: "grapheme" });

/** What to do with a payload that doesn't fit. The push says what was done: `isBodyShortened`, `offloaded`. */
export interface OversizePlan {
  /**
   * Shortens `aps.alert.body` at the end of a character as the user sees it, and appends "…". At least this many characters stay,
   * 1 or more: if these don't fit, the payload is offloaded or refused.
   */
  readonly shortenBodyTo?: number;
  /**
   * Seals the whole payload as a blob, which the device fetches. The push has its `aps` with a shortened body. Return the https
   * address where devices will find `blob.data`, and upload it before you send the push: `push.offloaded` is the blob.
   */
  readonly offload?: (blob: SealedBlob) => string;
}

/** What fits, or doesn't if the plan allows nothing more. */
export interface Fitted {
  readonly sealing: Sealing;
  readonly isBodyShortened: boolean;
  readonly offloaded: SealedBlob | undefined;
}

export function fitted(
  parties: Parties,
  draftOf: (payload: InnerPayload, header: Header) => Draft,
  payload: InnerPayload,
  header: Header,
  { shortenBodyTo, offload }: OversizePlan,
): Fitted {
  const whole = shortened(parties, draftOf(payload, header), shortenBodyTo);
  if (offload === undefined || header["offload"] !== undefined || whole.sealing.excess === 0) return whole;
  if (header["quiet"] !== undefined)
    refuse("invalidOption", "a quiet push fetches no payload, and this one doesn't fit");
  const offloaded = sealOffload(payload.root.source);
  const at = offloaded.at(offload(offloaded));
  const reference = reading("the address", () => offloadForm(at, "offload"), { malformed: "invalidOption" });
  const alone = readPayload(`{"aps":${payload.root.raw("aps")}}`);
  // The blob contains the whole body, so the push needs one character of it.
  return { ...shortened(parties, draftOf(alone, { ...header, offload: reference }), 1), offloaded };
}

function shortened(parties: Parties, draft: Draft, minimum: number | undefined): Fitted {
  const whole = prepare(parties, draft);
  const isTooLong = whole.excess > 0 && minimum !== undefined;
  const payload = isTooLong ? withShorterBody(draft.payload, whole.excess, minimum) : undefined;
  const sealing = payload === undefined ? whole : prepare(parties, { ...draft, payload });
  return { sealing, isBodyShortened: payload !== undefined, offloaded: undefined };
}

/** The payload with a body that is at least `excess` bytes shorter, or undefined if fewer than `minimum` characters would stay. */
function withShorterBody({ aps, root }: InnerPayload, excess: number, minimum: number): InnerPayload | undefined {
  const alert = aps.get("alert");
  const [owner, name] = alert instanceof JsonObject ? [alert, "body"] : [aps, "alert"];
  const [body, [start, end]] = [owner.get(name), owner.spans.get(name) ?? [0, 0]];
  const limit = Buffer.byteLength(owner.raw(name)) - excess;
  const shorter = typeof body === "string" ? beginning(body, limit, minimum) : undefined;
  if (shorter === undefined) return undefined;
  return readPayload(root.source.slice(0, start) + JSON.stringify(shorter) + root.source.slice(end));
}

/** The beginning of a text and an ellipsis, which as a JSON string have at most `limit` bytes. */
function beginning(text: string, limit: number, minimum: number): string | undefined {
  const characters: string[] = [];
  let size = Buffer.byteLength(JSON.stringify(ELLIPSIS));
  for (const { segment } of CHARACTERS.segment(text)) {
    size += Buffer.byteLength(JSON.stringify(segment)) - 2; // without the quotes
    if (size > limit) break;
    characters.push(segment);
  }
  // Some characters, such as U+0600 ARABIC NUMBER SIGN, form one with the next.
  const isJoined = (): boolean => [...CHARACTERS.segment(characters.join("") + ELLIPSIS)].length <= characters.length;
  while (characters.length > 0 && isJoined()) characters.pop();
  return characters.length < minimum ? undefined : characters.join("") + ELLIPSIS;
}
