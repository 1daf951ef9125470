import {
  type JsonValue,
  type Message,
  type ModelRequest,
  type ToolResultState,
  textOf,
  toolCallsOf,
  toolResultsOf,
} from "@holdfast/core";

/** A tool that was used since the question, and what it answered. */
export interface Step {
  readonly name: string;
  readonly input: JsonValue;
  readonly state: ToolResultState;
  /** The first text of the result: a page of a file is a block of its own. */
  readonly page: string;
  /** All texts of the result. */
  readonly text: string;
}

/** What the script has to go on: the request and nothing else. It keeps no memory of its own. */
export interface Situation {
  readonly system: string;
  readonly messages: readonly Message[];
  /** What the user said last. */
  readonly question: string;
  /** Whether the script has not said anything yet in this conversation. */
  readonly isFirst: boolean;
  readonly steps: readonly Step[];
  /** Names of tools that may be used now. */
  readonly tools: ReadonlySet<string>;
}

/** Reads a request. */
export function situationOf({ system, messages, tools, toolChoice }: ModelRequest): Situation {
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

/** What was cut off by a crash or an interrupt is left out: it has to be done again. */
function stepsIn(messages: readonly Message[]): Step[] {
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
