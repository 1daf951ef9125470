import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type DistributedStore, type Slot, StateCorruptError } from "@holdfast/core";
import { CommandError, exitCodes } from "../exit-code.js";
import { chooseStore } from "../store/choose-store.js";
import { plural } from "../terminal/format.js";
import { safeJson } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { readSession } from "../transfer/read-session.js";
import { findSlot, listed } from "./find-slot.js";
import type { OwnerFlags } from "./session-options.js";

/** Options of `sessions export`. */
export interface ExportFlags extends OwnerFlags {
  readonly out?: string | undefined;
}

/** Writes sessions as NDJSON for `import`. @throws CommandError (4) when damaged ones were left out */
export async function exportSessions(
  terminal: Terminal,
  sessionIds: readonly string[],
  flags: ExportFlags,
): Promise<void> {
  await using store = await chooseStore(terminal, flags);
  const slots: Slot[] = [];
  for (const sessionId of new Set(sessionIds))
    slots.push(await findSlot(store.parts, sessionId, flags));
  if (sessionIds.length === 0)
    for await (const { slot } of listed(store.parts, flags)) slots.push(slot);
  const damaged: StateCorruptError[] = [];
  const out = flags.out === undefined ? terminal.out : await newFile(flags.out, "--out");
  try {
    await pipeline(lines(store.parts, slots, damaged), out, { end: flags.out !== undefined });
  } catch (error) {
    // A partial file would look complete.
    if (flags.out !== undefined) await rm(flags.out, { force: true });
    throw error;
  }
  for (const { message } of damaged) terminal.warn(`left out: ${message}`);
  terminal.warn(`exported ${plural(slots.length - damaged.length, "session")} of ${store.url}`);
  if (damaged.length > 0) throw new CommandError(exitCodes.conflict, "");
}

/** @param damaged - receives the errors of sessions that cannot be read; the others are exported */
async function* lines(
  parts: DistributedStore,
  slots: readonly Slot[],
  damaged: StateCorruptError[],
): AsyncGenerator<string> {
  for (const slot of slots) {
    let isBegun = false;
    try {
      for await (const line of readSession(parts, slot)) {
        isBegun = true;
        yield `${safeJson(line)}\n`;
      }
    } catch (error) {
      // A partial session in the output is worse than none.
      if (isBegun || !StateCorruptError.is(error)) throw error;
      damaged.push(error);
    }
  }
}

/**
 * Creates a file that only its owner can read: it holds conversations.
 *
 * @param option - names what the path came from, in errors
 * @throws CommandError (2) when there is such a file already, or it cannot be created
 */
export async function newFile(path: string, option: string): Promise<WriteStream> {
  const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
  try {
    await once(file, "open");
    return file;
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw new CommandError(
      exitCodes.usage,
      `${option}: ${path} ${isThere ? "exists already; name a new file" : "cannot be written"}`,
      { cause: error },
    );
  }
}
