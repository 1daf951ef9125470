import type { AgentEvent, Usage } from "@holdfast/core";

/** Returns the price of one request to a model. */
export type Price = (usage: Usage, modelId: string) => number;

/** Sums up what the model calls of a chat used, subagents and background work included. */
export class UsageMeter {
  inputTokens = 0;
  outputTokens = 0;
  /** Money in the unit of the price; null without one. */
  money: number | null;
  /** Tokens of the last request of the session and its reply; null before there was one. */
  contextTokens: number | null = null;
  readonly #price: Price | undefined;

  constructor(price: Price | undefined) {
    this.#price = price;
    this.money = price === undefined ? null : 0;
  }

  /** Takes note of an event of this process. @param isHere - it is about the session of the chat */
  note(event: AgentEvent, isHere: boolean): void {
    if (event.type !== "model_call_end") return;
    const { usage, model, purpose, contextTokens } = event;
    this.inputTokens += usage.inputTokens;
    this.outputTokens += usage.outputTokens;
    if (this.#price && this.money !== null) this.money += this.#price(usage, model);
    if (isHere && purpose === "reasoning" && contextTokens !== undefined)
      this.contextTokens = contextTokens;
  }
}
