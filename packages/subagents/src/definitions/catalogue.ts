import type { Filesystem } from "@holdfast/core";
import { reasonOf } from "@holdfast/core/plugin-kit";
import type { SubagentsSettings } from "../subagents-options.js";
import { DefinitionFiles, type DefinitionProblem } from "./definition-files.js";
import type { SubagentDefinition } from "./subagent-definition.js";

/** Parts of a {@link Catalogue}. */
export interface CatalogueParts {
  readonly settings: SubagentsSettings;
  /** Returns the agent's filesystem, if it has one. */
  filesystem(): Filesystem | undefined;
  /** Told about every problem of a file once, and again when the problem has changed. */
  onProblem(problem: DefinitionProblem): void;
}

/** The subagents that there are now: those of the options, and those that files define. */
export class Catalogue {
  readonly #parts: CatalogueParts;
  #files: DefinitionFiles | undefined;
  #problems: readonly DefinitionProblem[] = [];

  constructor(parts: CatalogueParts) {
    this.#parts = parts;
  }

  /** Problems of the files, as they were last read. */
  get problems(): readonly DefinitionProblem[] {
    return this.#problems;
  }

  /** Returns all subagents, hidden ones included. Files that cannot be read are a problem, and hide no others. */
  async all(): Promise<readonly SubagentDefinition[]> {
    const { settings, filesystem, onProblem } = this.#parts;
    const { agents, directory, models } = settings;
    this.#files ??= new DefinitionFiles({
      ...{ directory, models, shared: filesystem()?.shared },
      taken: agents.map(({ name }) => name),
    });
    const { definitions, problems } = await this.#files.read().catch((error: unknown) => ({
      definitions: [],
      problems: [{ file: String(directory), problem: `it cannot be read: ${reasonOf(error)}` }],
    }));
    const known = new Set(this.#problems.map((one) => JSON.stringify(one)));
    this.#problems = problems;
    for (const one of problems) if (!known.has(JSON.stringify(one))) onProblem(one);
    return [...agents, ...definitions];
  }

  /** Returns the subagents that the model is told about. */
  async listed(): Promise<readonly SubagentDefinition[]> {
    return (await this.all()).filter(({ hidden }) => !hidden);
  }

  /** Returns the subagent of this name; null when there is none. */
  async find(name: string): Promise<SubagentDefinition | null> {
    return (await this.all()).find((one) => one.name === name) ?? null;
  }
}
