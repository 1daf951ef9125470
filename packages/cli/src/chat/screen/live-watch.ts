import { type AgentEvent, type Message, textOf } from "@holdfast/core";
import { type Chat, sessionOf } from "../open-chat.js";

/** Time between two looks for a call of another process. */
const LOOK_MS = 1_000;

/** Conversation side of {@link LiveWatch}. */
export interface WatchDisplay {
  /** Nothing runs here. */
  isFree(): boolean;
  /** A call of another process begins to be shown. */
  begin(): void;
  /** Shows what the call was told. */
  said(text: string): void;
  show(event: AgentEvent): void;
  end(): void;
  note(text: string): void;
}

/** Shows the calls that other processes make on the session of the chat, as they happen. */
export class LiveWatch {
  readonly #chat: Chat;
  readonly #display: WatchDisplay;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #reading = new AbortController();
  /** Messages that are shown. */
  readonly #known = new Set<string>();
  /** Calls whose process died: they are not waited for. */
  readonly #lost = new Set<string>();
  #isLooking = false;
  #isWatching = false;

  constructor(chat: Chat, display: WatchDisplay) {
    this.#chat = chat;
    this.#display = display;
    if (chat.hasFeed) this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  /** A call of another process is shown. */
  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** Begins with a session whose messages so far are shown. */
  enter(messages: readonly Message[]): void {
    for (const { id } of messages) this.#known.add(id);
  }

  /** Stops reading; the calls go on. */
  stop(): void {
    clearInterval(this.#timer);
    this.#reading.abort();
  }

  async #look(): Promise<void> {
    if (this.#isLooking || !this.#display.isFree()) return;
    this.#isLooking = true;
    try {
      const { signal } = this.#reading;
      const run = await this.#chat.agent.attach(sessionOf(this.#chat), { signal });
      if (run !== null && this.#display.isFree() && !this.#lost.has(run.callId))
        await this.#watch(run);
    } catch {
      // A store that does not answer is noticed by the next message; a stopped watch has nothing to say.
    } finally {
      this.#isLooking = false;
    }
  }

  async #watch(run: AsyncIterable<AgentEvent> & { readonly callId: string }): Promise<void> {
    this.#isWatching = true;
    this.#display.begin();
    let isSaid = false;
    try {
      for await (const event of run) {
        // What the call was told is stored before its model is asked, and not any earlier.
        if (!isSaid && (event.type === "model_call_start" || event.type === "events_dropped")) {
          isSaid = true;
          const text = await this.#newWords();
          if (text !== null) this.#display.said(text);
        }
        this.#display.show(event);
        if (event.type !== "run_lost") continue;
        // Another process may go on with it, or nobody: a person is not kept waiting for that.
        this.#lost.add(run.callId);
        this.#display.note("its process died; your next message goes on from what it has saved");
        break;
      }
    } finally {
      this.#isWatching = false;
      this.#display.end();
    }
  }

  /** @returns what the person at the other window said last, unless it is shown */
  async #newWords(): Promise<string | null> {
    const state = await this.#chat.agent.getAgentState(sessionOf(this.#chat));
    const said = state?.context.filter(({ role }) => role === "user") ?? [];
    const last = said.at(-1);
    if (last === undefined || this.#known.has(last.id)) return null;
    for (const { id } of said) this.#known.add(id);
    return textOf(last);
  }
}
