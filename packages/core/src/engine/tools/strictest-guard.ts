import { toolRule } from "../../in-memory/list-guard.js";
import type { GuardedCall, ToolDecision, ToolGuard } from "../../ports/tool-guard.js";
import { isSameRule, type PermissionRule } from "../../state/sections.js";

type Ask = Extract<ToolDecision, { decision: "ask" }>;

/**
 * Combines guards into one: deny before ask before allow. A person sees every reason to ask and every suggestion. An ask whose
 * suggestions were all remembered is an allow, and `needsApproval` is considered unless one of the guards does so itself.
 */
export function strictestGuard(guards: readonly ToolGuard[]): ToolGuard {
  return {
    // Known once all plugins are set up.
    get considers() {
      return guards.flatMap(({ considers = [] }) => considers);
    },
    async check(call) {
      const asks: Ask[] = [];
      const isLeft = guards.some(({ considers }) => considers?.includes("needsApproval"));
      for (const guard of isLeft ? guards : [...guards, approvalGuard]) {
        const decision = await guard.check(call);
        if (decision.decision === "deny") return decision;
        if (decision.decision === "ask" && !(await isAnswered(call, decision))) asks.push(decision);
      }
      return asks.length > 0 ? joined(asks) : { decision: "allow" };
    },
    modeOf(state) {
      const guard = guards.find(({ modeOf }) => modeOf !== undefined);
      return guard?.modeOf?.(state) ?? state.permissionContext.mode;
    },
    ruleProblem(rule) {
      for (const guard of guards) {
        const problem = guard.ruleProblem?.(rule) ?? null;
        if (problem !== null) return problem;
      }
      return null;
    },
  };
}

/** Asks where the tool says that it needs an approval. */
const approvalGuard: ToolGuard = {
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
