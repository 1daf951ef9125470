import type { ToolDecision, ToolGuard } from "../../ports/tool-guard.js";

/** Several guards as one: deny before ask before allow. All are told what a person wants remembered. */
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
