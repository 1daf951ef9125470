import type { JsonObject, Message, ModelRequest, ToolResultBlock } from "@holdfast/core";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import type { AgentMaker } from "./play-history.js";

/** A tool call to make. */
interface Wish {
  readonly name: string;
  readonly input: JsonObject;
}

/** What the tools gave back of a session. */
export interface ReadSession {
  readonly sessionId: string;
  /** Of every message, all that was shown of it. */
  readonly messages: readonly string[];
  /** Of all messages, as base64. */
  readonly data: readonly string[];
}

/** Yields tool calls and is given their results. */
type Reading<T> = Generator<readonly Wish[], T, readonly ToolResultBlock[]>;

/** Calls made in one step. */
const BATCH = 20;

/** Reads everything of a user through an agent's own tools, in one call of the agent, as a model would. */
export async function readBack(userId: string, make: AgentMaker): Promise<readonly ReadSession[]> {
  const sessions: ReadSession[] = [];
  const reading = readAll(sessions);
  const model = scriptedModel((request): ScriptedReply => {
    const { value, done } = reading.next(lastResults(request));
    // Nobody counts these tokens; estimating them would take longer than the reading.
    const usage = { inputTokens: 0, outputTokens: 0 };
    return done || value === undefined
      ? { text: "done", usage }
      : { toolCalls: value.map((wish) => ({ ...wish })), usage };
  });
  const agent = make({ model, maxIterations: 10_000 });
  const reply = await agent.call("read", { userId, sessionId: "reader" });
  await agent.close();
  if (reply.text !== "done") throw new Error(`the reader ended with ${reply.reason}`);
  return sessions;
}

function* readAll(sessions: ReadSession[]): Reading<void> {
  const [listing] = yield [{ name: "session_list", input: { limit: 100 } }];
  const ids = [...textOf(listing).matchAll(/"(session-\d)"/g)].map(([, id]) => id as string);
  for (const sessionId of new Set(ids)) {
    const entries = yield* entriesOf(sessionId);
    sessions.push(yield* messagesOf(sessionId, entries));
  }
}

/** A message as an overview shows it. */
interface Entry {
  readonly at: number;
  readonly text: string;
  /** The overview shows only the beginning. */
  readonly isCut: boolean;
}

/** Goes back page by page from the end. */
function* entriesOf(sessionId: string): Reading<Entry[]> {
  const entries: Entry[] = [];
  for (let before: number | undefined; ; ) {
    const input = { sessionId, lastN: 15, ...(before !== undefined && { before }) };
    const [page] = yield [{ name: "session_history", input }];
    const text = textOf(page);
    const heads = [...text.matchAll(/\n\n\[(\d+)\] (?:user|assistant|tool|system), \d{4}-/g)];
    entries.unshift(
      ...heads.map((head, index): Entry => {
        const shown = text.slice(head.index, heads[index + 1]?.index);
        const isCut = shown.includes(`[cut: session_history with at: ${head[1]},`);
        return { at: Number(head[1]), text: shown, isCut };
      }),
    );
    const earlier = /Earlier ones: session_history with .*before: (\d+)/.exec(lastLine(text));
    if (earlier === null) return entries;
    before = Number(earlier[1]);
  }
}

/** Reads what an overview did not show: the rest of long messages, and data. */
function* messagesOf(sessionId: string, entries: readonly Entry[]): Reading<ReadSession> {
  const texts = new Map(entries.map(({ at, text, isCut }) => [at, isCut ? "" : text]));
  const data: string[] = [];
  const wish = (more: JsonObject): Wish => ({
    name: "session_history",
    input: { sessionId, ...more },
  });
  const dataOf = (at: number, text: string): Wish[] =>
    [...text.matchAll(/\[data (\d+): image\/png, (?:about )?\d+ bytes\]/g)].map(([, number]) =>
      wish({ at, data: Number(number) }),
    );
  let wishes = entries.flatMap(({ at, text, isCut }) =>
    isCut ? [wish({ at })] : dataOf(at, text),
  );
  while (wishes.length > 0) {
    const batch = wishes.splice(0, BATCH);
    const results = yield batch;
    const further: Wish[] = [];
    for (const [index, { input }] of batch.entries()) {
      const { output } = results[index] as ToolResultBlock;
      const at = input["at"] as number;
      const [page, foot] = output;
      if (page?.type === "data") {
        if (page.source.kind === "base64") data.push(page.source.data);
        continue;
      }
      const text = (texts.get(at) ?? "") + (page?.text ?? "");
      texts.set(at, text);
      const offset = /offset: (\d+)/.exec(foot?.type === "text" ? foot.text : "");
      if (offset === null) further.push(...dataOf(at, text));
      else further.push(wish({ at, offset: Number(offset[1]) }));
    }
    wishes = [...further, ...wishes];
  }
  return { sessionId, messages: [...texts.values()], data };
}

function lastResults({ messages }: ModelRequest): readonly ToolResultBlock[] {
  const results = (messages.at(-1) as Message).content.filter(
    (block): block is ToolResultBlock => block.type === "tool_result",
  );
  for (const { state, output } of results)
    if (state !== "success") throw new Error(`a tool failed: ${JSON.stringify(output)}`);
  return results;
}

function textOf(result: ToolResultBlock | undefined): string {
  return (result?.output ?? []).map((block) => (block.type === "text" ? block.text : "")).join("");
}

function lastLine(text: string): string {
  return text.slice(text.lastIndexOf("\n\n") + 2);
}
