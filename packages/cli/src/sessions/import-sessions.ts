import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { StateConflictError } from "@holdfast/core";
import { CommandError, exitCodes } from "../exit-code.js";
import { chooseStore } from "../store/choose-store.js";
import { plural } from "../terminal/format.js";
import { safeLine } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { textLines } from "../terminal/text-lines.js";
import { parseSessionLine, type SessionLine } from "../transfer/session-line.js";
import { writeSession } from "../transfer/write-session.js";
import type { StoreFlags } from "./session-options.js";

/** Imports sessions written by `export`. @throws CommandError (4) when some were left out */
export async function importSessions(
  terminal: Terminal,
  file: string | undefined,
  flags: StoreFlags,
): Promise<void> {
  const input = file === undefined || file === "-" ? terminal.in : await existingFile(file);
  await using store = await chooseStore(terminal, flags, { mayBeNew: true });
  const lines = sessionLines(input);
  const done = { written: 0, present: 0, conflicts: 0 };
  for (;;)
    try {
      const session = await writeSession(store.parts, lines);
      if (session === null) break;
      done[session.outcome]++;
    } catch (error) {
      // The other sessions can still be imported.
      if (!StateConflictError.is(error)) throw error;
      done.conflicts++;
      terminal.warn(error.message);
    }
  if (terminal.isJson) terminal.json({ store: store.url, ...done });
  else
    terminal.line(
      safeLine(
        `Imported ${plural(done.written, "session")} into ${store.url}; ${done.present} were there already, ${plural(done.conflicts, "conflict")}.`,
      ),
    );
  if (done.conflicts > 0) throw new CommandError(exitCodes.conflict, "");
}

async function* sessionLines(input: NodeJS.ReadableStream): AsyncGenerator<SessionLine> {
  let number = 0;
  for await (const text of textLines(input)) {
    number++;
    if (text.trim() !== "") yield parseSessionLine(text, number);
  }
}

async function existingFile(path: string): Promise<NodeJS.ReadableStream> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.isDirectory())
    throw new CommandError(
      exitCodes.notFound,
      `there is no file ${path} to read${found === undefined ? "" : "; it is a directory"}`,
    );
  return createReadStream(path);
}
