import { createHash } from "node:crypto";
import {
  type Filesystem,
  InvalidInputError,
  type PromptStep,
  StateTooLargeError,
  type TokenCounter,
} from "@holdfast/core";
import { FileCache } from "@holdfast/core/plugin-kit";
import { fitSections } from "./fit-sections.js";
import { knowledgeIndex } from "./knowledge-index.js";
import type { Section } from "./section.js";
import { type SkillEntry, skillIndex } from "./skill.js";
import {
  type FileHead,
  fileHead,
  guideSection,
  instructionsSection,
  knowledgeSection,
  memorySection,
  skillsSection,
} from "./workspace-sections.js";

/** Options of a {@link WorkspacePrompt}. */
export interface WorkspacePromptOptions {
  readonly filesystem: Filesystem;
  readonly counter: () => TokenCounter;
  readonly maxTokens: number;
  readonly skills: readonly SkillEntry[];
  readonly activeGroups: readonly string[];
  /** True when the model has the file tools, so that the prompt may mention them. */
  readonly hasTools: boolean;
  readonly readOnlyNames: readonly string[];
}

/** Fitted prompts that are cached. */
const MAX_FITTED = 64;

/**
 * Sections that a workspace adds to the system prompt. The files are read at each step: the text stays the same while they
 * do, and an edit counts at the next step.
 */
export class WorkspacePrompt {
  readonly #options: WorkspacePromptOptions;
  readonly #titles = new FileCache<string>();
  readonly #skills = new FileCache<SkillEntry | null>();
  readonly #fitted = new Map<string, string>();

  constructor(options: WorkspacePromptOptions) {
    this.#options = options;
  }

  /** Adds the sections to a prompt. */
  async append(prompt: string, step: PromptStep): Promise<string> {
    const text = this.#fit(await this.#sections(step));
    if (text === "") return prompt;
    return prompt === "" ? text.trim() : `${prompt}\n${text.trimEnd()}`;
  }

  async #sections({ slot, state }: PromptStep): Promise<Section[]> {
    const { filesystem, maxTokens, hasTools, readOnlyNames, activeGroups } = this.#options;
    const { shared } = filesystem;
    const [instructions, memory, knowledge, skills] = await Promise.all([
      // An error is an error: an agent must not run without its operator's instructions because a disk failed.
      shared?.read("AGENTS.md") ?? null,
      this.#memory(slot),
      shared && knowledgeIndex(shared, this.#titles),
      skillIndex(shared, this.#options.skills, this.#skills),
    ]);
    const active = new Set(state.toolContext.activatedGroups ?? activeGroups);
    const offered = skills.filter(({ group }) => group === undefined || active.has(group));
    return [
      hasTools ? guideSection(readOnlyNames, slot.userId !== null) : null,
      instructionsSection(fileHead(instructions, maxTokens), hasTools),
      memorySection(memory, hasTools),
      knowledge ? knowledgeSection(knowledge, hasTools) : null,
      skillsSection(offered, hasTools),
    ].filter((section) => section !== null);
  }

  /**
   * Reads MEMORY.md. One that is refused, because a command replaced it by a link or let it grow too large, must not fail
   * every call of its user, who could not repair it then.
   */
  async #memory(slot: PromptStep["slot"]): Promise<FileHead> {
    const { filesystem, maxTokens } = this.#options;
    try {
      return fileHead(await filesystem.read(slot, "MEMORY.md"), maxTokens);
    } catch (error) {
      if (InvalidInputError.is(error)) return { text: "" };
      if (StateTooLargeError.is(error))
        return { text: "[MEMORY.md is too large to be read; replace it with a shorter one.]" };
      throw error;
    }
  }

  /** Fits sections into the budget; results are cached by content, because counting tokens is expensive. */
  #fit(sections: readonly Section[]): string {
    const { maxTokens } = this.#options;
    const counter = this.#options.counter();
    const hash = createHash("sha256").update(counter.id);
    for (const { intro, body, cutNote } of sections) {
      const note = cutNote?.({ chars: 0, lines: 0 }, body.length) ?? "";
      hash.update(`\0${body.length}\0${intro}\0${note}\0`).update(body);
    }
    const key = hash.digest("base64");
    const text = this.#fitted.get(key) ?? fitSections(sections, maxTokens, counter);
    this.#fitted.delete(key);
    this.#fitted.set(key, text);
    for (const oldest of this.#fitted.keys()) {
      if (this.#fitted.size <= MAX_FITTED) break;
      this.#fitted.delete(oldest);
    }
    return text;
  }
}
