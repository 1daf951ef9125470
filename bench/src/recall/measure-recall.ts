import { InMemoryConversationLog, ReActAgent, toolResultsOf, userMessage } from "@holdfast/core";
import type { LogDraft } from "@holdfast/core/store-kit";
import { ConversationSearch, sessionTools } from "@holdfast/session-tools";
import { scriptedModel } from "@holdfast/testing";
import { countTokens } from "gpt-tokenizer";
import { Bm25 } from "./bm25.js";
import { type Corpus, placeKey } from "./corpus.js";

/** Numbers of hits at which recall is measured. */
export const CUTOFFS = [5, 10, 20] as const;

const owner = { agentId: "desk", userId: "user" } as const;
const MINUTE_MS = 60_000;

/** Percent of questions whose answer a search found, and the cost of that. */
export interface Recall {
  readonly questions: number;
  /** At each of {@link CUTOFFS}. */
  readonly bm25: readonly number[];
  readonly ranked: readonly number[];
  /** Questions whose answer is on the first page of `session_search`. */
  readonly onPage: number;
  readonly meanPageTokens: number;
  readonly maxPageTokens: number;
  readonly searchMs: number;
}

/** Asks all questions of corpora, of plain BM25 and of the search, in the same run. */
export async function measureRecall(corpora: readonly Corpus[]): Promise<Recall> {
  const counts = { questions: 0, onPage: 0, tokens: 0, maxTokens: 0, ms: 0 };
  const [bm25, ranked] = [CUTOFFS.map(() => 0), CUTOFFS.map(() => 0)];
  for (const corpus of corpora) {
    const { log, places } = await logOf(corpus);
    const plain = new Bm25(corpus);
    const search = new ConversationSearch({ log });
    const limit = Math.max(...CUTOFFS);
    await using tool = searchTool(log);
    for (const { text, answers } of corpus.questions) {
      const wanted = new Set(answers.map(placeKey));
      add(bm25, plain.search(text, limit), wanted);
      const began = performance.now();
      const { hits } = await search.search({ ...owner, query: text, limit });
      counts.ms += performance.now() - began;
      const found = hits.map(({ slot, seq }) => places.get(`${seq}@${slot.sessionId}`) ?? "");
      add(ranked, found, wanted);
      const page = await tool.search(text);
      const shown = placesOn(page).map((place) => places.get(place) ?? "");
      counts.questions++;
      if (shown.some((place) => wanted.has(place))) counts.onPage++;
      const tokens = countTokens(page);
      counts.tokens += tokens;
      counts.maxTokens = Math.max(counts.maxTokens, tokens);
    }
  }
  const percent = (count: number): number => (100 * count) / counts.questions;
  return {
    questions: counts.questions,
    bm25: bm25.map(percent),
    ranked: ranked.map(percent),
    onPage: percent(counts.onPage),
    meanPageTokens: counts.tokens / counts.questions,
    maxPageTokens: counts.maxTokens,
    searchMs: counts.ms / counts.questions,
  };
}

/** Counts a question at the cutoffs at which its answer was found. */
function add(counts: number[], found: readonly string[], wanted: ReadonlySet<string>): void {
  const rank = found.findIndex((place) => wanted.has(place));
  for (const [index, cutoff] of CUTOFFS.entries())
    if (rank >= 0 && rank < cutoff) counts[index] = (counts[index] ?? 0) + 1;
}

/** Logs a corpus as calls of one user; places are the turns by their positions in the log. */
async function logOf({ sessions }: Corpus) {
  const log = new InMemoryConversationLog();
  const places = new Map<string, string>();
  for (const { id, startedAt, turns } of sessions) {
    const slot = { ...owner, sessionId: id };
    const draft = (n: number, body: Pick<LogDraft, "kind" | "message" | "mark">): LogDraft => ({
      v: 1,
      id: `${id}-${n}`,
      callId: id,
      at: new Date(startedAt.getTime() + n * MINUTE_MS).toISOString(),
      ...body,
    });
    await log.append(slot, [
      ...turns.map((message, n) => draft(n, { kind: "message", message })),
      draft(turns.length, { kind: "mark", mark: { name: "call_end", outcome: "committed" } }),
    ]);
    const records = await log.read(slot, { limit: turns.length + 1 });
    for (const [turn, { seq }] of records.entries())
      places.set(`${seq}@${id}`, placeKey({ sessionId: id, turn }));
  }
  return { log, places };
}

/** Uses `session_search` as an agent does, in a session of its own that is gone afterwards. */
function searchTool(log: InMemoryConversationLog) {
  let query = "";
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? "done"
      : { toolCalls: [{ name: "session_search", input: { query } }] },
  );
  const agent = new ReActAgent({
    name: "desk",
    agentId: owner.agentId,
    model,
    log,
    plugins: [sessionTools()],
  });
  const asking = { userId: owner.userId, sessionId: "asking" };
  return {
    async search(text: string): Promise<string> {
      query = text;
      await agent.call("Look it up.", asking);
      const [result] = toolResultsOf(model.requests.at(-1)?.messages.at(-1) ?? userMessage(""));
      await agent.deleteSession(asking);
      return (result?.output ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
    },
    [Symbol.asyncDispose]: () => agent.close(),
  };
}

/** Returns the positions of all messages that a page shows. */
function placesOn(page: string): string[] {
  const places: string[] = [];
  let sessionId = "";
  for (const line of page.split("\n")) {
    const [, id] = /^session ("(?:[^"\\]|\\.)*")/.exec(line) ?? [];
    if (id !== undefined) sessionId = JSON.parse(id) as string;
    const [, seq] = /^[> ] \[(\d+)/.exec(line) ?? [];
    if (seq !== undefined) places.push(`${seq}@${sessionId}`);
  }
  return places;
}
