import { randomUUID } from "node:crypto";
import type { AgentEvent } from "@holdfast/core";
import { type Happening, happeningOf } from "./happening.js";
import type { SessionRecord, TurnRecord } from "./session-record.js";
import { isInContext } from "./session-state.js";
import type { Stage } from "./stage.js";
import type { Turn } from "./turn.js";
import { WorkerProcess } from "./worker-process.js";

/** What the one who watches is told. */
export interface Audience {
  asked(turn: number, says: string): void;
  answered(record: TurnRecord, pid: number): void;
  happened(happening: Happening): void;
}

/** How a session is played. */
export interface PlayOptions {
  readonly stage: Stage;
  readonly story: readonly Turn[];
  readonly triggerTokens: number;
  readonly contextWindow: number;
  readonly audience: Audience;
  readonly signal: AbortSignal;
}

/** Plays a story in worker processes, one of which is killed in the middle of a call. */
export async function playSession(options: PlayOptions): Promise<SessionRecord> {
  const play = new Play(options);
  try {
    for (const [index, turn] of options.story.entries()) await play.turn(index + 1, turn);
    await play.end();
    return play.record();
  } finally {
    await play.leave();
  }
}

class Play {
  readonly #options: PlayOptions;
  readonly #turns: TurnRecord[] = [];
  readonly #happenings: Happening[] = [];
  readonly #problems: string[] = [];
  #worker: WorkerProcess | undefined;
  #turn = 0;
  #tokens = 0;
  #tools: string[] = [];
  #sentTokens = 0;
  #promptTokens = 0;
  readonly #evictedCalls: string[] = [];
  #kills = 0;
  #isResumed = false;
  /** Called with each piece of the reply that is to be cut off. */
  #onPiece: () => void = () => undefined;

  constructor(options: PlayOptions) {
    this.#options = options;
  }

  async turn(number: number, turn: Turn): Promise<void> {
    const { says, expects, asksFor } = turn;
    this.#options.signal.throwIfAborted();
    this.#turn = number;
    this.#tools = [];
    this.#options.audience.asked(number, says);
    if (asksFor !== undefined && (await isInContext(this.#options.stage.store, asksFor)))
      this.#problems.push(`turn ${number} asks for what is still in the context`);
    // The name of the call: whoever repeats it gets the same turn, not a second one.
    const callId = randomUUID();
    if (turn.isKilled) await this.#killedIn(callId, says);
    const worker = await this.#current();
    const { text, promptTokens } = await worker.ask({ callId, says, isKilled: false });
    this.#promptTokens ||= promptTokens;
    const record = {
      ...turn,
      ...{ turn: number, callId, answer: text, tokens: this.#tokens, tools: this.#tools },
    };
    this.#turns.push(record);
    if (expects !== undefined && !expects.holds.every((part) => text.includes(part)))
      this.#problems.push(`turn ${number}: ${expects.promise}: the answer does not show it`);
    if (asksFor !== undefined && text.includes(asksFor))
      this.#happened({
        turn: number,
        kind: "found",
        text: `in turn 3, by ${this.#tools.join(", ")}`,
      });
    this.#options.audience.answered(record, worker.pid);
  }

  /** Lets the last worker finish what it does in the background. */
  async end(): Promise<void> {
    const worker = this.#worker;
    await worker?.end();
    this.#worker = undefined;
  }

  /** Whatever happened, no process is left behind. */
  async leave(): Promise<void> {
    await this.#worker?.kill9();
    this.#worker = undefined;
  }

  record(): SessionRecord {
    return {
      turns: this.#turns,
      happenings: this.#happenings,
      sentTokens: this.#sentTokens,
      promptTokens: this.#promptTokens,
      evictedCalls: this.#evictedCalls,
      kills: this.#kills,
      problems: this.#problems,
    };
  }

  /** Asks, waits for a few pieces of the reply and pulls the plug. */
  async #killedIn(callId: string, says: string): Promise<void> {
    const worker = await this.#current();
    let pieces = 0;
    const inTheMiddle = new Promise<void>((resolve) => {
      this.#onPiece = () => {
        if (++pieces === 3) resolve();
      };
    });
    const reply = worker.ask({ callId, says, isKilled: true });
    await Promise.race([inTheMiddle, reply]);
    const how = await worker.kill9();
    this.#worker = undefined;
    this.#options.signal.throwIfAborted();
    const isAnswered = await reply.then(
      () => true,
      () => false,
    );
    if (how !== "SIGKILL" || isAnswered) {
      this.#problems.push(`turn ${this.#turn}: the process was not killed in the middle of it`);
      return;
    }
    this.#kills++;
    const text = `process ${worker.pid} by kill -9, in the middle of its reply`;
    this.#happened({ turn: this.#turn, kind: "killed", text });
  }

  async #current(): Promise<WorkerProcess> {
    if (this.#worker !== undefined) return this.#worker;
    const { stage, contextWindow, triggerTokens, signal } = this.#options;
    const { store, workspace } = stage;
    this.#worker = await WorkerProcess.start(
      { store, workspace, contextWindow, triggerTokens },
      (event) => this.#event(event),
      signal,
    );
    return this.#worker;
  }

  #event(event: AgentEvent): void {
    if (event.type === "text_delta") this.#onPiece();
    if (event.type === "model_call_end") {
      this.#sentTokens += event.usage.inputTokens;
      if (event.purpose === "reasoning" && !event.background)
        this.#tokens = event.usage.inputTokens;
    }
    if (event.type === "tool_result_evicted") this.#evictedCalls.push(event.toolCallId);
    if (event.type === "tool_call_end") this.#tools.push(event.name);
    if (event.type === "state_loaded" && this.#kills > 0 && !this.#isResumed) {
      this.#isResumed = true;
      const text = `process ${this.#worker?.pid}, ${event.messages} messages loaded, same call`;
      this.#happened({ turn: this.#turn, kind: "resumed", text });
    }
    const happening = happeningOf(event, this.#turn);
    if (happening !== null) this.#happened(happening);
  }

  #happened(happening: Happening): void {
    this.#happenings.push(happening);
    if (happening.kind === "failed")
      this.#problems.push(`turn ${happening.turn}: ${happening.text}`);
    this.#options.audience.happened(happening);
  }
}
