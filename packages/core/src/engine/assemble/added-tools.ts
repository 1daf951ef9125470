import type { Middleware } from "../../middleware/middleware.js";
import type { Tool } from "../../tool/tool.js";
import type { ToolGroup } from "../../tool/tool-group.js";
import { OUTPUT_TOOL } from "../loop/structured-output.js";
import { isListOfNames } from "./order-middleware.js";
import { middlewareProblem, toolGroupProblem, toolProblem } from "./part-problems.js";

/** Tools, tool groups and middleware that the user and plugins bring while an agent is put together. */
export class AddedTools {
  readonly tools: Map<string, Tool> = new Map();
  readonly groups: Map<string, ToolGroup> = new Map();
  readonly middleware: Middleware[] = [];
  readonly #problems: string[];

  constructor(problems: string[]) {
    this.#problems = problems;
  }

  use(middleware: Middleware): void {
    const problem = middlewareProblem(middleware);
    if (problem !== null) {
      this.#problems.push(problem);
      return;
    }
    if (this.middleware.some(({ name }) => name === middleware.name))
      this.#problems.push(`two middleware are named "${middleware.name}"`);
    for (const field of ["before", "after"] as const)
      if (!isListOfNames(middleware[field])) {
        this.#problems.push(
          `middleware "${middleware.name}": ${field} must be a name or a list of names`,
        );
        return;
      }
    this.middleware.push(middleware);
  }

  tool(tool: Tool): void {
    const problem = toolProblem(tool);
    if (problem !== null) {
      this.#problems.push(problem);
      return;
    }
    if (tool.name === OUTPUT_TOOL)
      this.#problems.push(`tool "${OUTPUT_TOOL}" is the engine's own, for structured output`);
    if (this.tools.has(tool.name)) this.#problems.push(`two tools are named "${tool.name}"`);
    this.tools.set(tool.name, tool);
    if (tool.group !== undefined && !this.groups.has(tool.group))
      this.groups.set(tool.group, { name: tool.group, tools: [] });
  }

  group(group: ToolGroup): void {
    const problem = toolGroupProblem(group);
    if (problem !== null) {
      this.#problems.push(problem);
      return;
    }
    const known = this.groups.get(group.name);
    if (known && known.tools.length > 0)
      this.#problems.push(`two tool groups are named "${group.name}"`);
    this.groups.set(group.name, group);
    for (const tool of group.tools) this.tool(Object.freeze({ ...tool, group: group.name }));
  }
}
