import type { Tool } from "../../tool/tool.js";

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
