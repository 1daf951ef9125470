import { type DistributedStore, textOf } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { answerTo } from "./support-agent.js";

/** Returns the problems of the stored sessions, one sentence each; empty when every one is complete and in order. */
export async function problemsOf(
  store: DistributedStore,
  sessions: ReadonlyMap<string, readonly string[]>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const [sessionId, questions] of sessions) {
    const slot = { agentId: "support", userId: "customer", sessionId };
    const loaded = await loadWhole(store.stateStore, slot);
    const spoken = (loaded?.messages ?? [])
      .filter(({ role }) => role !== "tool")
      .map(textOf)
      .filter((text) => text !== "");
    const expected = questions.flatMap((question) => [question, answerTo(question)]);
    const length = Math.max(spoken.length, expected.length);
    const at = Array.from({ length }, (_, index) => index).find(
      (index) => spoken[index] !== expected[index],
    );
    if (at !== undefined)
      problems.push(
        `${sessionId} holds ${spoken.length} messages instead of ${expected.length}; number ${at + 1} is ${shown(spoken[at])} instead of ${shown(expected[at])}`,
      );
  }
  return problems;
}

function shown(text: string | undefined): string {
  return text === undefined ? "missing" : JSON.stringify(text);
}
