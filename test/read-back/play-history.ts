import { compaction } from "@holdfast/compaction";
import {
  type AgentEvent,
  type DataBlock,
  type JsonObject,
  type ModelRequest,
  type Plugin,
  type TextBlock,
  tool,
  toolResult,
} from "@holdfast/core";
import { tokenCounterOf } from "@holdfast/core/plugin-kit";
import { toolResultEviction } from "@holdfast/eviction";
import type { HarnessAgent, HarnessAgentOptions } from "@holdfast/harness";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { z } from "zod";
import type { History, Piece, PlannedTurn } from "./random-history.js";

/** What was said in a session and must be readable for ever. */
export interface Said {
  readonly userId: string;
  readonly sessionId: string;
  /** Texts, and inputs of tool calls as JSON. */
  readonly texts: string[];
  /** Bytes, as base64. */
  readonly data: string[];
}

/** Outcome of a history. */
export interface Played {
  readonly sessions: readonly Said[];
  readonly events: readonly AgentEvent[];
}

/** Options of an agent, but for those this module chooses. */
export type AgentMaker = (
  options: Partial<HarnessAgentOptions> & Pick<HarnessAgentOptions, "model">,
) => HarnessAgent;

type PlannedReply = Exclude<ScriptedReply, string>;

/** By length alone: there is much to count, and it only has to add up. */
const counter = tokenCounterOf({
  id: "length",
  countText: (text) => Math.ceil(text.length / 4),
});

/** Plays a history on an agent and tells what was said. Users are `<name>-0` and `<name>-1`. */
export async function playHistory(
  history: History,
  name: string,
  make: AgentMaker,
): Promise<Played> {
  const events: AgentEvent[] = [];
  const sessions = new Map<string, Said>();
  const replies: PlannedReply[] = [];
  const returns = new Map<number, readonly Piece[]>();
  let calls = 0;
  let interruptNext = false;

  const work = tool({
    name: "work",
    description: "Works.",
    input: z.object({
      id: z.number(),
      stop: z.boolean(),
      note: z.string(),
      lines: z.array(z.string()),
    }),
    async execute({ id, stop }, ctx) {
      if (stop) {
        await agent.interrupt(ctx.userId, ctx.sessionId as string, `stopped ${id}`);
        return aborted(ctx.signal);
      }
      return toolResult({ output: (returns.get(id) ?? []).map(blockOf) });
    },
  });
  const agent = make({
    model: scriptedModel((request) => {
      const reply = isSummaryRequest(request) ? { text: "They talked." } : replies.shift();
      const inputTokens = counter.countMessages(request.messages);
      return { text: "nothing is scripted", ...reply, usage: { inputTokens, outputTokens: 1 } };
    }),
    tokenCounter: counter,
    tools: [work],
    plugins: pluginsOf(history),
    persistence: history.persistence,
    maxIterations: 20,
    onEvent: (event) => void events.push(event),
    middleware: [
      {
        name: "interrupts",
        async onReasoning(step, next) {
          if (interruptNext && replies.length === 1) {
            await agent.interrupt(step.slot.userId, step.slot.sessionId, "stopped");
            await aborted(step.signal);
          }
          return next();
        },
      },
    ],
  });

  async function play(turn: PlannedTurn): Promise<void> {
    const userId = `${name}-${turn.user}`;
    const sessionId = `session-${turn.session}`;
    const key = `${userId} ${sessionId}`;
    const said = sessions.get(key) ?? { userId, sessionId, texts: [], data: [] };
    sessions.set(key, said);
    said.texts.push(turn.input);
    for (const step of turn.steps) {
      const { thinking, text } = step;
      said.texts.push(thinking, text);
      const toolCalls = step.calls.map(({ note, lines, returns: pieces }) => {
        const id = ++calls;
        returns.set(id, pieces);
        for (const piece of pieces)
          if ("text" in piece) said.texts.push(piece.text);
          else said.data.push(piece.base64);
        return inputOf(said, { id, stop: false, note, lines });
      });
      replies.push({ thinking, text, toolCalls });
    }
    if (turn.end === "interrupt in a tool") {
      const id = ++calls;
      said.texts.push(`stopped ${id}`);
      const toolCalls = [inputOf(said, { id, stop: true, note: "", lines: [] })];
      replies.push({ text: "", toolCalls });
    }
    replies.push({ text: turn.answer });
    interruptNext = turn.end === "interrupt between steps";
    if (turn.end === "answer") said.texts.push(turn.answer);
    const reply = await agent.call(turn.input, { userId, sessionId });
    const expected = turn.end === "answer" ? "stop" : "interrupted";
    if (reply.reason !== expected) throw new Error(`a turn ended with ${reply.reason}`);
    replies.length = 0;
  }

  for (const turn of history.turns) await play(turn);
  await agent.close();
  return { sessions: [...sessions.values()], events };
}

/** An interrupt may have to travel. */
async function aborted(signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return;
  await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
}

function inputOf(said: Said, input: JsonObject): { name: string; input: JsonObject } {
  said.texts.push(JSON.stringify(input));
  return { name: "work", input };
}

function blockOf(piece: Piece): TextBlock | DataBlock {
  if ("text" in piece) return { type: "text", text: piece.text };
  const source = { kind: "base64", data: piece.base64 } as const;
  return { type: "data", mediaType: "image/png", source };
}

function pluginsOf({ summary, truncateArgs, prune, eviction }: History): Plugin[] {
  const plugins: Plugin[] = [];
  if (eviction) plugins.push(toolResultEviction({ maxResultChars: 1_400, previewChars: 100 }));
  if (summary || truncateArgs || prune)
    plugins.push(
      compaction({
        summarize: summary,
        triggerMessages: 8,
        keepMessages: 3,
        truncateArgs: truncateArgs && { triggerMessages: 4, keepMessages: 2, maxArgLength: 40 },
        prune: prune && { protectTokens: 100, minimumTokens: 50, maxResultChars: 200 },
      }),
    );
  return plugins;
}

function isSummaryRequest({ messages }: ModelRequest): boolean {
  const last = messages.at(-1)?.content.at(-1);
  return last?.type === "hint" && last.source === "compaction";
}
