import * as s from "../../plugin-kit/schema/index.js";
import { showKind } from "../../plugin-kit/show-value.js";
import type { AgentState } from "../../state/agent-state.js";
import { type Tool, tool, toolResult } from "../../tool/tool.js";
import type { ToolGroup } from "../../tool/tool-group.js";
import { toolProblem } from "../assemble/part-problems.js";
import { brokenContract } from "../assemble/run-hook.js";

/** Returns the tool source of a plugin, blamed by name when what it returns is no list of tools. */
export function soundSource(plugin: string, source: () => readonly Tool[]): () => readonly Tool[] {
  return () => {
    const tools: unknown = source();
    const wrong = Array.isArray(tools) ? tools.map(toolProblem).find((one) => one !== null) : null;
    if (Array.isArray(tools) && wrong === undefined) return tools;
    const problem = wrong
      ? `returned something else than tools: ${wrong}`
      : `returned ${showKind(tools)} where a list of tools is needed`;
    throw brokenContract("plugin", plugin, "toolSource", problem);
  };
}

/** The tools of an agent: those it was built with, and those that come and go. */
export class ToolBox {
  readonly #built: ReadonlyMap<string, Tool>;
  readonly #sources: readonly (() => readonly Tool[])[];

  constructor(built: ReadonlyMap<string, Tool>, sources: readonly (() => readonly Tool[])[]) {
    this.#built = built;
    this.#sources = sources;
  }

  /** Every tool there is now, whichever group it is in: first those the agent was built with, then source by source. */
  all(): readonly Tool[] {
    if (this.#sources.length === 0) return [...this.#built.values()];
    const tools = new Map(this.#built);
    for (const source of this.#sources)
      for (const tool of source()) if (!tools.has(tool.name)) tools.set(tool.name, tool);
    return [...tools.values()];
  }

  /** Returns the same tools without those that `isKept` leaves out. */
  filter(isKept: (tool: Tool) => boolean): ToolBox {
    const built = [...this.#built].filter(([, tool]) => isKept(tool));
    const sources = this.#sources.map((source) => () => source().filter(isKept));
    return new ToolBox(new Map(built), sources);
  }

  /** The tool of this name, as {@link ToolBox.all} has it. */
  get(name: string): Tool | undefined {
    const built = this.#built.get(name);
    if (built) return built;
    for (const source of this.#sources) {
      const found = source().find((tool) => tool.name === name);
      if (found) return found;
    }
    return undefined;
  }
}

/** The groups that are on in this session. */
function activeGroups(
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
    input: s.object({ groups: s.array(s.string()) }),
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
