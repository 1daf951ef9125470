import {
  ContextOverflowError,
  type Model,
  type ModelChunk,
  ModelError,
  type ModelRequest,
} from "@holdfast/core";
import fc from "fast-check";

/** How a summariser behaves. */
export type SummariserKind =
  | "good"
  | "long"
  | "structured"
  | "failing"
  | "throwing"
  | "retryable"
  | "flaky"
  | "unfinished"
  | "empty"
  | "blank"
  | "tools"
  | "slow"
  | "hanging"
  | "huge"
  | "overflow"
  | "narrow";

/** Those that write a summary in the end. */
export const willing: readonly SummariserKind[] = ["good", "structured", "flaky", "narrow"];
/** Those that never write one that can be used. */
export const useless: readonly SummariserKind[] = [
  "failing",
  "throwing",
  "retryable",
  "unfinished",
  "empty",
  "blank",
  "slow",
  "hanging",
  "huge",
  "overflow",
];
/** Any of them; seldom those that take time. */
export const anyKind: fc.Arbitrary<SummariserKind> = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...willing, "long", "tools") },
  { weight: 18, arbitrary: fc.constantFrom(...useless.filter((kind) => !waits(kind))) },
  { weight: 1, arbitrary: fc.constantFrom(...useless.filter(waits)) },
);

/** Whether it only ends with its time. */
export function waits(kind: SummariserKind): boolean {
  return kind === "slow" || kind === "hanging";
}

/** Words of providers about a request that is too long. */
const overflows = [
  () => new ContextOverflowError("too long"),
  () => new Error("400 prompt is too long: 250000 tokens > 200000 maximum"),
  () => Object.assign(new Error("Bad Request"), { code: "context_length_exceeded" }),
  () => Object.assign(new Error("Payload"), { statusCode: 413 }),
];

/** Text that must not be found in any event or failure. */
export const SECRET = "secret-of-the-provider";

/** A model that writes summaries, or fails to, and remembers what it was asked and what it wrote. */
export class Summariser implements Model {
  readonly id = "summariser";
  readonly contextWindow: number | undefined;
  readonly structuredOutput: boolean;
  readonly requests: Omit<ModelRequest, "signal">[] = [];
  readonly replies: string[] = [];
  readonly #kind: SummariserKind;

  constructor(kind: SummariserKind, contextWindow?: number | undefined) {
    this.#kind = kind;
    this.contextWindow = contextWindow;
    this.structuredOutput = kind === "structured";
  }

  /** Everything it was asked, as one text. */
  get asked(): string {
    return JSON.stringify(this.requests);
  }

  stream(request: ModelRequest): AsyncIterable<ModelChunk> {
    const { signal, ...rest } = request;
    const count = this.requests.push({ ...rest, messages: [...request.messages] });
    if (this.#kind === "throwing") throw new RangeError(SECRET);
    return this.#chunks(count, rest, signal);
  }

  async *#chunks(
    count: number,
    request: Omit<ModelRequest, "signal">,
    signal: AbortSignal,
  ): AsyncGenerator<ModelChunk> {
    const fact = `[sum-${count}]`;
    switch (this.#kind) {
      case "failing":
        throw new TypeError(SECRET);
      case "retryable":
        throw new ModelError(SECRET, { retryable: true });
      case "unfinished":
        yield { type: "text_delta", text: fact };
        return;
      case "flaky":
        if (count % 2 === 1) throw new ModelError(SECRET, { retryable: true });
        break;
      case "slow":
        await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
        break;
      case "hanging":
        yield { type: "text_delta", text: fact };
        await new Promise(() => {});
        break;
      case "overflow":
        throw overflows[count % overflows.length]?.();
      case "narrow":
        if (JSON.stringify(request.messages).length > 6_000) throw overflows[count % 4]?.();
        break;
      case "tools":
        if (request.tools.length > 0) {
          yield* textOf("Let me look at that first.");
          yield { type: "tool_call", id: "call_0", name: "look", input: {} };
          yield finish("tool_calls");
          return;
        }
        break;
      case "huge":
        for (;;) yield { type: "text_delta", text: "on and on ".repeat(5_000) };
      default:
    }
    const text = this.#text(fact);
    this.replies.push(text);
    yield* textOf(text);
    yield finish("stop");
  }

  #text(fact: string): string {
    switch (this.#kind) {
      case "empty":
        return "";
      case "blank":
        return " \n\t ";
      case "long":
        return `${fact} ${"and so on ".repeat(400)}`;
      case "structured":
        return `{"state":"${fact} $& {summary}","next":["one","two"]}`;
      default:
        return `${fact} $& $' {summary} </summary>`;
    }
  }
}

function* textOf(text: string): Generator<ModelChunk> {
  const half = Math.ceil(text.length / 2);
  yield { type: "thinking_delta", text: "hm" };
  yield { type: "text_delta", text: text.slice(0, half) };
  yield { type: "text_delta", text: text.slice(half) };
}

function finish(reason: "stop" | "tool_calls"): ModelChunk {
  return { type: "finish", reason, usage: { inputTokens: 100, outputTokens: 7 } };
}
