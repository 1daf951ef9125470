import type { ToolDecision, ToolGuard } from "../../ports/tool-guard.js";

type Ask = Extract<ToolDecision, { decision: "ask" }>;

/**
 * Combines guards into one: deny before ask before allow. A person sees every reason to ask and every suggestion. All guards
 * are told which rules a person wants remembered.
 */
export function strictestGuard(guards: readonly ToolGuard[]): ToolGuard {
  return {
    async check(call) {
      const asks: Ask[] = [];
      for (const guard of guards) {
        const decision = await guard.check(call);
        if (decision.decision === "deny") return decision;
        if (decision.decision === "ask") asks.push(decision);
      }
      return asks.length > 0 ? joined(asks) : { decision: "allow" };
    },
    async remember(call, rules) {
      for (const guard of guards) await guard.remember?.(call, rules);
    },
  };
}

/** Returns one ask with the reasons and suggestions of all, each once and in the order of the guards. */
function joined(asks: readonly Ask[]): ToolDecision {
  const reasons = new Set(asks.map(({ reason }) => reason));
  const rules = asks.flatMap(({ suggestions = [] }) => suggestions);
  const byText = new Map(
    rules.map((rule) => [JSON.stringify([rule.tool, rule.pattern, rule.source]), rule]),
  );
  return {
    decision: "ask",
    reason: [...reasons].join("\n"),
    ...(byText.size > 0 && { suggestions: [...byText.values()] }),
  };
}
