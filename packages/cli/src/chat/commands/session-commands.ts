import { finished } from "node:stream/promises";
import { type SlotPage, textOf } from "@holdfast/core";
import { checkId } from "@holdfast/core/store-kit";
import { newFile } from "../../sessions/export-sessions.js";
import { TITLE_CHARS } from "../../sessions/list-sessions.js";
import { withMessageCounts } from "../../sessions/message-counts.js";
import { highlighted, rankedHits } from "../../sessions/ranked-hits.js";
import { hitHead } from "../../sessions/search-sessions.js";
import { messageText, readTranscript } from "../../sessions/transcript.js";
import { clip, plural, printTable } from "../../terminal/format.js";
import { safeJson, safeLine, safeName } from "../../terminal/safe-text.js";
import { readSession } from "../../transfer/read-session.js";
import { chatStart, sessionLine } from "../greeting.js";
import { type Chat, sessionOf } from "../open-chat.js";
import type { CommandMeans, SlashCommand } from "./slash-command.js";

/** Sessions of a user that are listed at most, and those that are offered to pick from. */
const [LISTED, OFFERED] = [20, 200];

/** Commands about the sessions of the user. */
export const sessionCommands: Readonly<Record<string, SlashCommand>> = {
  "/resume": {
    usage: "/resume [words]",
    help: "pick one of your sessions by its title, and continue it",
    run: resume,
  },
  "/sessions": { usage: "/sessions", help: "your sessions with this agent", run: listSessions },
  "/session": {
    usage: "/session <id>",
    help: "continue another session, or start a new one",
    run: enter,
  },
  "/fork": {
    usage: "/fork [id]",
    help: "go on in a copy of this session, and leave this one as it is",
    run: fork,
  },
  "/export": {
    usage: "/export [file]",
    help: "write the session to a file: Markdown, or *.ndjson for sessions import",
    run: exportSession,
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
};

async function resume(chat: Chat, argument: string, { pick }: CommandMeans): Promise<void> {
  const { terminal, sessionId } = chat;
  const sessions = await sessionsOf(chat, OFFERED, argument);
  if (sessions === null) return;
  if (pick === undefined) {
    printSessions(chat, sessions);
    terminal.line(terminal.colors.dim("/session <id> continues one"));
    return;
  }
  const items = sessions.map(({ slot, messages, updatedAt, info }) => ({
    value: slot.sessionId,
    label: info?.title ?? slot.sessionId,
    detail: `${slot.sessionId === sessionId ? "this one, " : ""}${slot.sessionId}, ${plural(messages ?? 0, "message")}, ${updatedAt.slice(0, 16).replace("T", " ")}`,
  }));
  const picked = items.length === 0 ? null : await pick("Continue which session?", items);
  if (items.length === 0) terminal.line("No session is saved yet.");
  if (picked !== null) await enter(chat, picked);
}

async function listSessions(chat: Chat): Promise<void> {
  const sessions = await sessionsOf(chat, LISTED);
  if (sessions === null) return;
  if (sessions.length === 0) chat.terminal.line("No session is saved yet.");
  else printSessions(chat, sessions);
}

/** @returns null when there is no user whose sessions could be listed */
async function sessionsOf(
  { terminal, agent, store, userId }: Chat,
  limit: number,
  text?: string,
): Promise<SlotPage["slots"] | null> {
  if (userId === null) {
    // All anonymous users share one owner; their sessions must not be listed to each other.
    terminal.line("Without a user there is only this session; see --user.");
    return null;
  }
  const listed = await agent.sessions({ userId, limit, ...(text && { text }) });
  return withMessageCounts(store.parts.stateStore, listed.slots);
}

function printSessions({ terminal, sessionId }: Chat, sessions: SlotPage["slots"]): void {
  const rows = sessions.map(({ slot, messages, updatedAt, info }) => [
    slot.sessionId === sessionId ? "*" : "",
    slot.sessionId,
    String(messages ?? ""),
    updatedAt,
    clip(safeLine(info?.title ?? ""), TITLE_CHARS),
  ]);
  printTable(terminal, ["", "SESSION", "MESSAGES", "SAVED", "TITLE"], rows);
}

async function enter(chat: Chat, argument: string): Promise<void> {
  if (argument === "") {
    chat.terminal.line("Which one? /session <id>");
    return;
  }
  chat.sessionId = checkId(argument, "the session's id");
  chat.terminal.line(sessionLine(await chatStart(chat)));
}

async function fork(chat: Chat, argument: string): Promise<void> {
  const as = argument === "" ? undefined : checkId(argument, "the new session's id");
  const from = chat.sessionId;
  const slot = await chat.agent.fork(sessionOf(chat), { as });
  chat.terminal.line(`Copied ${safeName(from)}; /session ${safeName(from)} goes back.`);
  await enter(chat, slot.sessionId);
}

async function exportSession(chat: Chat, argument: string): Promise<void> {
  const { terminal, agent, store, userId, sessionId } = chat;
  const file = argument === "" ? `${sessionId.replaceAll(/[^\w.-]/gu, "_")}.md` : argument;
  const slot = { agentId: agent.agentId, userId, sessionId };
  const state = await agent.getAgentState(sessionOf(chat));
  if (state === null) {
    terminal.line("There is nothing to export yet.");
    return;
  }
  if (/\.(?:nd)?jsonl?$/u.test(file)) {
    const lines: string[] = [];
    for await (const line of readSession(store.parts, slot)) lines.push(`${safeJson(line)}\n`);
    await write(file, lines.join(""));
  } else {
    const { entries } = await readTranscript(store.parts, slot, state.context, { limit: 10_000 });
    const said = entries.flatMap(({ record: { message } }) => {
      const text = message?.role === "tool" ? "" : message && textOf(message).trim();
      return message && text ? [`## ${message.role}\n\n${text}\n`] : [];
    });
    await write(file, [`# Session ${sessionId}\n`, ...said].join("\n"));
  }
  terminal.line(`Exported to ${safeName(file)}.`);
}

async function write(path: string, text: string): Promise<void> {
  const file = await newFile(path, "/export");
  file.end(text);
  await finished(file);
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
