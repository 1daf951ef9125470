import { join } from "node:path";
import type { Slot } from "@holdfast/core";
import { describeSlot, pathSegment } from "@holdfast/core/store-kit";
import { parentsUpTo } from "../layout.js";

/** Location of a session's log, and its name in messages. */
export interface LogPlace {
  readonly slot: Slot;
  readonly root: string;
  readonly directory: string;
  /** Name of the file in `directory`. */
  readonly name: string;
  readonly file: string;
  /** Directory of the blobs, the texts that are too long for a line. */
  readonly blobs: string;
  /** The directories from `directory` up to the root, nearest first. */
  readonly directories: readonly string[];
  /** For messages: `the log of session "s" of user "u", agent "a"`. */
  readonly label: string;
}

const SUFFIX = ".log.jsonl";
const BLOBS_SUFFIX = ".blobs";

/** Tells whether a file name is that of a log. */
export function isLogName(name: string): boolean {
  return name.endsWith(SUFFIX);
}

/** Name of the directory for the blobs of a log file with this name. */
export function blobsName(name: string): string {
  return `${name.slice(0, -SUFFIX.length)}${BLOBS_SUFFIX}`;
}

/**
 * Directory of a user's logs with one agent. Without a user every session has a directory of its own, outside those of
 * named users: anonymous sessions share nothing.
 */
export function logDirectory(root: string, { agentId, userId, sessionId }: Slot): string {
  const namespace =
    userId === null
      ? join(root, "sessions", pathSegment(sessionId))
      : join(root, "users", pathSegment(userId));
  return join(namespace, "agents", pathSegment(agentId), "sessions");
}

/** Location of the log of a slot. */
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
