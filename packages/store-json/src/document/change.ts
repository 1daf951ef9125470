import {
  InvalidInputError,
  type JsonObject,
  type Message,
  type Revision,
  type SessionInfo,
  StateCorruptError,
  StateTooLargeError,
} from "@holdfast/core";
import type { CallRecordWrite } from "@holdfast/core/store-kit";
import { type Chain, isSameField } from "./chain.js";
import type { Place } from "./place.js";
import type { SaveRecord, SaveTexts } from "./record.js";

/** A save as a caller asks for it; see `StateWrite`. */
export interface Change {
  readonly op: string;
  /** Undefined: any revision. */
  readonly expected: Revision | null | undefined;
  readonly revision?: Revision | undefined;
  readonly head: JsonObject;
  readonly keep: number;
  readonly replace: readonly (readonly [index: number, message: Message])[];
  readonly append: readonly Message[];
  readonly callRecord?: CallRecordWrite | undefined;
  readonly info?: SessionInfo | undefined;
}

/** Size limits in bytes of JSON. */
export interface SizeLimits {
  readonly headBytes: number;
  readonly messageBytes: number;
}

/** The facts for listings are written with every save and cached for every open document. */
const MAX_INFO_BYTES = 65_536;

/** A save as text: taken from the caller's values once, before anything is awaited. */
export interface PreparedChange {
  readonly op: string;
  readonly expected: Revision | null | undefined;
  readonly revision: Revision | undefined;
  readonly keep: number;
  readonly messageBytes: number;
  readonly head: ReadonlyMap<string, string>;
  readonly replace: SaveTexts["replace"];
  readonly append: SaveTexts["append"];
  readonly call: SaveTexts["call"];
  readonly info: SaveTexts["info"];
}

/**
 * Serialises a save and checks its sizes.
 *
 * @throws StateTooLargeError | InvalidInputError
 */
export function prepareChange(place: Place, change: Change, limits: SizeLimits): PreparedChange {
  let messageBytes = 0;
  const textOf = (what: string, value: unknown): { json: string; bytes: number } => {
    const json = toJson(place, value);
    const bytes = Buffer.byteLength(json, "utf8");
    if (bytes > limits.messageBytes) throw tooLarge(place, what, bytes, limits.messageBytes);
    return { json, bytes };
  };
  const messageText = (message: Message): string => {
    const { json, bytes } = textOf("a message", message);
    messageBytes += bytes;
    return json;
  };
  const head = new Map<string, string>();
  let headBytes = 0;
  for (const [key, value] of Object.entries(change.head)) {
    if (value === undefined) continue;
    const json = toJson(place, value);
    headBytes += Buffer.byteLength(key, "utf8") + Buffer.byteLength(json, "utf8");
    head.set(key, json);
  }
  const info = change.info && toJson(place, change.info);
  const infoBytes = Buffer.byteLength(info ?? "", "utf8");
  if (infoBytes > MAX_INFO_BYTES)
    throw tooLarge(place, "the info for listings", infoBytes, MAX_INFO_BYTES);
  if (headBytes > limits.headBytes) throw tooLarge(place, "the head", headBytes, limits.headBytes);
  const replace = change.replace.map(([index, message]) => [index, messageText(message)] as const);
  const append = change.append.map(messageText);
  const call = change.callRecord && {
    keep: change.callRecord.keep,
    callId: change.callRecord.record.callId,
    ...textOf("a call record", change.callRecord.record),
  };
  return {
    op: change.op,
    expected: change.expected,
    revision: change.revision,
    keep: change.keep,
    messageBytes,
    head,
    replace,
    append,
    call,
    info,
  };
}

/**
 * Refuses a save that does not fit what is stored; a record like that would make the document unreadable.
 *
 * @throws StateCorruptError
 */
export function checkFit(place: Place, { keep, replace }: PreparedChange, count: number): void {
  if (!Number.isInteger(keep) || keep < 0 || keep > count)
    throw new StateCorruptError(
      `a save keeps ${keep} messages of the ${count} in ${place.label}: caller and store disagree; load it again`,
    );
  for (const [index] of replace)
    if (!Number.isInteger(index) || index < 0 || index >= keep)
      throw new StateCorruptError(
        `a save of ${place.label} replaces message ${index} but keeps only ${keep}: caller and store disagree`,
      );
}

/** Returns the fields of the head that differ from the stored ones. */
export function headChanges(
  { head }: PreparedChange,
  chain: Chain,
): { set: SaveTexts["set"]; unset: SaveRecord["unset"] } {
  const set = [...head].filter(([key, json]) => !isSameField(chain.head.get(key), json));
  const unset = [...chain.head.keys()].filter((key) => !head.has(key));
  return { set, unset };
}

/** Returns a value as JSON. @throws InvalidInputError */
export function toJson(place: Place, value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    throw new InvalidInputError(`cannot write ${place.label} as JSON`, { cause: error });
  }
  if (json === undefined) throw new InvalidInputError(`cannot write ${place.label} as JSON`);
  return json;
}

function tooLarge(place: Place, what: string, bytes: number, limit: number): StateTooLargeError {
  return new StateTooLargeError(
    `${what} of ${place.label} has ${bytes} bytes as JSON; at most ${limit} can be stored. Nothing was written`,
  );
}
