import { excerptAt, jsonProblem } from "../../json/json-problem.js";
import type { ToolCallBlock } from "../../message/message.js";

/** Says what is wrong with the input of a call, in words the model can act on. */
export function invalidInput({ name, input }: ToolCallBlock, problem: string): string {
  // Adapters pass on as text what does not parse.
  const broken = typeof input === "string" ? jsonProblem(input) : null;
  if (typeof input !== "string") return `Invalid input for ${name}: ${problem}`;
  if (broken === null) {
    const advice = /^\s*\{/.test(input)
      ? "; the arguments are a text that holds JSON; pass the object itself"
      : "";
    return `Invalid input for ${name}: ${problem}${advice}`;
  }
  return `Invalid input for ${name}: the arguments are not valid JSON. At character ${broken.offset + 1} ${broken.problem}: ${excerptAt(input, broken.offset)}`;
}
