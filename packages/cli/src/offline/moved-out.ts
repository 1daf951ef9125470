import type { Message } from "@holdfast/core";
import { textIn } from "./text-in.js";

/** The path of the result that was last moved out of the conversation, as the conversation or its summary names it. */
export function movedOutPath(messages: readonly Message[]): string | undefined {
  return movedOutPaths(textIn(messages)).at(-1);
}

/** Every path of a moved-out result in a text, in order. */
export function movedOutPaths(text: string): string[] {
  return text.match(/large_tool_results\/[^\s"\\]+\.(?:txt|json)/g) ?? [];
}
