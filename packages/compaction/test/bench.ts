import {
  type AgentState,
  type CompactionResult,
  type EventBody,
  type LogMark,
  type Message,
  type Model,
  type Offloader,
  RuntimeContext,
  type TokenCounter,
} from "@holdfast/core";
import {
  askModel,
  type CompactionRequest,
  isContextOverflow,
  type OffloadReference,
  tokenCounterOf,
} from "@holdfast/core/plugin-kit";
import { ContextCompactor } from "../src/compactor/context-compactor.js";
import { type CompactionOptions, TokenMeter } from "../src/index.js";
import { tools } from "./option-sets.js";

/** Counts fast: four characters are a token. */
export const quarters = (): TokenCounter =>
  tokenCounterOf({ id: "quarters", countText: (text) => Math.ceil(text.length / 4) });

const slot = { userId: "u", agentId: "a", sessionId: "s" };

/** A compactor and everything it is seen doing. */
export class Bench {
  readonly meter: TokenMeter = new TokenMeter(quarters());
  readonly compactor: ContextCompactor;
  readonly events: EventBody[] = [];
  readonly marks: LogMark[] = [];
  /** What was announced before it left. */
  readonly announced: Message[] = [];
  readonly offloaded: Message[] = [];
  readonly prompt = { system: "You help.", tools };
  readonly #model: Model;
  /** Called at everything that happens, with its name. */
  onStep: (what: string) => void = () => {};

  constructor(model: Model, options: CompactionOptions) {
    this.#model = model;
    this.compactor = new ContextCompactor(options, {
      ask: ({ from, ...question }) =>
        askModel({ ...question, emit: (event) => "emit" in from && from.emit(event) }),
      meter: () => this.meter,
      offloader: () => this.#offloader,
    });
  }

  readonly #offloader: Offloader = {
    offloadContext: async (_, messages): Promise<OffloadReference> => {
      this.onStep("offload");
      this.offloaded.push(...messages);
      await Promise.resolve();
      this.onStep("offloaded");
      return { reference: "r", readBack: `Read\nfile ${this.offloaded.length}.` };
    },
    offloadToolResult: async () => ({ reference: "r", readBack: "Read." }),
  };

  compact(state: AgentState, fields: Partial<CompactionRequest> = {}): Promise<CompactionResult> {
    const ctx = RuntimeContext.of({ userId: "u", sessionId: "s" });
    ctx.agentState = state;
    return this.compactor.compact({
      slot,
      state,
      ctx,
      cause: "step",
      force: false,
      overrides: {},
      signal: new AbortController().signal,
      model: this.#model,
      prompt: this.prompt,
      isOverflow: (error) => isContextOverflow(error),
      dropping: async (messages) => {
        this.onStep("dropping");
        this.announced.push(...messages);
        await Promise.resolve();
        this.onStep("dropped");
      },
      emit: (event) => {
        this.events.push(event);
        this.onStep(event.type);
      },
      mark: (mark) => void this.marks.push(mark),
      ...fields,
    });
  }

  /** Tokens of a request on this state, by the counter alone. */
  estimate(state: AgentState): number {
    return this.meter.promptTokens(this.prompt) + this.meter.counter.countMessages(state.context);
  }

  /** Events of one type. */
  of<T extends EventBody["type"]>(type: T): Extract<EventBody, { type: T }>[] {
    return this.events.filter(
      (event): event is Extract<EventBody, { type: T }> => event.type === type,
    );
  }
}
