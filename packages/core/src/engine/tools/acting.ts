import type { PendingCall } from "../../events/agent-reply.js";
import type { ToolCallBlock, ToolResultBlock } from "../../message/message.js";
import type { ActingStep, ToolCallStep } from "../../middleware/middleware.js";
import type { ToolDecision, ToolGuard } from "../../ports/tool-guard.js";
import { validateInput } from "../../tool/input-schema.js";
import type { Tool } from "../../tool/tool.js";
import { compose } from "../assemble/compose.js";
import { type CallScope, stepOf } from "../call-scope.js";
import { saveStep } from "../save/save-session.js";
import { CallSuspended, runTool } from "./run-tool.js";
import { activeTools } from "./tool-box.js";
import { addResults, emitResult, textResult } from "./tool-results.js";

/** What came of running tool calls. */
export interface Acted {
  /** Calls that wait for somebody; empty when the loop can go on. */
  readonly pending: readonly PendingCall[];
  readonly reason: "permission_asking" | "tool_suspended" | null;
  /** A middleware wants the call to end here. */
  readonly stopRequested: boolean;
}

/** A call that may run now. */
interface Runnable {
  readonly call: ToolCallBlock;
  readonly tool: Tool;
  readonly input: unknown;
}

/**
 * Runs the open calls among `calls` and puts their results into the context.
 *
 * When one of them has to ask, none runs: those that may are kept as `allowed` and run after the answer.
 *
 * @param approved - calls a person has approved: they ask no more, but a guard may still deny them
 */
export async function act(
  scope: CallScope,
  calls: readonly ToolCallBlock[],
  approved: ReadonlySet<string> = new Set(),
): Promise<Acted> {
  const verdicts = await Promise.all(
    calls.map((call) => judgeCall(scope, call, approved.has(call.id))),
  );
  const results = new Map<string, ToolResultBlock>();
  const asking: PendingCall[] = [];
  const runnable: Runnable[] = [];
  for (const [index, call] of calls.entries()) {
    const verdict = verdicts[index] as Verdict;
    if (verdict.kind === "answered") {
      results.set(call.id, verdict.result);
      emitResult(scope, verdict.result);
    } else if (verdict.kind === "ask") asking.push(verdict.pending);
    else runnable.push({ call, tool: verdict.tool, input: verdict.input });
  }
  const { openCalls } = scope.session.state;
  if (asking.length > 0) {
    for (const { toolCallId } of asking) openCalls[toolCallId] = "asking";
    for (const { call } of runnable) openCalls[call.id] = "allowed";
    addResults(scope, inOrder(calls, results));
    scope.emit({ type: "permission_ask", pending: asking });
    return { pending: asking, reason: "permission_asking", stopRequested: false };
  }
  return runAll(scope, calls, runnable, results);
}

async function runAll(
  scope: CallScope,
  calls: readonly ToolCallBlock[],
  runnable: readonly Runnable[],
  results: Map<string, ToolResultBlock>,
): Promise<Acted> {
  const originals = new Map(results);
  const suspended: PendingCall[] = [];
  let stopRequested = false;
  const { openCalls } = scope.session.state;
  for (const { call } of runnable) openCalls[call.id] = "started";
  if (runnable.length > 0) await saveStep(scope);
  const step: ActingStep = Object.assign(stepOf(scope), {
    calls: runnable.map(({ call }) => call),
    stop: () => {
      stopRequested = true;
    },
  });
  const told = new Set<string>();
  try {
    const ran = await compose(scope.parts.hooks.onActing, step, async () => {
      const settled = await allSettled(
        runnable.map((one) => runOne(scope, one, originals, suspended)),
      );
      const finished = settled.filter((result) => result !== null);
      for (const { toolCallId } of finished) told.add(toolCallId);
      return finished;
    });
    for (const result of ran) {
      results.set(result.toolCallId, result);
      if (!told.has(result.toolCallId)) emitResult(scope, result);
    }
  } catch (error) {
    // The call fails; what its tools have done all the same stays known.
    addResults(scope, inOrder(calls, originals));
    throw error;
  }
  const pending = suspended.filter(({ toolCallId }) => !results.has(toolCallId));
  for (const { toolCallId } of pending) openCalls[toolCallId] = "pending";
  for (const { call } of runnable)
    if (!results.has(call.id) && openCalls[call.id] !== "pending")
      results.set(call.id, textResult(call, "A middleware left the result out.", "error"));
  const added = inOrder(calls, results);
  addResults(
    scope,
    added,
    added.map((result) => originals.get(result.toolCallId) ?? result),
  );
  return { pending, reason: pending.length > 0 ? "tool_suspended" : null, stopRequested };
}

/** As `Promise.all`, but when one fails the others are waited for: no tool outlives its call. */
async function allSettled<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Runs one call inside its hooks; null when it is suspended. */
async function runOne(
  scope: CallScope,
  { call, tool, input }: Runnable,
  originals: Map<string, ToolResultBlock>,
  suspended: PendingCall[],
): Promise<ToolResultBlock | null> {
  const began = performance.now();
  const step = Object.assign(stepOf(scope), { call, tool });
  let result: ToolResultBlock;
  try {
    result = await compose(scope.parts.hooks.onToolCall, step, async () => {
      const original = await runTool({
        tool,
        call,
        input,
        ctx: scope.ctx,
        stop: scope.stop,
        timeoutMs: tool.timeoutMs ?? scope.parts.settings.toolTimeoutMs,
      });
      originals.set(call.id, original);
      return original;
    });
    result = await refineResult(scope, step, result);
  } catch (error) {
    if (!(error instanceof CallSuspended)) throw error;
    suspended.push({
      toolCallId: call.id,
      name: call.name,
      input: call.input,
      state: "suspended",
      ...(error.reason !== undefined && { reason: error.reason }),
    });
    return null;
  }
  emitResult(scope, result, performance.now() - began);
  return result;
}

/** Runs a result through the `onToolResult` hooks. */
export async function refineResult(
  scope: CallScope,
  step: ToolCallStep,
  result: ToolResultBlock,
): Promise<ToolResultBlock> {
  let refined = result;
  for (const hook of scope.parts.hooks.onToolResult) refined = await hook(refined, step);
  return refined;
}

function inOrder(
  calls: readonly ToolCallBlock[],
  results: ReadonlyMap<string, ToolResultBlock>,
): readonly ToolResultBlock[] {
  return calls.flatMap((call) => results.get(call.id) ?? []);
}

/** Decision about a call: it may run, must ask, or is answered already. */
type Verdict =
  | { readonly kind: "answered"; readonly result: ToolResultBlock }
  | { readonly kind: "ask"; readonly pending: PendingCall }
  | { readonly kind: "run"; readonly tool: Tool; readonly input: unknown };

/**
 * Finds the tool, checks the input and asks the guards.
 *
 * A call that cannot run is answered with words the model can act on, before any person is asked about it.
 */
async function judgeCall(
  scope: CallScope,
  call: ToolCallBlock,
  approved: boolean,
): Promise<Verdict> {
  const { parts, session, ctx } = scope;
  const offered = activeTools(session.state, parts.tools, parts.toolGroups);
  const tool = offered.find(({ name }) => name === call.name);
  if (!tool) {
    const text = parts.tools.get(call.name)
      ? `${call.name} is switched off in this session.`
      : `There is no tool ${call.name}. There are: ${offered.map(({ name }) => name).join(", ") || "none"}.`;
    return { kind: "answered", result: textResult(call, text, "error") };
  }
  const validation = await validateInput(tool.input, call.input);
  if (validation.problem !== undefined)
    return {
      kind: "answered",
      result: textResult(call, `Invalid input for ${call.name}: ${validation.problem}`, "error"),
    };
  const decision = await parts.guard.check({ call, tool, ctx });
  if (decision.decision === "deny")
    return { kind: "answered", result: textResult(call, decision.reason, "denied") };
  if (decision.decision === "ask" && !approved)
    return {
      kind: "ask",
      pending: {
        toolCallId: call.id,
        name: call.name,
        input: call.input,
        state: "asking",
        reason: decision.reason,
        ...(decision.suggestions && { suggestions: decision.suggestions }),
      },
    };
  return { kind: "run", tool, input: validation.value };
}

/** Combines guards into one: deny before ask before allow. All of them are told which rules a person wants remembered. */
export function strictestGuard(guards: readonly ToolGuard[]): ToolGuard {
  return {
    async check(call) {
      let strictest: ToolDecision = { decision: "allow" };
      for (const guard of guards) {
        const decision = await guard.check(call);
        if (decision.decision === "deny") return decision;
        if (decision.decision === "ask") strictest = decision;
      }
      return strictest;
    },
    async remember(call, rules) {
      for (const guard of guards) await guard.remember?.(call, rules);
    },
  };
}
