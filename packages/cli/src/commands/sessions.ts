import { Command } from "commander";
import { pageSize, withOwnerFlags, withStoreFlags } from "../sessions/session-options.js";
import type { Terminal } from "../terminal/terminal.js";

/** Creates `holdfast sessions list|show|search|export|import|delete`. */
export function sessionsCommand(terminal: Terminal): Command {
  return new Command("sessions")
    .description("List, read, search, move and delete sessions in any store")
    .addCommand(list(terminal))
    .addCommand(show(terminal))
    .addCommand(search(terminal))
    .addCommand(exportCommand(terminal))
    .addCommand(importCommand(terminal))
    .addCommand(deleteCommand(terminal));
}

function list(terminal: Terminal): Command {
  return withPage(withOwnerFlags(new Command("list")), "sessions", 50)
    .description("List sessions, newest first")
    .option("--waiting", "only sessions whose tool calls wait for an answer")
    .action(async (flags) => {
      const { listSessions } = await import("../sessions/list-sessions.js");
      await listSessions(terminal, flags);
    });
}

function show(terminal: Terminal): Command {
  return withPage(withOwnerFlags(new Command("show")), "records", 50)
    .description("Print the transcript of a session, and which part of it the model still sees")
    .argument("<session>", "id of the session; add --agent and --user if it is not unique")
    .option("--full", "print long messages in full")
    .action(async (sessionId: string, flags) => {
      const { showSession } = await import("../sessions/show-session.js");
      await showSession(terminal, sessionId, flags);
    });
}

function search(terminal: Terminal): Command {
  return withPage(withOwnerFlags(new Command("search")), "hits", 20)
    .description("Find what was said in all messages, including those that left the context")
    .argument("<words...>", "a question or words; the best matches come first")
    .option("--exact", "find this very text, case-insensitive, newest first")
    .option("--session <id>", "only in this session")
    .action(async (words: string[], flags) => {
      const { searchSessions } = await import("../sessions/search-sessions.js");
      await searchSessions(terminal, words.join(" "), flags);
    });
}

function exportCommand(terminal: Terminal): Command {
  return withOwnerFlags(new Command("export"))
    .description("Write whole sessions as NDJSON: state, log and long texts")
    .argument("[session...]", "ids of sessions (default: all that match the options)")
    .option("-o, --out <file>", "write to this new file instead of stdout")
    .action(async (sessionIds: string[], flags) => {
      const { exportSessions } = await import("../sessions/export-sessions.js");
      await exportSessions(terminal, sessionIds, flags);
    });
}

function importCommand(terminal: Terminal): Command {
  return withStoreFlags(new Command("import"))
    .description("Import sessions written by `export`; existing ones are never overwritten")
    .argument("[file]", "NDJSON (default: stdin)")
    .option("--json", "print the result as JSON")
    .action(async (file: string | undefined, flags) => {
      const { importSessions } = await import("../sessions/import-sessions.js");
      await importSessions(terminal, file, flags);
    });
}

function deleteCommand(terminal: Terminal): Command {
  return withOwnerFlags(new Command("delete"))
    .description(
      "Delete sessions and those of their subagents: state, log and evicted files. Memory is kept",
    )
    .argument("<session...>", "ids of sessions; add --agent and --user if one is not unique")
    .option("-y, --yes", "do not ask for confirmation")
    .option("--json", "print the result as JSON")
    .action(async (sessionIds: string[], flags) => {
      const { deleteSessions } = await import("../sessions/delete-sessions.js");
      await deleteSessions(terminal, sessionIds, flags);
    });
}

function withPage(command: Command, what: string, size: number): Command {
  return command
    .option("--limit <count>", `${what} per page, at most 1000`, pageSize, size)
    .option("--cursor <cursor>", "continue after the previous page")
    .option("--json", "print one JSON document");
}
