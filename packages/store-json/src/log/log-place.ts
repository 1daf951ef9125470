import { join } from "node:path";
import type { Slot } from "@holdfast/core";
import { describeSlot, pathSegment } from "@holdfast/core/store-kit";
import { parentsUpTo } from "../layout.js";

/** Where the log of a session lives and what to call it. */
export interface LogPlace {
  readonly slot: Slot;
  readonly root: string;
  readonly directory: string;
  /** Name of the file in `directory`. */
  readonly name: string;
  readonly file: string;
  /** Directory of the texts that are too long for a line. */
  readonly blobs: string;
  /** The directories from `directory` up to the root, nearest first. */
  readonly directories: readonly string[];
  /** For messages: `the log of session "s" of user "u", agent "a"`. */
  readonly label: string;
}

const SUFFIX = ".log.jsonl";
const BLOBS_SUFFIX = ".blobs";

/** Whether a file name is that of a log. */
export function isLogName(name: string): boolean {
  return name.endsWith(SUFFIX);
}

/** Name of the directory beside a log file with this name, for its long texts. */
export function blobsName(name: string): string {
  return `${name.slice(0, -SUFFIX.length)}${BLOBS_SUFFIX}`;
}

/**
 * Directory of a user's logs with one agent. Without a user every session has one of its own: strangers share nothing,
 * and nobody can be named like them.
 */
export function logDirectory(root: string, { agentId, userId, sessionId }: Slot): string {
  const namespace =
    userId === null
      ? join(root, "sessions", pathSegment(sessionId))
      : join(root, "users", pathSegment(userId));
  return join(namespace, "agents", pathSegment(agentId), "sessions");
}

/** Where the log of a slot is kept. */
export function logPlace(root: string, slot: Slot): LogPlace {
  const directory = logDirectory(root, slot);
  const session = pathSegment(slot.sessionId);
  const name = `${session}${SUFFIX}`;
  return {
    slot,
    root,
    directory,
    name,
    file: join(directory, name),
    blobs: join(directory, blobsName(name)),
    directories: [directory, ...parentsUpTo(directory, root)],
    label: `the log of ${describeSlot(slot)}`,
  };
}
