import { randomUUID } from "node:crypto";
import type { AgentEvent } from "@holdfast/core";
import type { DemoFiles } from "../demo-files.js";
import { isInContext } from "../outcome/stored-session.js";
import { type NotableEvent, notableEventOf } from "./notable-event.js";
import type { ScriptedTurn } from "./session-script.js";
import { WorkerProcess } from "./worker-process.js";

/** Turn that was answered. */
export interface TurnRecord extends ScriptedTurn {
  readonly turn: number;
  readonly callId: string;
  readonly answer: string;
  /** Tokens of the last request sent for it. */
  readonly tokens: number;
  /** Names of the tools that were used for it. */
  readonly tools: readonly string[];
}

/** Session as observed by the process that ran it. */
export interface SessionRecord {
  readonly turns: readonly TurnRecord[];
  readonly notableEvents: readonly NotableEvent[];
  /** Tokens of all requests, including those for summaries and the long-term memory. */
  readonly sentTokens: number;
  /** Tokens of the system prompt and the tools in the first request. */
  readonly promptTokens: number;
  /** Ids of the tool calls whose result was evicted. */
  readonly evictedToolCallIds: readonly string[];
  /** Processes that were ended by SIGKILL while they answered. */
  readonly kills: number;
  /** One sentence per deviation from what was expected. */
  readonly problems: readonly string[];
}

/** Receives the progress of a session. */
export interface SessionObserver {
  onAsk(turn: number, says: string): void;
  onAnswer(record: TurnRecord, pid: number): void;
  onNotable(event: NotableEvent): void;
}

/** Options of {@link runSession}. */
export interface SessionOptions {
  readonly files: DemoFiles;
  readonly script: readonly ScriptedTurn[];
  readonly triggerTokens: number;
  readonly contextWindow: number;
  readonly observer: SessionObserver;
  readonly signal: AbortSignal;
}

/** Runs a script in worker processes, one of which is killed in the middle of a call. */
export async function runSession(options: SessionOptions): Promise<SessionRecord> {
  const run = new SessionRun(options);
  try {
    for (const [index, turn] of options.script.entries()) await run.turn(index + 1, turn);
    await run.end();
    return run.record();
  } finally {
    await run.dispose();
  }
}

class SessionRun {
  readonly #options: SessionOptions;
  readonly #turns: TurnRecord[] = [];
  readonly #notableEvents: NotableEvent[] = [];
  readonly #problems: string[] = [];
  #worker: WorkerProcess | undefined;
  #turn = 0;
  #tokens = 0;
  /** Names of the tools that the turn has called, by the id of the call. */
  readonly #tools = new Map<string, string>();
  #sentTokens = 0;
  #promptTokens = 0;
  readonly #evictedToolCallIds: string[] = [];
  #kills = 0;
  #isResumed = false;
  /** Called for each piece of a reply that is to be cut off. */
  #onPiece: () => void = () => undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  async turn(number: number, turn: ScriptedTurn): Promise<void> {
    const { says, expects, asksFor } = turn;
    this.#options.signal.throwIfAborted();
    this.#turn = number;
    this.#tools.clear();
    this.#options.observer.onAsk(number, says);
    if (asksFor !== undefined && (await isInContext(this.#options.files.store, asksFor)))
      this.#problems.push(`turn ${number} asks for what is still in the context`);
    // Idempotency key: a repeated call continues the same turn instead of adding a second one.
    const callId = randomUUID();
    if (turn.isKilled) await this.#killDuring(callId, says);
    const worker = await this.#currentWorker();
    const { text, promptTokens } = await worker.ask({ callId, says, isKilled: false });
    this.#promptTokens ||= promptTokens;
    const tools = [...this.#tools.values()];
    const record = {
      ...turn,
      ...{ turn: number, callId, answer: text, tokens: this.#tokens, tools },
    };
    this.#turns.push(record);
    if (expects !== undefined && !expects.holds.every((part) => text.includes(part)))
      this.#problems.push(`turn ${number}: ${expects.promise}: the answer does not show it`);
    if (asksFor !== undefined && text.includes(asksFor))
      this.#report({
        turn: number,
        kind: "found",
        text: `in turn 3, by ${tools.join(", ")}`,
      });
    this.#options.observer.onAnswer(record, worker.pid);
  }

  /** Lets the last worker finish its background work. */
  async end(): Promise<void> {
    const worker = this.#worker;
    await worker?.end();
    this.#worker = undefined;
  }

  /** Leaves no process behind, however the session ended. */
  async dispose(): Promise<void> {
    await this.#worker?.kill9();
    this.#worker = undefined;
  }

  record(): SessionRecord {
    return {
      turns: this.#turns,
      notableEvents: this.#notableEvents,
      sentTokens: this.#sentTokens,
      promptTokens: this.#promptTokens,
      evictedToolCallIds: this.#evictedToolCallIds,
      kills: this.#kills,
      problems: this.#problems,
    };
  }

  /** Asks, waits for a few pieces of the reply and kills the worker. */
  async #killDuring(callId: string, says: string): Promise<void> {
    const worker = await this.#currentWorker();
    let pieces = 0;
    const midReply = new Promise<void>((resolve) => {
      this.#onPiece = () => {
        if (++pieces === 3) resolve();
      };
    });
    const reply = worker.ask({ callId, says, isKilled: true });
    await Promise.race([midReply, reply]);
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
    this.#report({ turn: this.#turn, kind: "killed", text });
  }

  async #currentWorker(): Promise<WorkerProcess> {
    if (this.#worker !== undefined) return this.#worker;
    const { files, contextWindow, triggerTokens, signal } = this.#options;
    const { store, workspace } = files;
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
    if (event.type === "tool_result_evicted") this.#evictedToolCallIds.push(event.toolCallId);
    if (event.type === "tool_call_end") this.#tools.set(event.toolCallId, event.name);
    if (event.type === "attempt_discarded")
      for (const toolCallId of event.toolCallIds) this.#tools.delete(toolCallId);
    if (event.type === "state_loaded" && this.#kills > 0 && !this.#isResumed) {
      this.#isResumed = true;
      const text = `process ${this.#worker?.pid}, ${event.messages} messages loaded, same call`;
      this.#report({ turn: this.#turn, kind: "resumed", text });
    }
    const notable = notableEventOf(event, this.#turn);
    if (notable !== null) this.#report(notable);
  }

  #report(event: NotableEvent): void {
    this.#notableEvents.push(event);
    if (event.kind === "failed") this.#problems.push(`turn ${event.turn}: ${event.text}`);
    this.#options.observer.onNotable(event);
  }
}
