import type { PendingCall } from "../../events/agent-reply.js";
import { toolRule } from "../../in-memory/list-guard.js";
import { isRecord } from "../../json/json.js";
import { excerptAt, jsonProblem } from "../../json/json-problem.js";
import type { ToolCallBlock, ToolResultBlock } from "../../message/message.js";
import { showKind } from "../../plugin-kit/show-value.js";
import type { GuardedCall, ToolDecision, ToolGuard } from "../../ports/tool-guard.js";
import { isSameRule, type PermissionRule } from "../../state/sections.js";
import { validateInput } from "../../tool/input-schema.js";
import type { Tool } from "../../tool/tool.js";
import { brokenContract } from "../assemble/run-hook.js";
import type { CallScope } from "../call-scope.js";
import { RememberedRules } from "../session/remembered-rules.js";
import { activeTools } from "./tool-box.js";
import { textResult } from "./tool-results.js";

/** Decision about a call: it may run, must ask, or is answered already. */
export type Verdict =
  | { readonly kind: "answered"; readonly result: ToolResultBlock }
  | { readonly kind: "ask"; readonly pending: PendingCall }
  | { readonly kind: "run"; readonly tool: Tool; readonly input: unknown };

/**
 * Finds the tool, checks the input and asks the guards.
 *
 * A call that cannot run is answered with words the model can act on, before any person is asked about it.
 */
export async function judgeCall(
  scope: CallScope,
  call: ToolCallBlock,
  approved: boolean,
): Promise<Verdict> {
  const { parts, session } = scope;
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
      result: textResult(call, invalidInput(call, validation.problem), "error"),
    };
  const decision = await parts.guard.check(guardedCall(scope, call, tool, validation.value));
  if (decision.decision === "deny")
    return { kind: "answered", result: textResult(call, decision.reason, "denied") };
  if (decision.decision === "ask" && !approved)
    return { kind: "ask", pending: askingCall(call, decision) };
  return { kind: "run", tool, input: validation.value };
}

/** Says what is wrong with the input of a call, in words the model can act on. */
function invalidInput({ name, input }: ToolCallBlock, problem: string): string {
  // Adapters pass on as text what does not parse.
  const broken = typeof input === "string" ? jsonProblem(input) : null;
  if (typeof input !== "string") return `Invalid input for ${name}: ${problem}`;
  if (broken === null) {
    const advice = /^\s*\{/.test(input)
      ? "; the arguments are a text that holds JSON; pass the object itself"
      : "";
    return `Invalid input for ${name}: ${problem}${advice}`;
  }
  return `Invalid input for ${name}: the arguments are not valid JSON. At character ${broken.offset + 1} ${broken.problem}: ${excerptAt(input, broken.offset)}`;
}

/** The part of a call that its guards are consulted with. */
export type GuardedScope = Pick<CallScope, "parts" | "slot" | "ctx"> & {
  readonly session: Pick<CallScope["session"], "state">;
};

/** Asks the guards about a call that was judged before, for the reason and the suggestions, which the state does not keep. */
export async function askAgain(
  scope: GuardedScope,
  call: ToolCallBlock,
  tool: Tool,
): Promise<ToolDecision> {
  const checked = await validateInput(tool.input, call.input);
  const value = checked.problem === undefined ? checked.value : call.input;
  return scope.parts.guard.check(guardedCall(scope, call, tool, value));
}

/** Returns a tool call as guards see it. */
function guardedCall(
  { parts, slot, session, ctx }: GuardedScope,
  call: ToolCallBlock,
  tool: Tool,
  input: unknown,
): GuardedCall {
  const rules = new RememberedRules(parts, slot, session.state);
  return { call, tool, input, slot, ctx, remembered: () => rules.all() };
}

/** Returns a call that asks, as replies and events list it. */
export function askingCall(
  { id: toolCallId, name, input }: ToolCallBlock,
  decision: ToolDecision | undefined,
): PendingCall {
  return {
    ...{ toolCallId, name, input, state: "asking" },
    ...(decision?.decision === "ask" && {
      reason: decision.reason,
      ...(decision.suggestions && { suggestions: decision.suggestions }),
    }),
  };
}

/** A guard with the name of the plugin that provides it. */
export interface NamedGuard {
  readonly plugin: string;
  readonly guard: ToolGuard;
}

type Ask = Extract<ToolDecision, { decision: "ask" }>;

/**
 * Combines guards into one: deny before ask before allow. A person sees every reason to ask and every suggestion. An ask whose
 * suggestions were all remembered is an allow, and `needsApproval` is considered unless one of the guards does so itself.
 */
export function strictestGuard(guards: readonly NamedGuard[]): ToolGuard {
  return {
    // Known once all plugins are set up.
    get considers() {
      return guards.flatMap(({ guard }) => guard.considers ?? []);
    },
    async check(call) {
      const asks: Ask[] = [];
      const isLeft = guards.some(({ guard }) => guard.considers?.includes("needsApproval"));
      for (const named of isLeft ? guards : [...guards, approvalGuard]) {
        const decision = checkDecision(named.plugin, await named.guard.check(call));
        if (decision.decision === "deny") return decision;
        if (decision.decision === "ask" && !(await isAnswered(call, decision))) asks.push(decision);
      }
      return asks.length > 0 ? joined(asks) : { decision: "allow" };
    },
    modeOf(state) {
      const found = guards.find(({ guard }) => guard.modeOf !== undefined);
      return found?.guard.modeOf?.(state) ?? state.permissionContext.mode;
    },
    ruleProblem(rule) {
      for (const { guard } of guards) {
        const problem = guard.ruleProblem?.(rule) ?? null;
        if (problem !== null) return problem;
      }
      return null;
    },
  };
}

/**
 * Refuses what is no decision: a word that nobody knows must not let a tool run.
 *
 * @throws MiddlewareError
 */
function checkDecision(plugin: string, returned: unknown): ToolDecision {
  const problem = decisionProblem(returned);
  if (problem === null) return returned as ToolDecision;
  const advice = `Return { decision: "allow" }, { decision: "deny", reason } or { decision: "ask", reason, suggestions? }`;
  const sentences = `returned ${problem}. The tool was not run. ${advice}`;
  throw brokenContract("plugin", plugin, "toolGuard", sentences);
}

function decisionProblem(returned: unknown): string | null {
  if (!isRecord(returned)) return `${showKind(returned)} where a decision is needed`;
  const { decision, reason, suggestions = [] } = returned;
  if (decision === "allow") return null;
  if (decision !== "deny" && decision !== "ask") return "an unknown decision";
  if (typeof reason !== "string") return `"${decision}" without a reason that is a text`;
  if (decision === "deny") return null;
  return Array.isArray(suggestions) && suggestions.every(isRule)
    ? null
    : `"ask" with suggestions that are not a list of rules`;
}

function isRule(value: unknown): boolean {
  if (!isRecord(value) || typeof value["tool"] !== "string") return false;
  return value["pattern"] === undefined || typeof value["pattern"] === "string";
}

/** Asks where the tool says that it needs an approval. */
const approvalGuard: NamedGuard = {
  plugin: "needsApproval",
  guard: {
    async check({ tool, input, ctx }) {
      const { name, needsApproval = false } = tool;
      const asks =
        typeof needsApproval === "function"
          ? await needsApproval(input as never, ctx)
          : needsApproval;
      if (!asks) return { decision: "allow" };
      return {
        decision: "ask",
        reason: `Tool "${name}" needs approval.`,
        suggestions: [toolRule(name)],
      };
    },
  },
};

/** Tells whether a person has answered an ask before, for good: by remembering every rule that it suggests. */
async function isAnswered(call: GuardedCall, { suggestions = [] }: Ask): Promise<boolean> {
  if (suggestions.length === 0) return false;
  const remembered = await call.remembered();
  return suggestions.every((rule) => remembered.some((kept) => isSameRule(kept, rule)));
}

/** Returns one ask with the reasons and suggestions of all, each once and in the order of the guards. */
function joined(asks: readonly Ask[]): ToolDecision {
  const reasons = new Set(asks.map(({ reason }) => reason));
  const rules = asks.flatMap(({ suggestions = [] }) => suggestions);
  const byText = new Map(rules.map((rule) => [ruleText(rule), rule]));
  return {
    decision: "ask",
    reason: [...reasons].join("\n"),
    ...(byText.size > 0 && { suggestions: [...byText.values()] }),
  };
}

function ruleText({ tool, pattern }: PermissionRule): string {
  return JSON.stringify([tool, pattern]);
}
