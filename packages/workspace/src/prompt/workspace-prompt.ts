import { createHash } from "node:crypto";
import {
  type Filesystem,
  InvalidInputError,
  type PromptStep,
  StateTooLargeError,
  type TokenCounter,
} from "@holdfast/core";
import { FileFacts } from "./file-facts.js";
import { type FileHead, fileHead } from "./file-head.js";
import { fitSections } from "./fit-sections.js";
import { knowledgeIndex } from "./knowledge-index.js";
import type { Section } from "./section.js";
import type { SkillEntry } from "./skill.js";
import { skillIndex } from "./skill-index.js";
import {
  guideSection,
  instructionsSection,
  knowledgeSection,
  memorySection,
  skillsSection,
} from "./workspace-sections.js";

/** What the prompt of a workspace is made of. */
export interface WorkspacePromptOptions {
  readonly filesystem: Filesystem;
  readonly counter: () => TokenCounter;
  readonly maxTokens: number;
  readonly skills: readonly SkillEntry[];
  readonly activeGroups: readonly string[];
  /** Whether the model has the file tools, and so can be told to use them. */
  readonly hasTools: boolean;
  readonly readOnlyNames: readonly string[];
}

/** Fitted prompts that are remembered. */
const MAX_FITTED = 64;

/**
 * The sections a workspace adds to the system prompt, read anew at each step: the same text while nothing changed, and a
 * change at once.
 */
export class WorkspacePrompt {
  readonly #options: WorkspacePromptOptions;
  readonly #titles = new FileFacts<string>();
  readonly #skills = new FileFacts<SkillEntry | null>();
  readonly #fitted = new Map<string, string>();

  constructor(options: WorkspacePromptOptions) {
    this.#options = options;
  }

  async append(prompt: string, step: PromptStep): Promise<string> {
    const text = this.#fit(await this.#sections(step));
    if (text === "") return prompt;
    return prompt === "" ? text.trim() : `${prompt}\n${text.trimEnd()}`;
  }

  async #sections({ slot, state }: PromptStep): Promise<Section[]> {
    const { filesystem, maxTokens, hasTools, readOnlyNames, activeGroups } = this.#options;
    const { shared } = filesystem;
    const [instructions, memory, knowledge, skills] = await Promise.all([
      // An error is an error: an agent must not run without its operator's instructions because a disk was busy.
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
   * A MEMORY.md that is refused, because a command made a link of it or let it grow too large, must not end every call of
   * its user: nobody could mend it then.
   */
  async #memory(slot: PromptStep["slot"]): Promise<FileHead> {
    const { filesystem, maxTokens } = this.#options;
    try {
      return fileHead(await filesystem.read(slot, "MEMORY.md"), maxTokens);
    } catch (error) {
      if (InvalidInputError.is(error)) return { text: "" };
      if (StateTooLargeError.is(error))
        return { text: "[MEMORY.md is too large to be read; it has to be written anew.]" };
      throw error;
    }
  }

  /** Counting tokens is not for nothing: what was fitted once is remembered, by its content. */
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
