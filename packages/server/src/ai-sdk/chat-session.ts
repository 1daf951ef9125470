import { setTimeout as delay } from "node:timers/promises";
import type { AttachedRun, Message, PendingCall } from "@holdfast/core";
import { attached } from "../run/attached.js";
import { beginsTurn, sessionRecords } from "../run/session-records.js";
import type { ServedAgent } from "../served-agent.js";
import { isAnswer } from "./chat-request.js";
import type { AiSdkVersion } from "./ui-chunk.js";
import { uiHistory, wordsOf } from "./ui-history.js";
import type { UiMessage } from "./ui-message.js";

/** Attempts to attach to a call that has just begun, and the pause between them. */
const MAX_ATTEMPTS = 5;
const PAUSE_MS = 40;

/** A session of a user, as a chat shows it. */
export class ChatSession {
  readonly #agent: ServedAgent;
  readonly #version: AiSdkVersion;
  readonly userId: string;
  readonly id: string;

  constructor(agent: ServedAgent, version: AiSdkVersion, userId: string, id: string) {
    this.#agent = agent;
    this.#version = version;
    this.userId = userId;
    this.id = id;
  }

  /** Attaches to the running call, or to the one named. */
  attach(callId?: string, signal?: AbortSignal): Promise<AttachedRun | null> {
    const options = { ...(callId !== undefined && { callId }), ...(signal && { signal }) };
    return attached(this.#agent, this.userId, this.id, options);
  }

  /** Returns the messages of the context, and those that wait to enter it. */
  async context(): Promise<readonly Message[]> {
    return (await this.#agent.getAgentState(this.userId, this.id))?.context ?? [];
  }

  /** Returns the calls that wait for an answer. */
  pending(): Promise<readonly PendingCall[]> {
    return this.#agent.pending(this.userId, this.id);
  }

  /** Returns what waits, the todo list, plan mode and the running call. */
  async facts(): Promise<object | null> {
    const [state, pending, run] = await Promise.all([
      this.#agent.getAgentState(this.userId, this.id),
      this.pending(),
      this.attach(),
    ]);
    if (!state && !run) return null;
    return {
      id: this.id,
      callId: run?.callId ?? null,
      pending,
      todos: state?.tasksContext.tasks ?? [],
      plan: state?.planModeContext ?? null,
    };
  }

  /**
   * Returns a page of the conversation. While a call runs, and can be attached to, its reply is left out: the stream has it from the
   * beginning.
   */
  async messages(options: {
    readonly before?: number | undefined;
    readonly limit: number;
  }): Promise<{
    readonly messages: readonly UiMessage[];
    readonly before?: number | undefined;
    readonly callId?: string | undefined;
  }> {
    const run = options.before === undefined ? await this.#running() : null;
    const { history, words, before } = await this.#history(options, run?.callId);
    const continues = run && isAnswer(run.callId) && history.at(-1)?.role === "assistant";
    const shown = continues ? history.slice(0, -1) : history;
    return { messages: [...shown, ...words], before, ...(run && { callId: run.callId }) };
  }

  /** Returns the message that a running call goes on with; null when it begins one. */
  async continued(callId: string): Promise<UiMessage | null> {
    if (!isAnswer(callId)) return null;
    const { history } = await this.#history({ limit: 1 }, callId);
    const last = history.at(-1);
    return last?.role === "assistant" ? last : null;
  }

  /** Attaches to the running call. The events of one that has just begun can be read some milliseconds later. */
  async #running(): Promise<AttachedRun | null> {
    for (let attempt = 0; ; attempt++) {
      const run = await this.attach();
      if (run || attempt === MAX_ATTEMPTS) return run;
      const { waiting } = await this.#agent.history(this.userId, this.id, { limit: 1 });
      if (waiting.length === 0) return null;
      await delay(PAUSE_MS);
    }
  }

  /**
   * Returns the turns of the log, and the words that wait to enter it.
   *
   * @param running - call whose replies are left out, and the words that came in while it ran: its stream has them
   */
  async #history(
    options: { readonly before?: number | undefined; readonly limit: number },
    running: string | undefined,
  ): Promise<{
    readonly history: readonly UiMessage[];
    readonly words: readonly UiMessage[];
    readonly before?: number | undefined;
  }> {
    const [page, pending] = await Promise.all([
      sessionRecords(this.#agent, this.userId, this.id, options),
      options.before === undefined ? this.pending() : [],
    ]);
    const records = page.records.filter(
      (record) => record.callId !== running || beginsTurn(record),
    );
    const history = uiHistory(records, {
      version: this.#version,
      pending: running === undefined ? pending : [],
      contextWindow: this.#agent.contextWindow,
    });
    const words = page.waiting.flatMap((message) => wordsOf(message) ?? []);
    return { history, words, before: page.before };
  }
}
