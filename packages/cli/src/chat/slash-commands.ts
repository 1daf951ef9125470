import { characterEstimate } from "@holdfast/core";
import { checkId } from "@holdfast/core/store-kit";
import { withMessageCounts } from "../sessions/message-counts.js";
import { highlighted, rankedHits } from "../sessions/ranked-hits.js";
import { hitHead } from "../sessions/search-sessions.js";
import { messageText, readTranscript } from "../sessions/transcript.js";
import { clip, formatCount, plural, printTable } from "../terminal/format.js";
import { safeLine } from "../terminal/safe-text.js";
import { chatStart, sessionLine } from "./greeting.js";
import type { InteractiveTurns } from "./interactive-turns.js";
import { type Chat, sessionOf } from "./open-chat.js";
import { permissionsCommand } from "./permissions-command.js";
import { planCommand } from "./plan-command.js";
import { tasksCommand } from "./tasks-command.js";

interface SlashCommand {
  readonly usage: string;
  readonly help: string;
  run(chat: Chat, argument: string, turns: InteractiveTurns): Promise<void>;
}

const commands: Readonly<Record<string, SlashCommand>> = {
  "/sessions": { usage: "/sessions", help: "your sessions with this agent", run: listSessions },
  "/session": {
    usage: "/session <id>",
    help: "continue another session, or start a new one",
    run: enter,
  },
  "/history": {
    usage: "/history [n]",
    help: "the last n messages, including compacted ones",
    run: history,
  },
  "/search": {
    usage: "/search <words>",
    help: "what was said in your sessions with this agent, best first",
    run: search,
  },
  "/compact": {
    usage: "/compact",
    help: "summarise the older part of the context now",
    run: compact,
  },
  "/tokens": { usage: "/tokens", help: "size of the context, and tokens used", run: tokens },
  "/permissions": {
    usage: "/permissions",
    help: "mode and remembered rules; … mode <mode>, … forget <number>",
    run: permissionsCommand,
  },
  "/plan": {
    usage: "/plan [on|off]",
    help: "plan mode, the plan and the todo list; enter or leave plan mode",
    run: planCommand,
  },
  "/tasks": {
    usage: "/tasks [id]",
    help: "tasks of subagents, or one with its result; … cancel <id>, … answer <id>",
    run: tasksCommand,
  },
  "/help": { usage: "/help", help: "list the commands", run: showHelp },
  "/exit": { usage: "/exit", help: "quit", run: async () => undefined },
};

/** Names of the commands, for completion. */
export const commandNames: readonly string[] = Object.keys(commands);

/** Runs a line that begins with a slash. @returns whether to quit */
export async function runSlashCommand(
  chat: Chat,
  line: string,
  turns: InteractiveTurns,
): Promise<boolean> {
  const [, name = "", argument = ""] = /^(\S+)\s*(.*)$/su.exec(line) ?? [];
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined)
    chat.terminal.line(
      `There is no ${safeLine(name)}; /help shows the commands. To send it as a message, write //${safeLine(name.slice(1))}.`,
    );
  else await command.run(chat, argument, turns);
  return name === "/exit";
}

async function showHelp({ terminal }: Chat): Promise<void> {
  for (const { usage, help } of Object.values(commands))
    terminal.line(`${usage.padEnd(15)}${terminal.colors.dim(help)}`);
  terminal.line(`${"//text".padEnd(15)}${terminal.colors.dim("send /text as a message")}`);
}

async function listSessions(chat: Chat): Promise<void> {
  const { terminal, agent, store, userId, sessionId } = chat;
  if (userId === null) {
    // All anonymous users share one owner; their sessions must not be listed to each other.
    terminal.line("Without a user there is only this session; see --user.");
    return;
  }
  const listed = await agent.sessions({ userId, limit: 20 });
  const slots = await withMessageCounts(store.parts.stateStore, listed.slots);
  const rows = slots.map(({ slot, messages, updatedAt }) => [
    slot.sessionId === sessionId ? "*" : "",
    slot.sessionId,
    String(messages ?? ""),
    updatedAt,
  ]);
  if (rows.length === 0) terminal.line("No session is saved yet.");
  else printTable(terminal, ["", "SESSION", "MESSAGES", "SAVED"], rows);
}

async function enter(chat: Chat, argument: string): Promise<void> {
  if (argument === "") {
    chat.terminal.line("Which one? /session <id>");
    return;
  }
  chat.sessionId = checkId(argument, "the session's id");
  chat.terminal.line(sessionLine(await chatStart(chat)));
}

async function history(chat: Chat, argument: string): Promise<void> {
  const { terminal, store, agent, userId, sessionId } = chat;
  const limit = /^[1-9]\d{0,2}$/u.test(argument) ? Number(argument) : 10;
  const slot = { agentId: agent.agentId, userId, sessionId };
  const state = await agent.getAgentState(sessionOf(chat));
  // There are marks between the messages.
  const page = await readTranscript(store.parts, slot, state?.context ?? [], { limit: limit * 3 });
  const shown = page.entries.filter(({ record }) => record.message).slice(-limit);
  if (shown.length === 0) terminal.line("There are no messages yet.");
  for (const { record, visibility } of shown) {
    if (record.message === undefined) continue;
    const note = visibility === "whole" ? "" : ` [${visibility}]`;
    const text = clip(safeLine(messageText(record.message)), Math.max(40, terminal.columns * 2));
    terminal.line(`${terminal.colors.bold(record.message.role)}${note} ${text}`);
  }
}

async function search(chat: Chat, argument: string): Promise<void> {
  const { terminal, store, agent, userId, sessionId } = chat;
  if (argument === "") {
    terminal.line("What for? /search <words>");
    return;
  }
  // Anonymous sessions belong to nobody in particular: only this one is searched.
  const owner = { agentId: agent.agentId, userId, ...(userId === null && { sessionId }) };
  const { hits } = await rankedHits(store.parts, [owner], argument, { limit: 10 });
  if (hits.length === 0) terminal.line("Nothing was found.");
  for (const hit of hits) {
    terminal.line(hitHead(terminal, hit));
    terminal.line(`  ${highlighted(hit, terminal.colors)}`);
  }
}

async function compact(chat: Chat): Promise<void> {
  const { terminal, agent } = chat;
  const result = await agent.compact(sessionOf(chat), { force: true });
  if (result.compacted)
    terminal.line(
      `Compacted ${result.messagesBefore} → ${result.messagesAfter} messages, ${formatCount(result.tokensBefore ?? 0)} → ${formatCount(result.tokensAfter ?? 0)} tokens.`,
    );
  else
    terminal.line(safeLine(`Nothing was compacted${result.failure ? `: ${result.failure}` : "."}`));
}

/** Options with which a compaction never fires, and only counts. */
const countOnly = {
  triggerMessages: 0,
  triggerTokens: Number.MAX_SAFE_INTEGER,
  truncateArgs: false,
  prune: false,
};

/** Counts a whole request as a compaction does; undefined where the agent's compactor does not count. */
async function requestTokens(chat: Chat): Promise<number | undefined> {
  try {
    return (await chat.agent.compact(sessionOf(chat), countOnly)).tokensBefore;
  } catch {
    // A compactor of the config may take other options.
    return undefined;
  }
}

async function tokens(chat: Chat, _: string, { usage }: InteractiveTurns): Promise<void> {
  const { terminal, agent, model } = chat;
  const state = await agent.getAgentState(sessionOf(chat));
  const context = state?.context ?? [];
  const { contextWindow } = model.model;
  const window = contextWindow === undefined ? "" : ` of ${formatCount(contextWindow)}`;
  const said = characterEstimate().countMessages(context);
  const request = context.length === 0 ? undefined : await requestTokens(chat);
  terminal.line(
    `context: ${plural(context.length, "message")}, about ${formatCount(said)} tokens without the system prompt and the tools`,
  );
  if (request !== undefined)
    terminal.line(`the next request: about ${formatCount(request)}${window} tokens`);
  terminal.line(
    `since the start: ${formatCount(usage.inputTokens)} tokens in, ${formatCount(usage.outputTokens)} out`,
  );
}
