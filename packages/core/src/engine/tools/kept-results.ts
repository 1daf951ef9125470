import { createMessage } from "../../message/create-message.js";
import type { Message, ToolResultBlock } from "../../message/message.js";
import type { CallScope } from "../call-scope.js";
import { saveStep } from "../save/save-session.js";
import { addResults } from "./tool-results.js";

/**
 * Keeps the result of each tool as soon as it has finished, with `persistence: "step"`: when the process dies while others
 * still run, the outcome of this one is known.
 */
export class KeptResults {
  readonly #scope: CallScope;
  #running: number;
  readonly #kept = new Map<string, ToolResultBlock>();
  #isSaved = true;
  #saving: Promise<void> = Promise.resolve();

  private constructor(scope: CallScope, running: number) {
    this.#scope = scope;
    this.#running = running;
  }

  /**
   * Returns nothing where the results of a step are added together: without `persistence: "step"`, and for one tool.
   *
   * @param running - number of tools that run
   */
  static of(scope: CallScope, running: number): KeptResults | undefined {
    const isKept = scope.parts.settings.persistence === "step" && running > 1;
    return isKept ? new KeptResults(scope, running) : undefined;
  }

  /** Notes that a tool has ended: with its result, or with null when the answer comes from outside. */
  async finished(
    toolCallId: string,
    result: ToolResultBlock | null,
    original: ToolResultBlock | undefined,
  ): Promise<void> {
    this.#running--;
    // The last one is saved with the whole step.
    if (!result || this.#running === 0) return;
    addResults(this.#scope, [result], [original ?? result]);
    this.#kept.set(toolCallId, result);
    this.#isSaved = false;
    await this.#save();
  }

  /** Returns the results that are not in the context yet. */
  without(results: ReadonlyMap<string, ToolResultBlock>): ReadonlyMap<string, ToolResultBlock> {
    return new Map([...results].filter(([id]) => !this.#kept.has(id)));
  }

  /** Puts what a middleware made of a result in its place. */
  amend(results: ReadonlyMap<string, ToolResultBlock>): void {
    const { state } = this.#scope.session;
    for (const [id, kept] of this.#kept) {
      const result = results.get(id);
      if (!result || result === kept) continue;
      const holds = ({ content }: Message) =>
        content.some((block) => block.type === "tool_result" && block.toolCallId === id);
      const index = state.messages.findLastIndex(holds);
      const message = state.messages[index];
      if (!message) continue;
      const { id: messageId, createdAt } = message;
      const amended = createMessage("tool", [result], { id: messageId, createdAt });
      state.contextMutable().replace(index, amended);
    }
  }

  /** One save at a time; results that come meanwhile share the next one. */
  #save(): Promise<void> {
    this.#saving = this.#saving.then(async () => {
      if (this.#isSaved) return;
      this.#isSaved = true;
      await saveStep(this.#scope);
    });
    return this.#saving;
  }
}
