import { toolRule } from "../../in-memory/list-guard.js";
import { isRecord } from "../../json/json.js";
import { showKind } from "../../plugin-kit/show-value.js";
import type { GuardedCall, ToolDecision, ToolGuard } from "../../ports/tool-guard.js";
import { isSameRule, type PermissionRule } from "../../state/sections.js";
import { brokenContract } from "../assemble/run-hook.js";

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
