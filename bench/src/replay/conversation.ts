import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A tool call as recorded; `arguments` is JSON text. */
export interface RecordedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** One recorded message. */
export type RecordedMessage =
  | { readonly role: "user"; readonly content: string }
  | {
      readonly role: "assistant";
      readonly content: string | null;
      readonly tool_calls?: readonly RecordedCall[] | undefined;
    }
  | { readonly role: "tool"; readonly content: string; readonly tool_call_id: string };

/** One recorded conversation. */
export interface Conversation {
  readonly id: string;
  readonly messages: readonly RecordedMessage[];
}

const recording = fileURLToPath(
  new URL("../../data/tau-airline-conversations.jsonl", import.meta.url),
);

/** The recorded conversations, in the order of the file. */
export function readConversations(file: string = recording): Conversation[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Conversation);
}
