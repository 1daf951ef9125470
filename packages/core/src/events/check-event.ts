import { InvalidInputError } from "../errors/errors.js";
import { isRecord, toJsonValue } from "../json/json.js";
import type { EventBody } from "./agent-event.js";

/** Longest event that a hook or plugin may emit, as JSON. */
const MAX_EVENT_CHARS = 1_048_576;
/** Longest type of an event. */
const MAX_TYPE_CHARS = 100;

/**
 * Returns a frozen copy of an event that a hook or a plugin emits, as JSON would keep it: listeners may keep it, and its
 * emitter cannot change it any more. Fields of the envelope in it are ignored.
 *
 * @param emitter - named in errors
 * @throws InvalidInputError for an event without a `type`, that JSON cannot hold, or that is too long
 */
export function checkEvent(event: unknown, emitter: string): EventBody {
  const given = isRecord(event) ? event["type"] : undefined;
  if (typeof given !== "string" || given === "")
    throw new InvalidInputError(
      `${emitter} emitted something that is not an event: an object with a string as its type is needed`,
    );
  const type = JSON.stringify(given.slice(0, MAX_TYPE_CHARS));
  if (given.length > MAX_TYPE_CHARS)
    throw new InvalidInputError(
      `${emitter} emitted an event whose type has more than ${MAX_TYPE_CHARS} characters: it begins with ${type}`,
    );
  if (given === "call_start" || given === "call_end")
    throw new InvalidInputError(
      `${emitter} emitted ${type}, which the engine alone emits; use a type of your own`,
    );
  const copy = toJsonValue(event, `event ${type} of ${emitter}`);
  const { length } = JSON.stringify(copy);
  if (length > MAX_EVENT_CHARS)
    throw new InvalidInputError(
      `event ${type} of ${emitter} has ${length} characters as JSON, and may have ${MAX_EVENT_CHARS}; emit a reference to where its contents are`,
    );
  // Events hold nothing but JSON: a copy of one is one.
  return copy as unknown as EventBody;
}
