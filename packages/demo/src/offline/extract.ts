import type { Block, Message } from "@holdfast/core";

/** Returns the text of all blocks of some messages. */
export function textIn(messages: readonly Message[]): string {
  return messages.flatMap(({ content }) => content.map(blockText)).join("\n");
}

function blockText(block: Block): string {
  switch (block.type) {
    case "text":
    case "thinking":
    case "hint":
      return block.text;
    case "tool_call":
      return JSON.stringify(block.input);
    case "tool_result":
      return block.output.map(blockText).join("\n");
    case "data":
      return "";
  }
}

/** Returns the distinct items of the Markdown lists in a text. */
export function itemsIn(text: string): string[] {
  const items = [...text.matchAll(/^[-*] (.+)$/gm)].map(([, item]) => (item as string).trim());
  return [...new Set(items)];
}

/** Phrases with which a user marks a statement to be remembered. */
const marked =
  /^(?:please )?(?:(?:note|remember)\b(?: that|:)?|(decision|rule|fact|from now on|keep in mind)\b[:,]?) +(\S[^\n]*)$/i;

/** Returns the statement that a line marks to be remembered, as a sentence; undefined where it marks none. */
export function statementIn(line: string): string | undefined {
  const [, , said] = marked.exec(line.trim()) ?? [];
  if (said === undefined || said.endsWith("?")) return undefined;
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** Returns the distinct statements that a text marks to be remembered. */
export function statementsIn(text: string): string[] {
  const found = text.split("\n").map(statementIn);
  return [...new Set(found.filter((statement) => statement !== undefined))];
}

/** Returns the path of every evicted tool result named in a text, in order. */
export function evictedPathsIn(text: string): string[] {
  return text.match(/large_tool_results\/[^\s"\\]+\.(?:txt|json)/g) ?? [];
}
