import { isWellFormed } from "@holdfast/core/plugin-kit";
import type { AiSdkModel } from "../src/index.js";

// biome-ignore lint/suspicious/noExplicitAny: the point is to look at something untyped.
type Any = any;

const contentTypes = {
  v2: ["text", "media"],
  v3: ["text", "image-data", "image-url", "file-data", "file-url"],
  v4: ["text", "file"],
};

/** What is wrong with a prompt by the rules of its generation and by those all providers share. */
export function promptProblems(
  version: AiSdkModel["specificationVersion"],
  prompt: readonly Any[],
): string[] {
  const problems: string[] = [];
  const check = (holds: boolean, problem: string): void => {
    if (!holds) problems.push(problem);
  };
  const turns = prompt.filter(({ role }) => role !== "system");
  check(prompt.indexOf(turns[0]) === prompt.length - turns.length, "system messages come first");
  check(turns[0]?.role === "user", "a user begins");
  check(/user|tool/.test(turns.at(-1)?.role), "the model is asked");
  const ids = new Set<string>();
  let open: string[] = [];
  for (const [index, { role, content }] of turns.entries()) {
    check(content.length > 0, `${role} ${index} says something`);
    if (role !== "tool") check(open.length === 0, `calls are answered before ${role} ${index}`);
    check(role === "user" || turns[index - 1]?.role !== role, `${role} ${index} is not in a row`);
    for (const part of content) {
      if (part.type === "text") check(part.text.trim() !== "", "text is not blank");
      if (part.type === "file") checkFile(part, `file in ${role} ${index}`);
      if (part.type === "tool-call") {
        check(!ids.has(part.toolCallId), `id ${part.toolCallId} is unique`);
        check(/^[\w-]{1,64}$/.test(part.toolCallId), `id ${part.toolCallId} has a usual form`);
        check(/^[\w-]{1,64}$/.test(part.toolName), `name ${part.toolName} has a usual form`);
        check(isObject(part.input), "input is an object");
        ids.add(part.toolCallId);
        open.push(part.toolCallId);
      }
      if (part.type === "tool-result") checkResult(part);
    }
    const last = content.at(-1)?.type;
    check(role !== "assistant" || last !== "reasoning", `assistant ${index} ends with an answer`);
  }
  check(open.length === 0, "every call is answered");
  JSON.stringify(prompt, (key, value) => {
    check(isWellFormed(key), "all keys are well-formed");
    if (typeof value === "string") check(isWellFormed(value), "all text is well-formed");
    return value;
  });
  return problems;

  function checkFile({ data, mediaType }: Any, where: string): void {
    check(/^[\w.+-]+\/[\w.+*-]+$/.test(mediaType), `${where} has a media type`);
    const isTagged =
      data?.type === "data" ? typeof data.data === "string" : data?.url instanceof URL;
    const isBare = typeof data === "string" || data instanceof URL;
    check(version === "v4" ? isTagged : isBare, `${where} has its data in the form of ${version}`);
  }

  function checkResult({ toolCallId, output }: Any): void {
    check(open.includes(toolCallId), `result ${toolCallId} has its call`);
    open = open.filter((id) => id !== toolCallId);
    switch (output.type) {
      case "text":
      case "error-text":
        check(output.value !== "", "a result says something");
        break;
      case "execution-denied":
        check(version !== "v2" && output.reason !== "", "a refusal says why");
        break;
      case "content":
        for (const part of output.value) {
          check(contentTypes[version].includes(part.type), `${part.type} is content of ${version}`);
          if (part.type === "file") checkFile(part, "file in a result");
        }
        break;
      default:
        problems.push(`output ${output.type} is known`);
    }
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
