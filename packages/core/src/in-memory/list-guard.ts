import { parseOptions } from "../plugin-kit/parse-options.js";
import * as s from "../plugin-kit/schema/index.js";
import type { ToolGuard } from "../ports/tool-guard.js";
import type { SuggestedRule } from "../state/sections.js";

/** Options of {@link listGuard}. */
export interface ListGuardOptions {
  /** Names of tools that never run. */
  readonly deny?: readonly string[] | undefined;
  /** Names of tools that run only after a person approves. A name in both lists is denied. */
  readonly ask?: readonly string[] | undefined;
}

const names = s.array(s.string().min(1)).optional();
const optionsSchema = s.strictObject({ deny: names, ask: names });

/**
 * Decides by tool name alone: the reference {@link ToolGuard}. A tool in neither list may run.
 *
 * @throws ConfigurationError when an option is wrong
 * @example
 * const guard = listGuard({ deny: ["drop_table"], ask: ["send_mail"] });
 */
export function listGuard(options: ListGuardOptions): ToolGuard {
  const parsed = parseOptions(optionsSchema, options, "listGuard");
  const denied = new Set(parsed.deny);
  const asked = new Set(parsed.ask);
  return {
    check({ call }) {
      if (denied.has(call.name))
        return { decision: "deny", reason: `Tool "${call.name}" is not allowed here.` };
      if (asked.has(call.name))
        return {
          decision: "ask",
          reason: `Tool "${call.name}" needs approval.`,
          suggestions: [toolRule(call.name)],
        };
      return { decision: "allow" };
    },
  };
}

/** Returns the rule that allows every call of a tool. */
export function toolRule(name: string): SuggestedRule {
  return { tool: name, text: `Always allow ${name}`, broad: true };
}
