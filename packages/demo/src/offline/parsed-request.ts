import {
  type JsonValue,
  type Message,
  type ModelRequest,
  type ToolResultState,
  textOf,
  toolCallsOf,
  toolResultsOf,
} from "@holdfast/core";

/** Tool that was used since the question, with its result. */
export interface ToolStep {
  readonly name: string;
  readonly input: JsonValue;
  readonly state: ToolResultState;
  /** First text of the result; a page of a file is a block of its own. */
  readonly page: string;
  /** All texts of the result. */
  readonly text: string;
}

/** Parts of a model request that the script decides by. It keeps no state of its own. */
export interface ParsedRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  /** Last text of the user. */
  readonly question: string;
  /** The script has not said anything yet in this conversation. */
  readonly isFirst: boolean;
  readonly steps: readonly ToolStep[];
  /** Names of the tools that may be used. */
  readonly tools: ReadonlySet<string>;
}

/** Parses a request. */
export function parseRequest({ system, messages, tools, toolChoice }: ModelRequest): ParsedRequest {
  const asked = messages.findLastIndex(isQuestion);
  const before = messages.slice(0, Math.max(0, asked));
  return {
    system,
    messages,
    question: asked < 0 ? "" : textOf(messages[asked] as Message).trim(),
    isFirst: !before.some((message) => message.role === "assistant" || hasSummary(message)),
    steps: stepsIn(messages.slice(asked + 1)),
    tools: new Set(toolChoice === "none" ? [] : tools.map(({ name }) => name)),
  };
}

function isQuestion({ role, content }: Message): boolean {
  return role === "user" && content.some(({ type }) => type === "text");
}

function hasSummary({ content }: Message): boolean {
  return content.some((block) => block.type === "hint" && block.source === "summary");
}

/** Leaves out calls cut off by a crash or an interrupt: they have to be made again. */
function stepsIn(messages: readonly Message[]): ToolStep[] {
  const inputs = new Map(messages.flatMap(toolCallsOf).map(({ id, input }) => [id, input]));
  return messages
    .flatMap(toolResultsOf)
    .filter(({ state }) => state !== "interrupted")
    .map(({ toolCallId, name, state, output }) => {
      const texts = output.map((part) => (part.type === "text" ? part.text : ""));
      const [page = ""] = texts;
      return { name, input: inputs.get(toolCallId) ?? null, state, page, text: texts.join("\n") };
    });
}
