import type { Contender, TurnEffort, TurnSample } from "./contender.js";
import type { Case } from "./rounds.js";
import { takeTurns } from "./take-turns.js";
import { TURNS_UNTIL_LOADED } from "./warm-up.js";

/** A contender on sessions that hold about as many messages. */
export class TurnCase implements Case<TurnSample> {
  readonly contender: Contender;
  readonly messages: number;
  readonly #effort: TurnEffort;
  #session = "";
  #grown = Number.POSITIVE_INFINITY;
  #sessions = 0;

  constructor(contender: Contender, messages: number, effort: TurnEffort) {
    this.contender = contender;
    this.messages = messages;
    this.#effort = effort;
  }

  async round(): Promise<TurnSample> {
    if (this.#hasGrown()) await this.#newSession();
    return this.#take(this.#effort);
  }

  /** Tells whether one more round would make the session a fifth longer, or a short one much longer. */
  #hasGrown(): boolean {
    return this.#grown + 2 * this.#effort.batch > Math.max(this.messages / 5, 40);
  }

  async #newSession(): Promise<void> {
    const { store, name } = this.contender;
    this.#session = `${store}-${name}-${this.messages}-${this.#sessions++}`.replaceAll(" ", "-");
    this.#grown = 0;
    await this.contender.seed(this.#session, this.messages);
    await this.#take({ ...this.#effort, batch: TURNS_UNTIL_LOADED });
  }

  async #take(effort: TurnEffort): Promise<TurnSample> {
    const { contender } = this;
    const sample = await (contender.takeTurns?.(this.#session, effort) ??
      takeTurns(contender, this.#session, effort));
    this.#grown += 2 * sample.turns;
    return sample;
  }
}
