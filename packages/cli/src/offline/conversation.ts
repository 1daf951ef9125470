import { type JsonValue, type Message, textOf } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { textIn } from "./text-in.js";

/** A tool call as a summary needs it. */
export interface PastCall {
  readonly name: string;
  /** The file it was about, where it was about one. */
  readonly path: string | undefined;
}

/** What a summary is made of, whichever way it was handed over. */
export interface Conversation {
  /** The summary of what came before; "" where there is none. */
  readonly earlier: string;
  /** What the user said, oldest first. */
  readonly requests: readonly string[];
  readonly calls: readonly PastCall[];
  /** All of it as one text. */
  readonly text: string;
}

/** The conversation in the messages of a request, without the instruction behind it. */
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

/** The same out of a transcript, which is how a conversation comes that does not fit into one request. */
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
    // A call that was cut where two pieces of a transcript meet.
    return undefined;
  }
}
