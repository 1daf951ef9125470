import { type Message, type ModelRequest, toolResultsOf } from "@holdfast/core";

/** Result of a tool, as the script looks at it. */
export interface Result {
  readonly name: string;
  readonly state: string;
  readonly text: string;
}

/** Words and results since the last reply that called no tool. */
export interface Turn {
  /** Words that began the turn. */
  readonly request: string;
  /** Words that came in while the agent worked. */
  readonly added: readonly string[];
  readonly results: readonly Result[];
}

/** Reads the current turn out of a request to the model. */
export function turnOf({ messages }: ModelRequest): Turn {
  const turn = messages.slice(messages.findLastIndex(isFinalReply) + 1);
  const [request = "", ...added] = turn.flatMap(wordsOf);
  const results = turn.flatMap(toolResultsOf).map(({ name, state, output }) => {
    const texts = output.flatMap((block) => (block.type === "text" ? block.text : []));
    return { name, state, text: texts.join("\n") };
  });
  return { request, added, results };
}

function isFinalReply({ role, content }: Message): boolean {
  return role === "assistant" && content.every(({ type }) => type !== "tool_call");
}

function wordsOf({ role, content }: Message): string[] {
  if (role !== "user") return [];
  const texts = content.flatMap((block) => (block.type === "text" ? block.text : []));
  return texts.length === 0 ? [] : [texts.join("\n")];
}
