import type { AgentEvent, PendingCall, Usage } from "@holdfast/core";
import { errorText } from "../http/refusal.js";

/** Piece of a reply in the form of chat completions. */
export type CompletionDelta =
  | { readonly kind: "content" | "reasoning"; readonly text: string }
  | { readonly kind: "end"; readonly reason: "stop" | "length"; readonly usage: Usage }
  | { readonly kind: "error"; readonly code: string; readonly message: string };

/**
 * Turns the events of one call into pieces of text: chat completions have no place for tools that run on the server, for
 * approvals, or for taking something back.
 *
 * - The text of each step follows that of the step before it after an empty line.
 * - Words of a request that was taken back are followed by a line that says so.
 * - What waits for an approval is told in words.
 */
export class CompletionEncoder {
  readonly #errorText: (code: string) => string;
  #lastMessage: string | null = null;
  #errorCode = "INTERNAL";
  #pending: readonly PendingCall[] = [];

  constructor(words: (code: string) => string = errorText) {
    this.#errorText = words;
  }

  /** Returns the pieces of the next event. */
  encode(event: AgentEvent): readonly CompletionDelta[] {
    if (event.background) return [];
    switch (event.type) {
      case "thinking_delta":
        return [{ kind: "reasoning", text: event.text }];
      case "text_delta": {
        const isNext = this.#lastMessage !== null && this.#lastMessage !== event.messageId;
        this.#lastMessage = event.messageId;
        return [{ kind: "content", text: isNext ? `\n\n${event.text}` : event.text }];
      }
      case "attempt_discarded":
        if (event.textChars === 0 || event.reason === "failed") return [];
        return [{ kind: "content", text: "\n\n(The connection to the model broke; again:)" }];
      case "permission_ask":
        this.#pending = event.pending;
        return [];
      case "error":
        this.#errorCode = event.code;
        return [];
      case "call_end":
        return this.#end(event);
      default:
        return [];
    }
  }

  #end({ reason, usage }: Extract<AgentEvent, { type: "call_end" }>): CompletionDelta[] {
    if (reason === "error") {
      const message = this.#errorText(this.#errorCode);
      return [{ kind: "error", code: this.#errorCode, message }];
    }
    const names = [...new Set(this.#pending.map(({ name }) => name))].join(", ");
    const note = `\n\n(This needs an approval, which cannot be given here: ${names}.)`;
    const asked = reason === "permission_asking" ? [{ kind: "content", text: note } as const] : [];
    const finish = reason === "max_iterations" ? "length" : "stop";
    return [...asked, { kind: "end", reason: finish, usage }];
  }
}
