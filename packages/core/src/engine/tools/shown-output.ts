import type { EventBody } from "../../events/agent-event.js";
import type { DataBlock, TextBlock } from "../../message/message.js";
import { contentChars } from "../../message/read-message.js";
import { cutIndex } from "../../plugin-kit/cut-text.js";
import { inWords } from "./fit-results.js";

/** Most characters of an output in an event, texts and data together. */
const MAX_OUTPUT_CHARS = 65_536;

/** Fields of the event `tool_result` about the output. */
type ShownOutput = Pick<Extract<EventBody, { type: "tool_result" }>, "output" | "truncated">;

/** Returns an output as its event shows it: texts are cut at the limit, and a note stands for data beyond it. */
export function shownOutput(output: readonly (TextBlock | DataBlock)[]): ShownOutput {
  const shown: (TextBlock | DataBlock)[] = [];
  let left = MAX_OUTPUT_CHARS;
  let chars = 0;
  for (const block of output) {
    const size = contentChars(block);
    if (size <= left) {
      shown.push(block);
      left -= size;
      continue;
    }
    const end = block.type === "text" ? cutIndex(block.text, left) : 0;
    chars += size - end;
    if (block.type === "data") shown.push({ type: "text", text: inWords(block) });
    else {
      if (end > 0) shown.push({ type: "text", text: block.text.slice(0, end) });
      left = 0;
    }
  }
  return { output: shown, ...(chars > 0 && { truncated: { chars } }) };
}
