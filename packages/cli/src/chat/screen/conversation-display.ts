import { type AgentEvent, type Message, textOf } from "@holdfast/core";
import { errorText } from "../../exit-code.js";
import { safeText } from "../../terminal/safe-text.js";
import type { Terminal } from "../../terminal/terminal.js";
import { type Chat, isHere, sessionOf } from "../open-chat.js";
import type { StatusLine } from "../status-line.js";
import { EventView } from "../view/event-view.js";
import { showPast } from "./past-messages.js";
import { Screen, type ScreenEvents } from "./screen.js";
import { StatusBar } from "./status-bar.js";
import type { Theme } from "./theme.js";

/** Shows a conversation: events, messages and lines, on a screen that is drawn whenever one of them comes. */
export class ConversationDisplay {
  readonly screen: Screen;
  readonly #chat: Chat;
  readonly #theme: Theme;
  readonly #status: StatusBar;
  readonly #view: EventView;

  constructor(chat: Chat, theme: Theme, events: ScreenEvents) {
    this.#chat = chat;
    this.#theme = theme;
    this.#status = new StatusBar(chat, theme);
    this.screen = new Screen(theme, this.#status, events);
    this.#view = new EventView(this.screen.transcript, theme, (slot) => isHere(chat, slot));
  }

  /** Returns a terminal whose lines become part of the conversation, for commands. */
  terminalFor(terminal: Terminal): Terminal {
    return {
      ...terminal,
      get columns() {
        return terminal.columns;
      },
      line: (text = "") => this.print(text),
      warn: (text) => this.print(safeText(text)),
    };
  }

  /** Shows an event of the running call, or of background work. */
  show(event: AgentEvent): void {
    if (event.type === "steered")
      for (const { text } of this.screen.waiting.take(
        ({ message }) => message !== null && event.messageIds.includes(message.id),
      ))
        this.#view.said(text);
    if (!event.background) this.screen.activity.note(event);
    this.#view.show(event);
    this.screen.changed();
  }

  /** Shows a message of the person. */
  said(text: string): void {
    this.#view.said(text);
    this.screen.changed();
  }

  /** Shows the messages of a session that continues; those of the person can be searched. */
  past(messages: readonly Message[]): void {
    showPast(this.screen.transcript, this.#theme, messages);
    for (const message of messages) {
      const text = textOf(message).trim();
      if (message.role === "user" && text !== "") this.screen.editor.addToHistory(text);
    }
    this.#chat.usage.contextTokens = null;
    const usage = messages.findLast(({ role }) => role === "assistant")?.usage;
    this.#status.contextTokens = usage ? usage.inputTokens + usage.outputTokens : null;
  }

  /** Shows lines as they are. */
  print(text: string): void {
    for (const line of text.split("\n")) this.#view.line(line);
    this.screen.changed();
  }

  /** Shows a line about what happened. */
  status(line: StatusLine): void {
    this.#view.status(line);
    this.screen.changed();
  }

  note(text: string): void {
    this.status({ kind: "note", text });
  }

  problem(error: unknown): void {
    this.#view.endCall();
    this.print(this.#theme.bad(safeText(errorText(error, this.#chat.terminal.env))));
  }

  /** Reads the permission mode of the session for the status line. */
  async refreshStatus(): Promise<void> {
    const state = await this.#chat.agent.getAgentState(sessionOf(this.#chat)).catch(() => null);
    this.#status.mode = state?.permissionContext.mode ?? "default";
    this.#status.isPlanning = state?.planModeContext.active ?? false;
  }
}
