import type { Component } from "@earendil-works/pi-tui";
import type { Message } from "@holdfast/core";
import { safeLine } from "../../terminal/safe-text.js";
import { fit } from "../view/entry.js";
import type { Theme } from "./theme.js";

/** Message that was typed while the agent works. */
export interface WaitingMessage {
  readonly text: string;
  /** Message that the session was given already, under its id; null for a text that is not sent yet. */
  readonly message: Message | null;
  /** The running call was told of it. */
  readonly isSteering: boolean;
}

/** Messages that wait, above the input: those that the running call takes in, and those that are sent after it. */
export class WaitingMessages implements Component {
  readonly #theme: Theme;
  #messages: WaitingMessage[] = [];

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  /** Messages, oldest first. */
  get all(): readonly WaitingMessage[] {
    return this.#messages;
  }

  add(message: WaitingMessage): void {
    this.#messages.push(message);
  }

  /** Takes out those that `isTaken` selects. */
  take(isTaken: (message: WaitingMessage) => boolean): readonly WaitingMessage[] {
    const taken = this.#messages.filter(isTaken);
    this.#messages = this.#messages.filter((message) => !taken.includes(message));
    return taken;
  }

  /** Takes out the oldest that is to be sent. */
  next(): WaitingMessage | undefined {
    const found = this.#messages.find(({ isSteering }) => !isSteering);
    if (found !== undefined) this.take((message) => message === found);
    return found;
  }

  /** Lets those that the call did not take in before it ended be sent next. */
  release(): void {
    this.#messages = this.#messages.map((message) => ({ ...message, isSteering: false }));
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { dim } = this.#theme;
    const lines = this.#messages.map(({ text, isSteering }) =>
      dim(fit(`${isSteering ? "  steering:" : "  sent next:"} ${safeLine(text)}`, width)),
    );
    return lines.length > 0 ? ["", ...lines] : [];
  }
}
