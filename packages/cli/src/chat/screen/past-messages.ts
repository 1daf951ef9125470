import { type Message, textOf, toolCallsOf, toolResultsOf } from "@holdfast/core";
import { readTranscript } from "../../sessions/transcript.js";
import { type Chat, sessionOf } from "../open-chat.js";
import { MarkdownEntry } from "../view/markdown-entry.js";
import { SaidEntry } from "../view/simple-entries.js";
import { ToolEntry } from "../view/tool-entry.js";
import type { Transcript } from "../view/transcript.js";
import type { Theme } from "./theme.js";

/** Records of the log that are shown of a session that continues. */
const SHOWN_RECORDS = 60;

/** Reads the last messages of the session, compacted ones included. */
export async function pastMessages(chat: Chat): Promise<readonly Message[]> {
  const { store, agent, userId, sessionId } = chat;
  const slot = { agentId: agent.agentId, userId, sessionId };
  const state = await agent.getAgentState(sessionOf(chat));
  if (state === null) return [];
  const page = await readTranscript(store.parts, slot, state.context, { limit: SHOWN_RECORDS });
  return page.entries
    .filter(({ visibility }) => visibility !== "discarded" && visibility !== "unfinished")
    .flatMap(({ record }) => record.message ?? []);
}

/** Shows messages as they looked when they were said. */
export function showPast(transcript: Transcript, theme: Theme, messages: readonly Message[]): void {
  const tools = new Map<string, ToolEntry>();
  for (const message of messages) {
    const text = textOf(message).trim();
    if (message.role === "user") {
      if (text !== "") transcript.add(new SaidEntry(theme, text));
      continue;
    }
    if (message.role === "assistant" && text !== "") transcript.add(new MarkdownEntry(theme, text));
    for (const { id, name, input } of toolCallsOf(message)) {
      const tool = transcript.add(new ToolEntry(theme, name));
      tool.setInput(input);
      tools.set(id, tool);
    }
    for (const { toolCallId, state, output } of toolResultsOf(message))
      tools.get(toolCallId)?.setResult({ state, output, durationMs: 0 });
  }
}
