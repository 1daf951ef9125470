import {
  type AgentStateStore,
  type ConversationLog,
  type DataBlock,
  InMemoryAgentStateStore,
  InMemoryConversationLog,
  type LogMark,
  type Message,
  type Slot,
  type TextBlock,
  userMessage,
} from "@holdfast/core";
import { isExplicitToolResult, validateInput } from "@holdfast/core/plugin-kit";
import type { LogDraft } from "@holdfast/core/store-kit";
import { toolCallContext } from "@holdfast/testing";
import { sessionHistoryTool } from "../src/history/session-history.js";
import { sessionListTool } from "../src/list/session-list.js";
import { ConversationSearch } from "../src/ranked/conversation-search.js";
import { sessionSearchTool } from "../src/search/session-search.js";
import { readOptions, type SessionToolsOptions } from "../src/session-tools-options.js";

export const ada: Slot = { agentId: "agent", userId: "ada", sessionId: "one" };

/** What a tool answered. */
export interface Answer {
  readonly blocks: readonly (TextBlock | DataBlock)[];
  /** Of the first block. */
  readonly page: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface BenchOptions extends SessionToolsOptions {
  readonly log?: ConversationLog;
  readonly stateStore?: AgentStateStore;
}

/** The tools, called as the engine would call them. */
export function bench({
  log = new InMemoryConversationLog(),
  stateStore = new InMemoryAgentStateStore(),
  ...options
}: BenchOptions = {}) {
  const settings = readOptions(options);
  const conversations = new ConversationSearch({ log, ...settings });
  const parts = { log, stateStore, agentId: "agent", settings, conversations };
  const tools = [sessionListTool(parts), sessionHistoryTool(parts), sessionSearchTool(parts)];
  let records = 0;
  const use = async (
    name: string,
    input: object = {},
    { userId, sessionId }: Slot = ada,
    more: { signal?: AbortSignal; callId?: string } = {},
  ): Promise<Answer> => {
    const tool = tools.find((each) => each.name === `session_${name}`);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    const valid = await validateInput(tool.input, input);
    if (valid.problem !== undefined) return answerOf([{ type: "text", text: valid.problem }], true);
    const ctx = toolCallContext({ userId, sessionId, ...more });
    const result: unknown = await tool.execute?.(valid.value as never, ctx);
    const isError = isExplicitToolResult(result) && result.state === "error";
    const output = isExplicitToolResult(result) ? result.output : result;
    if (typeof output === "string") return answerOf([{ type: "text", text: output }], isError);
    return answerOf(output as readonly (TextBlock | DataBlock)[], isError);
  };
  const append = async (body: Partial<LogDraft>, slot: Slot, callId: string): Promise<number> => {
    const n = records++;
    const at = new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
    await log.append(slot, [{ v: 1, id: `r${n}`, callId, at, kind: "message", ...body }]);
    return (await log.read(slot, { limit: 1 }))[0]?.seq ?? -1;
  };
  /** Logs a message of a call; resolves to its position. */
  const say = (message: string | Message, slot: Slot = ada, callId = "call"): Promise<number> =>
    append({ message: typeof message === "string" ? userMessage(message) : message }, slot, callId);
  const mark = (logMark: LogMark, slot: Slot = ada, callId = "call"): Promise<number> =>
    append({ kind: "mark", mark: logMark }, slot, callId);
  const end = (
    outcome: NonNullable<LogMark["outcome"]> = "committed",
    slot: Slot = ada,
    callId = "call",
  ): Promise<number> => mark({ name: "call_end", outcome }, slot, callId);
  return { log, tools, conversations, use, say, mark, end };
}

export type Bench = ReturnType<typeof bench>;

function answerOf(blocks: readonly (TextBlock | DataBlock)[], isError: boolean): Answer {
  const texts = blocks.map((block) => (block.type === "text" ? block.text : ""));
  return { blocks, page: texts[0] ?? "", text: texts.join("\n"), isError };
}

/** The arguments of the first call that an answer proposes behind `lead`; null when it proposes none. */
export function proposed(text: string, lead: string): Record<string, unknown> | null {
  const at = text.indexOf(lead);
  if (at < 0) return null;
  const [, args] = /session_[a-z]+ with (.*)/.exec(text.slice(at + lead.length)) ?? [];
  const found: Record<string, unknown> = {};
  const one = /^(?:, )?([a-zA-Z]+): ("(?:[^"\\]|\\.)*"|-?\d+|true|false)/;
  for (let rest = args ?? ""; ; ) {
    const [whole, key, value] = one.exec(rest) ?? [];
    if (whole === undefined || key === undefined || value === undefined) return found;
    found[key] = JSON.parse(value);
    rest = rest.slice(whole.length);
  }
}
