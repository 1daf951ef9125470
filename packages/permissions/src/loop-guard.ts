import { isDeepStrictEqual } from "node:util";
import {
  type AgentState,
  assistantMessage,
  definePlugin,
  type PermissionMode,
  type Plugin,
  type ToolCallBlock,
  type ToolDecision,
  type ToolResultState,
  toolCallsOf,
  toolResultsOf,
} from "@holdfast/core";
import { type GuardedCall, parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { matchesWildcard, starPattern } from "./wildcard.js";

/** Options of {@link loopGuard}. */
export interface LoopGuardOptions {
  /** Equal calls in a row of which the last one, and every further one, is not simply run. @default 3 */
  readonly times?: number | undefined;
  /** Equal calls denied in a row that end the turn. @default 3 */
  readonly denials?: number | undefined;
  /** `"deny"`: never ask a person, as in permission mode `dont_ask`. @default "ask" */
  readonly decision?: "ask" | "deny" | undefined;
  /** Names of tools that may be repeated, for example because they poll; `*` matches any characters. @default [] */
  readonly exclude?: readonly string[] | undefined;
}

const optionsSchema = s.strictObject({
  times: s.int().min(2).default(3),
  denials: s.int().min(2).default(3),
  decision: s.enum(["ask", "deny"]).default("ask"),
  exclude: s.array(s.string().min(1)).default([]),
});

/**
 * Asks a person about a tool call that repeats the ones before it, and ends a turn in which the same call is denied again and
 * again.
 *
 * Calls are equal when their tool and their input are, whatever the order of keys. They are counted in the conversation, back
 * to the last message of the user, so that the count survives a restart and needs no state.
 *
 * @throws ConfigurationError
 * @example
 * const agent = new ReActAgent({ name: "a", model, tools, plugins: [loopGuard({ exclude: ["job_status"] })] });
 */
export function loopGuard(options: LoopGuardOptions = {}): Plugin {
  const { times, denials, decision, exclude } = parseOptions(optionsSchema, options, "loopGuard");
  const excluded = exclude.map(starPattern);
  const check = (
    { call, ctx: { agentState } }: GuardedCall,
    modeOf: (state: AgentState) => PermissionMode,
  ): ToolDecision => {
    if (!agentState || excluded.some((pattern) => matchesWildcard(pattern, call.name)))
      return { decision: "allow" };
    const count = repetitionsOf(call, agentState);
    if (count < times) return { decision: "allow" };
    const repeated = `${call.name} was called ${count} times in a row with the same input`;
    if (decision === "ask" && modeOf(agentState) !== "dont_ask")
      return { decision: "ask", reason: `${repeated}. The agent may be in a loop.` };
    return {
      decision: "deny",
      reason: `Not run: ${repeated}, and nobody is there to approve it. Use what it returned before, change the input, or say what is in the way.`,
    };
  };
  return definePlugin({
    name: "loop-guard",
    contract: 1,
    setup(host) {
      const guard = host.optional("toolGuard");
      const modeOf = (state: AgentState) =>
        guard()?.modeOf?.(state) ?? state.permissionContext.mode;
      host.provide("toolGuard", { check: (call) => check(call, modeOf) });
      host.use({
        name: "loop-guard",
        async onReasoning(step, next) {
          const denied = deniedInARow(step.state);
          if (denied.length < denials) return next();
          step.stop();
          return assistantMessage(
            `I stopped: the same call of ${denied[0]?.name} was denied ${denied.length} times in a row. Tell me what to do instead.`,
            { createdAt: host.now() },
          );
        },
      });
    },
  });
}

/** A tool call of the conversation; `state` is absent as long as it has no result. */
interface PastCall {
  readonly call: ToolCallBlock;
  readonly state: ToolResultState | undefined;
}

/** Yields the tool calls of the context, newest first, and null for each message of the user among them. */
function* backwards({ context }: AgentState): Generator<PastCall | null> {
  const states = new Map<string, ToolResultState>();
  for (let index = context.length - 1; index >= 0; index--) {
    const message = context[index];
    if (!message) continue;
    for (const { toolCallId, state } of toolResultsOf(message)) states.set(toolCallId, state);
    for (const call of toolCallsOf(message).reverse()) yield { call, state: states.get(call.id) };
    // A summary is a user message of hints: nobody has spoken.
    if (message.role === "user" && message.content.some(({ type }) => type !== "hint")) yield null;
  }
}

/** Returns the number of equal calls in a row of which `call` is the last; 0 when the conversation does not have it. */
function repetitionsOf(call: ToolCallBlock, state: AgentState): number {
  let count = 0;
  for (const past of backwards(state)) {
    // Input that came while the call waited stands behind it.
    if (count === 0) count = past?.call.id === call.id ? 1 : 0;
    else if (past === null || !isEqualCall(past.call, call)) break;
    else count++;
  }
  return count;
}

/** Returns the equal calls at the end of the conversation that were all denied, newest first. */
function deniedInARow(state: AgentState): readonly ToolCallBlock[] {
  const denied: ToolCallBlock[] = [];
  for (const past of backwards(state)) {
    if (past?.state !== "denied") break;
    if (denied[0] && !isEqualCall(past.call, denied[0])) break;
    denied.push(past.call);
  }
  return denied;
}

function isEqualCall(one: ToolCallBlock, other: ToolCallBlock): boolean {
  return one.name === other.name && isDeepStrictEqual(one.input, other.input);
}
