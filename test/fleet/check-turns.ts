import type { DistributedStore } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { expect } from "vitest";
import { transcript } from "./transcript.js";
import type { TurnLoad } from "./turn-load.js";

/** What is missing of what was acknowledged, by session. */
export type Losses = ReadonlyMap<string, readonly string[]>;

/**
 * Compares what is stored with what the callers were told: nothing torn, nothing doubled, nothing out of order. Answers
 * which acknowledged turns are not there.
 */
export async function lossesOf(store: DistributedStore, load: TurnLoad): Promise<Losses> {
  const losses = new Map<string, string[]>();
  for (const [sessionId, turns] of load.sessions) {
    const slot = { agentId: "echo", userId: "u", sessionId };
    const { context, log } = await eventually(() => transcript(store, slot), {
      what: "reading the session after the fault",
      timeoutMs: 30_000,
    });
    const questions = context.filter((text) => text.startsWith("q-"));
    expect(new Set(context).size, "nothing doubled").toBe(context.length);
    expect(new Set(log).size, "nothing doubled in the log").toBe(log.length);
    expect(questions, "in order").toEqual(
      turns.map(({ question }) => question).filter((question) => questions.includes(question)),
    );
    for (const [index, text] of context.entries())
      if (text.startsWith("re: ")) expect(context[index - 1]).toBe(text.slice("re: ".length));
    const acknowledged = turns.filter(({ error }) => error === undefined);
    const lost = acknowledged
      .map(({ question }) => question)
      .filter((question) => !context.includes(`re: ${question}`));
    if (lost.length > 0) losses.set(sessionId, lost);
  }
  return losses;
}

/** The error codes callers saw. */
export function codesOf(load: TurnLoad): string[] {
  const codes = [...load.sessions.values()].flat().flatMap(({ error }) => error ?? []);
  return [...new Set(codes)].sort();
}
