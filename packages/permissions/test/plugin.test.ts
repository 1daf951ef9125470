import { type Plugin, type ToolGuard, type ToolPermission, tool } from "@holdfast/core";
import { describePlugin, describeToolGuard, fakePluginHost } from "@holdfast/testing";
import { z } from "zod";
import { type PermissionsOptions, permissions } from "../src/index.js";

const rules = {
  allow: ["execute(git status)", "write_file(./src/**)"],
  ask: ["execute(git push:*)"],
  deny: ["read_file(./.env)", "drop"],
};
const path = z.object({ path: z.string() });
const onPath: ToolPermission<z.infer<typeof path>> = {
  subject: (input) => ({ kind: "path", value: input.path }),
};
const described = { description: "A tool." };
const execute = tool({
  ...{ ...described, name: "execute", input: z.object({ command: z.string() }) },
  permission: { subject: ({ command }) => ({ kind: "command", value: command }) },
  execute: () => "ran",
});
const readFile = tool({
  ...{ ...described, name: "read_file", input: path, permission: onPath, readOnly: true },
  execute: () => "read",
});
const writeFile = tool({
  ...{ ...described, name: "write_file", input: path, permission: onPath },
  execute: () => "written",
});
const drop = tool({ ...described, name: "drop", input: z.object({}), execute: () => "dropped" });
const tools = [execute, readFile, writeFile, drop];

/** The guard that the plugin gives to an agent. */
function guardOf(options: PermissionsOptions): ToolGuard {
  const guard = fakePluginHost().install(permissions({ rules, ...options })).provided.toolGuard;
  if (!guard) throw new Error("no guard was provided");
  return guard;
}

const decisions = {
  default: ["allow", "ask", "ask", "allow", "deny", "allow", "ask", "deny"],
  accept_edits: ["allow", "ask", "ask", "allow", "deny", "allow", "allow", "deny"],
  explore: ["deny", "deny", "deny", "allow", "deny", "deny", "deny", "deny"],
  bypass: ["allow", "ask", "allow", "allow", "deny", "allow", "allow", "deny"],
  dont_ask: ["allow", "deny", "deny", "allow", "deny", "allow", "deny", "deny"],
} as const;

for (const [mode, expected] of Object.entries(decisions)) {
  const calls = [
    { tool: execute, input: { command: "git status" } },
    { tool: execute, input: { command: "git status; git push origin" } },
    { tool: execute, input: { command: "rm -r src" } },
    { tool: readFile, input: { path: "src/main.ts" } },
    { tool: readFile, input: { path: "./src/../.env" } },
    { tool: writeFile, input: { path: "src/main.ts" } },
    { tool: writeFile, input: { path: "notes.md" } },
    { tool: drop, input: {} },
  ].map((call, index) => ({ ...call, decision: expected[index] }));
  const chosen = mode as keyof typeof decisions;
  describeToolGuard(`permissions, mode ${mode} as an option`, {
    create: () => guardOf({ mode: chosen }),
    calls,
  });
  describeToolGuard(`permissions, mode ${mode} of the session`, {
    create: () => guardOf({ mode: "explore" }),
    calls,
    prepare: ({ permissionContext }) => {
      Object.assign(permissionContext, { mode: chosen, isModeSet: true });
    },
  });
}

/** The plugin, beside tools for its rules to be about. */
function withTools(): Plugin {
  const plugin = permissions({ mode: "bypass", rules });
  return {
    ...plugin,
    setup(host) {
      for (const one of tools) host.tool(one);
      plugin.setup(host);
    },
  };
}

describePlugin("permissions", {
  create: withTools,
  toolCalls: [
    { name: "execute", input: { command: "git status" } },
    { name: "write_file", input: { path: "notes.md" } },
  ],
});
