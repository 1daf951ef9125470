import { type JsonValue, type Message, textOf } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { textIn } from "./extract.js";

/** Tool call that a summary mentions. */
export interface PastCall {
  readonly name: string;
  /** File it was about, if any. */
  readonly path: string | undefined;
}

/** Material of a summary. */
export interface Conversation {
  /** Earlier summary; "" where there is none. */
  readonly earlier: string;
  /** Requests of the user, oldest first. */
  readonly requests: readonly string[];
  readonly calls: readonly PastCall[];
  /** Whole conversation as one text. */
  readonly text: string;
}

/** Reads the conversation from the messages of a request, without the instruction behind it. */
export function conversationOf(messages: readonly Message[]): Conversation {
  const material = messages.slice(0, -1);
  if (material.length === 0) return conversationIn(textIn(messages));
  const blocks = material.flatMap(({ content }) => content);
  return {
    earlier: blocks
      .map((block) => (block.type === "hint" && block.source === "summary" ? block.text : ""))
      .join(""),
    requests: material
      .filter(({ role }) => role === "user")
      .map((message) => textOf(message).trim())
      .filter((text) => text !== ""),
    calls: blocks.flatMap((block) =>
      block.type === "tool_call" ? [{ name: block.name, path: pathOf(block.input) }] : [],
    ),
    text: textIn(material),
  };
}

/** Reads the conversation from a transcript, the form of one that does not fit into a single request. */
function conversationIn(transcript: string): Conversation {
  const [, soFar = ""] = /<summary_so_far>\n([\s\S]*?)\n<\/summary_so_far>/.exec(transcript) ?? [];
  const [, text = ""] = /<conversation[^>]*>\n([\s\S]*)\n<\/conversation>/.exec(transcript) ?? [];
  const turns = text.split(/^(?=\[(?:User|Assistant|Tool results|System)\b[^\]\n]*\]$)/m);
  const said = (speaker: string): string[] =>
    turns
      .filter((turn) => turn.startsWith(`[${speaker}`))
      .map((turn) => turn.slice(turn.indexOf("\n") + 1).trim());
  const isSummary = (turn: string): boolean => turn.startsWith("(summary of what came before)");
  return {
    earlier: soFar || (said("User").find(isSummary) ?? ""),
    requests: said("User").filter((turn) => !isSummary(turn) && !turn.startsWith("(note from ")),
    calls: said("Assistant").flatMap((turn) =>
      [...turn.matchAll(/^\(calls ([\w-]+)\) (.*)$/gm)].map(([, name, input]) => {
        return { name: name as string, path: pathOf(parsed(input as string)) };
      }),
    ),
    text,
  };
}

function pathOf(input: JsonValue | undefined): string | undefined {
  const path = isRecord(input) ? input["path"] : undefined;
  return typeof path === "string" ? path : undefined;
}

function parsed(json: string): JsonValue | undefined {
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    // Cut off at the end of a part of a transcript.
    return undefined;
  }
}
