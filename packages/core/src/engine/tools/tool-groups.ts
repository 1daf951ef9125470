import { z } from "zod";
import type { AgentState } from "../../state/agent-state.js";
import { type Tool, tool, toolResult } from "../../tool/tool.js";
import type { ToolGroup } from "../../tool/tool-group.js";
import type { ToolBox } from "../assemble/tool-box.js";

/** The groups that are on in this session. */
export function activeGroups(
  state: AgentState,
  groups: ReadonlyMap<string, ToolGroup>,
): ReadonlySet<string> {
  const chosen = state.toolContext.activatedGroups;
  if (chosen !== null) return new Set(chosen.filter((name) => groups.has(name)));
  const active = new Set<string>();
  for (const group of groups.values()) if (group.active ?? false) active.add(group.name);
  return active;
}

/** The tools a session may use now: those without a group and those of active groups. */
export function activeTools(
  state: AgentState,
  tools: ToolBox,
  groups: ReadonlyMap<string, ToolGroup>,
): readonly Tool[] {
  const active = activeGroups(state, groups);
  return tools.all().filter(({ group }) => group === undefined || active.has(group));
}

/** The tool with which a model chooses its groups; the choice lives in the session's state. */
export function resetEquippedTools(groups: readonly ToolGroup[]): Tool {
  const names = groups.map(({ name }) => name);
  const list = groups.map(
    ({ name, description }) => `- ${name}${description ? `: ${description}` : ""}`,
  );
  return tool({
    name: "reset_equipped_tools",
    description: `Switches on exactly the named groups of tools and switches off the others. Groups:\n${list.join("\n")}`,
    input: z.object({ groups: z.array(z.string()) }),
    execute({ groups: wanted }, ctx) {
      const unknown = wanted.filter((name) => !names.includes(name));
      if (unknown.length > 0)
        return toolResult({
          state: "error",
          output: `No such group: ${unknown.join(", ")}. There are: ${names.join(", ")}.`,
        });
      if (ctx.agentState) ctx.agentState.toolContext.activatedGroups = [...new Set(wanted)];
      return wanted.length === 0 ? "All groups are off." : `On: ${wanted.join(", ")}.`;
    },
  });
}
