import type { JsonValue } from "@holdfast/core";
import type { Conversation, RecordedMessage } from "./conversation.js";

/** A tool call the scripted assistant makes, and its result. */
export interface ScriptedCall {
  readonly name: string;
  readonly input: JsonValue;
  readonly result: string;
}

/** One message of the scripted assistant. */
export interface ScriptedReply {
  readonly text: string;
  readonly calls: readonly ScriptedCall[];
}

/** Words said to the agent at once, and all it does about them: the last reply has no calls. */
export interface ScriptedTurn {
  readonly users: readonly string[];
  readonly replies: readonly ScriptedReply[];
}

/** One session to play. */
export interface Script {
  readonly turns: readonly ScriptedTurn[];
  /** Every tool that is called, by name. */
  readonly toolNames: readonly string[];
  /** Messages the session has in the end: users, replies and one result per call. */
  readonly messages: number;
  /** Replies that are not in the recording, where it stops before the assistant had the last word. */
  readonly added: number;
}

/** Said where a recording ends with a tool's result. */
const closing: ScriptedReply = { text: "That is done.", calls: [] };

/**
 * Chains conversations into one session.
 *
 * - Users in a row, as where one conversation ends with the user and the next one begins, are one input.
 * - Texts of the assistant in a row are one reply, since a reply without calls ends a turn.
 * - A result belongs to the newest call with its id: recorded ids repeat.
 */
export function scriptOf(conversations: readonly Conversation[]): Script {
  const draft = new ScriptDraft();
  for (const { messages } of conversations)
    for (const [index, message] of messages.entries()) draft.add(message, messages.slice(index));
  return draft.finish();
}

class ScriptDraft {
  readonly #turns: { users: string[]; replies: ScriptedReply[] }[] = [];
  #added = 0;

  add(message: RecordedMessage, rest: readonly RecordedMessage[]): void {
    if (message.role === "tool") return;
    const turn = this.#turns.at(-1);
    if (message.role === "user") {
      if (turn && turn.replies.length === 0) turn.users.push(message.content);
      else {
        this.#close();
        this.#turns.push({ users: [message.content], replies: [] });
      }
      return;
    }
    if (!turn) throw new Error("a conversation must begin with the user");
    const last = turn.replies.at(-1);
    const text = message.content ?? "";
    const calls = (message.tool_calls ?? []).map(({ id, name, arguments: input }) => ({
      name,
      input: JSON.parse(input) as JsonValue,
      result: resultOf(id, rest),
    }));
    if (last && last.calls.length === 0)
      turn.replies[turn.replies.length - 1] = { text: `${last.text}\n\n${text}`, calls };
    else turn.replies.push({ text, calls });
  }

  finish(): Script {
    this.#close();
    const replies = this.#turns.flatMap((turn) => turn.replies);
    const calls = replies.flatMap((reply) => reply.calls);
    const users = this.#turns.reduce((sum, turn) => sum + turn.users.length, 0);
    return {
      turns: this.#turns,
      toolNames: [...new Set(calls.map(({ name }) => name))].sort(),
      messages: users + replies.length + calls.length,
      added: this.#added,
    };
  }

  /** A turn ends with a reply that calls nothing. */
  #close(): void {
    const turn = this.#turns.at(-1);
    if (!turn || turn.replies.at(-1)?.calls.length === 0) return;
    turn.replies.push(closing);
    this.#added++;
  }
}

function resultOf(id: string, rest: readonly RecordedMessage[]): string {
  const result = rest.find((message) => message.role === "tool" && message.tool_call_id === id);
  if (!result) throw new Error(`no result is recorded for tool call ${id}`);
  return result.content ?? "";
}
