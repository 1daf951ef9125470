import { isRecord, type JsonObject } from "../../json/json.js";

/** Place of a {@link ForkOrigin} among the extensions of a state. */
export const FORK_EXTENSION = "holdfast.fork";

/** Origin of a session that began as a fork. */
export type ForkOrigin = {
  /** Id that the ends of the copied runs name in place of a revision. */
  readonly id: string;
  readonly sessionId: string;
  /** Position of the last copied message in the log of that session. */
  readonly at?: number;
};

/** Returns the id of the fork as which a state began, if it did. */
export function forkIdOf({ extensions }: JsonObject): readonly string[] {
  const stored = isRecord(extensions) ? extensions[FORK_EXTENSION] : undefined;
  const origin = isRecord(stored) ? stored["value"] : undefined;
  return isRecord(origin) && typeof origin["id"] === "string" ? [origin["id"]] : [];
}
