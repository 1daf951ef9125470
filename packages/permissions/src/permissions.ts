import { definePlugin, type Plugin } from "@holdfast/core";
import { PermissionGuard } from "./permission-guard.js";
import { type PermissionsOptions, readPermissionsOptions } from "./permissions-options.js";
import { type RuledTool, ruleProblems } from "./rules/rule-problems.js";

/**
 * Decides which tool calls run, which ask a person and which are denied, by rules and a mode.
 *
 * @throws ConfigurationError for a wrong option or a rule that cannot be read; an agent that lacks a tool which a rule names
 * is not built
 * @example
 * permissions({
 *   rules: {
 *     allow: ["execute(npm run test:*)"],
 *     ask: ["execute(git push:*)"],
 *     deny: ["read_file(./.env)"],
 *   },
 * });
 */
export function permissions(options: PermissionsOptions = {}): Plugin {
  const settings = readPermissionsOptions(options);
  const { allow, ask, deny } = settings.rules;
  return definePlugin({
    name: "permissions",
    contract: 1,
    setup(host) {
      let known: readonly RuledTool[] = [];
      let mayGrow = false;
      host.onBuild((agent) => {
        mayGrow = agent.mayGrow;
        known = agent.tools.map(({ name, permission }) => ({
          name,
          hasSubject: permission !== undefined,
        }));
        return ruleProblems([...deny, ...ask, ...allow], known, { mayGrow });
      });
      const guard = new PermissionGuard(settings, (rule) => {
        const [problem] = ruleProblems([rule], known, { mayGrow });
        return problem ?? null;
      });
      host.provide("toolGuard", guard);
    },
  });
}
