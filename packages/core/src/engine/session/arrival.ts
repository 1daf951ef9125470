import type { AgentEvent } from "../../events/agent-event.js";
import type { OpenedState, OpenOptions } from "./open-session.js";

/** Where a call found its state. */
type Source = Extract<AgentEvent, { type: "state_loaded" }>["source"];

/** Times how a call comes to its session: the wait for its turn apart from the rest. */
export class Arrival {
  /** What to take the lease with. */
  readonly options: OpenOptions;
  readonly #began = performance.now();
  #waitBegan: number | undefined;
  #waitedMs = 0;

  constructor(options: OpenOptions) {
    this.options = {
      ...options,
      onWait: () => {
        this.#waitBegan ??= performance.now();
        options.onWait?.();
      },
    };
  }

  /** It has its turn. */
  entered(): void {
    if (this.#waitBegan !== undefined) this.#waitedMs = performance.now() - this.#waitBegan;
  }

  /** It has the state. */
  loaded({ state, revision }: OpenedState, source: Source): void {
    this.options.emit({
      type: "state_loaded",
      source,
      bytes: source === "store" ? bytesOf(state) : 0,
      messages: state.context.length,
      revision,
      waitedMs: this.#waitedMs,
      durationMs: performance.now() - this.#began - this.#waitedMs,
    });
  }
}

function bytesOf(state: OpenedState["state"]): number {
  return Buffer.byteLength(JSON.stringify(state.head()), "utf8") + state.contextBytes();
}
