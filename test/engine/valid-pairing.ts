import type { AgentState, Message } from "@holdfast/core";
import {
  type ReplyFunction,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  scriptedModel,
} from "@holdfast/testing";
import { afterEach, expect } from "vitest";

/**
 * What is wrong with the pairing of a model request, or null: right behind a message with tool calls come tool messages
 * with exactly one result for each of them and nothing else; results stand nowhere else. Written without looking at the
 * engine's own repair, which is what it checks.
 */
export function pairingProblem(messages: readonly Message[]): string | null {
  const seen = new Set<string>();
  let waiting = new Set<string>();
  for (const [index, { role, content }] of messages.entries()) {
    const at = `message ${index} (${role})`;
    const results = content.flatMap((block) =>
      block.type === "tool_result" ? block.toolCallId : [],
    );
    const calls = content.flatMap((block) => (block.type === "tool_call" ? block.id : []));
    if (role === "tool" && results.length !== content.length) return `${at} has more than results`;
    if (role === "tool" && results.length === 0) return `${at} is empty`;
    if (role !== "tool" && results.length > 0) return `${at} has results`;
    if (role !== "assistant" && calls.length > 0) return `${at} has calls`;
    if (role !== "tool" && waiting.size > 0) return `${at} stands before ${waiting.size} results`;
    for (const id of results)
      if (!waiting.delete(id)) return `${at} answers ${id}, which does not wait for an answer`;
    for (const id of calls) {
      if (seen.has(id)) return `${at} has call ${id} a second time`;
      seen.add(id);
    }
    if (role === "assistant") waiting = new Set(calls);
  }
  return waiting.size > 0 ? `${waiting.size} calls have no result at the end` : null;
}

/**
 * What is wrong with a saved state, or null: only calls of the last assistant message are open, each is listed in
 * `openCalls`, and nothing else is.
 */
export function stateProblem(state: AgentState): string | null {
  const answered = new Set(
    state.context.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_result" ? block.toolCallId : [])),
    ),
  );
  const last = state.context.findLast(({ role }) => role === "assistant");
  const open = new Set<string>();
  for (const message of state.context)
    for (const block of message.content) {
      if (block.type !== "tool_call" || answered.has(block.id)) continue;
      if (message !== last) return `call ${block.id} is open and not of the last assistant message`;
      open.add(block.id);
    }
  const listed = Object.keys(state.openCalls);
  for (const id of open) if (!listed.includes(id)) return `call ${id} is open and not listed`;
  for (const id of listed) if (!open.has(id)) return `call ${id} is listed and not open`;
  const ids = state.context.map(({ id }) => id);
  return new Set(ids).size === ids.length ? null : "two messages have the same id";
}

const problems: string[] = [];

/** What was wrong with requests to {@link pairedModel}s since this was last called. */
export function takePairingProblems(): readonly string[] {
  return problems.splice(0);
}

// Noted and checked here, not thrown: the engine may swallow what a model throws.
afterEach(() => {
  expect(takePairingProblems()).toEqual([]);
});

/** A scripted model that fails the test when a request is not validly paired. */
export function pairedModel(
  script: readonly ScriptedReply[] | ReplyFunction,
  options?: ScriptedModelOptions,
): ScriptedModel {
  const model = scriptedModel(script, options);
  return {
    ...model,
    stream(request) {
      const problem = pairingProblem(request.messages);
      if (problem !== null) problems.push(`request ${model.requests.length}: ${problem}`);
      return model.stream(request);
    },
  };
}
