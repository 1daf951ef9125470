import type { AgentStateStore, Revision, Slot } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { sampleDrafts, sampleHead, sampleTurn } from "../stores/sample-turn.js";
import { seedSession } from "../stores/seed-session.js";

/** A session that takes turns the way the engine does: gate, load, log, save, release. */
export class StoreTurns {
  readonly #store: AgentStateStore;
  readonly #slot: Slot;
  #revision: Revision | null = null;
  #messages = 0;

  constructor(store: AgentStateStore, sessionId: string) {
    this.#store = store;
    this.#slot = { agentId: "bench", userId: "user", sessionId };
  }

  /** Fills the new session with as many messages. */
  async fill(messages: number): Promise<void> {
    this.#revision = await seedSession(this.#store, this.#slot, messages);
    this.#messages = messages;
  }

  /** One warm turn: lease and revision check, then save, log and release. */
  async turn(): Promise<void> {
    const { gate } = this.#store.fuses ?? {};
    if (gate === undefined) throw new Error("the store does not fuse its gate");
    const lease = await gate.acquire(this.#slot, {
      callId: uuidv7(),
      known: () => this.#revision ?? undefined,
    });
    if (this.#revision !== null && lease.loaded !== "unchanged")
      throw new Error("the turn is not warm");
    const append = sampleTurn();
    this.#revision = await this.#store.save(this.#slot, {
      op: uuidv7(),
      expected: this.#revision,
      head: sampleHead(this.#slot),
      keep: this.#messages,
      replace: [],
      append,
      lease: lease.token,
      release: true,
      log: sampleDrafts(append),
    });
    this.#messages += append.length;
    await lease.release();
  }
}
