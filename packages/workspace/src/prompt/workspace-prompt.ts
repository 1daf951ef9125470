import { createHash } from "node:crypto";
import {
  type Filesystem,
  InvalidInputError,
  type PromptStep,
  StateTooLargeError,
  type TokenCounter,
} from "@holdfast/core";
import { BoundedMap } from "@holdfast/core/plugin-kit";
import { fitSections } from "./fit-sections.js";
import { type KnowledgeIndex, KnowledgeReader } from "./knowledge-index.js";
import type { Section } from "./section.js";
import { type SkillEntry, SkillReader } from "./skill.js";
import {
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

/** Texts that are cached by their content. */
const MAX_FITTED = 64;

const MEMORY_FILE = "MEMORY.md";

/** Everything that the sections are made of. The same objects make the same text. */
interface PromptInputs {
  readonly instructions: Uint8Array | null;
  readonly memory: Uint8Array | null | "too large";
  readonly knowledge: KnowledgeIndex | null;
  readonly skills: readonly SkillEntry[];
  readonly groups: readonly string[];
  readonly hasUser: boolean;
  readonly counter: TokenCounter;
}

interface MadeText {
  readonly inputs: PromptInputs;
  readonly text: string;
}

/**
 * Sections that a workspace adds to the system prompt. The text stays the same, and is not made again, while its files do. An
 * edit counts at the next step; one in a store, by another process, at the next call.
 */
export class WorkspacePrompt {
  readonly #options: WorkspacePromptOptions;
  readonly #knowledge: KnowledgeReader;
  readonly #skills: SkillReader;
  readonly #fitted = new BoundedMap<string, string>({
    maxEntries: MAX_FITTED,
    leastRecentlyUsed: true,
  });
  /** By `MEMORY.md`, which differs from user to user, for as long as its bytes are in use. */
  readonly #made = new WeakMap<object, MadeText>();

  constructor(options: WorkspacePromptOptions) {
    this.#options = options;
    this.#knowledge = new KnowledgeReader();
    this.#skills = new SkillReader(options.skills);
  }

  /** Asks a store whether another process has changed `MEMORY.md`, so that {@link append} need not. */
  async prefetch({ slot }: Pick<PromptStep, "slot">): Promise<void> {
    // What fails here fails where the file is read.
    await this.#options.filesystem.refresh?.(slot, MEMORY_FILE).catch(() => undefined);
  }

  /** Adds the sections to a prompt. */
  async append(prompt: string, step: PromptStep): Promise<string> {
    const inputs = await this.#inputs(step);
    const text = this.#text(inputs);
    if (text === "") return prompt;
    return prompt === "" ? text.trim() : `${prompt}\n${text.trimEnd()}`;
  }

  #text(inputs: PromptInputs): string {
    const owner = typeof inputs.memory === "object" ? (inputs.memory ?? this) : this;
    const known = this.#made.get(owner);
    if (known && isSame(known.inputs, inputs)) return known.text;
    const text = this.#fit(this.#sections(inputs), inputs);
    this.#made.set(owner, { inputs, text });
    return text;
  }

  async #inputs({ slot, state }: PromptStep): Promise<PromptInputs> {
    const { filesystem, activeGroups, counter, skills: given } = this.#options;
    const { shared } = filesystem;
    const [instructions, memory, knowledge, skills] = await Promise.all([
      // An error is an error: an agent must not run without its operator's instructions because a disk failed.
      shared?.read("AGENTS.md") ?? null,
      this.#memory(slot),
      shared?.list("knowledge").then((list) => this.#knowledge.read(shared, list)) ?? null,
      shared?.list("skills").then((list) => this.#skills.read(shared, list)) ?? given,
    ]);
    const groups = [...(state.toolContext.activatedGroups ?? activeGroups)];
    const hasUser = slot.userId !== null;
    return { instructions, memory, knowledge, skills, groups, hasUser, counter: counter() };
  }

  #sections({ instructions, memory, knowledge, skills, groups, hasUser }: PromptInputs): Section[] {
    const { maxTokens, hasTools, readOnlyNames } = this.#options;
    const notes =
      memory === "too large"
        ? { text: "[MEMORY.md is too large to be read; replace it with a shorter one.]" }
        : fileHead(memory, maxTokens);
    const active = new Set(groups);
    const offered = skills.filter(({ group }) => group === undefined || active.has(group));
    return [
      hasTools ? guideSection(readOnlyNames, hasUser) : null,
      instructionsSection(fileHead(instructions, maxTokens), hasTools),
      memorySection(notes, hasTools),
      knowledge ? knowledgeSection(knowledge, hasTools) : null,
      skillsSection(offered, hasTools),
    ].filter((section) => section !== null);
  }

  /**
   * Reads MEMORY.md. One that is refused, because a command replaced it by a link or let it grow too large, must not fail
   * every call of its user, who could not repair it then.
   */
  async #memory(slot: PromptStep["slot"]): Promise<PromptInputs["memory"]> {
    const { filesystem } = this.#options;
    try {
      return await (filesystem.readCached?.(slot, MEMORY_FILE) ??
        filesystem.read(slot, MEMORY_FILE));
    } catch (error) {
      if (InvalidInputError.is(error)) return null;
      if (StateTooLargeError.is(error)) return "too large";
      throw error;
    }
  }

  /** Fits sections into the budget; results are cached by content, because counting tokens is expensive. */
  #fit(sections: readonly Section[], { counter }: PromptInputs): string {
    const hash = createHash("sha256").update(counter.id);
    for (const { intro, body, cutNote } of sections) {
      const note = cutNote?.({ chars: 0, lines: 0 }, body.length) ?? "";
      hash.update(`\0${body.length}\0${intro}\0${note}\0`).update(body);
    }
    const key = hash.digest("base64");
    const text = this.#fitted.get(key) ?? fitSections(sections, this.#options.maxTokens, counter);
    this.#fitted.set(key, text);
    return text;
  }
}

function isSame(a: PromptInputs, b: PromptInputs): boolean {
  const { groups, ...rest } = a;
  return (
    groups.length === b.groups.length &&
    groups.every((group, index) => group === b.groups[index]) &&
    Object.entries(rest).every(([name, value]) => value === b[name as keyof PromptInputs])
  );
}
