import {
  assistantMessage,
  type Block,
  type JsonValue,
  type Message,
  type OpenCallState,
  type ToolResultBlock,
  type ToolResultState,
  toolResultMessage,
  type Usage,
  userMessage,
} from "@holdfast/core";
import { type TextPlan, writeText } from "./texts.js";

/** A conversation, and what is said where in it. */
export interface Conversation {
  /** Without the earlier summary. */
  readonly messages: readonly Message[];
  readonly openCalls: Readonly<Record<string, OpenCallState>>;
  /** Text of an earlier summary. */
  readonly summary: string | null;
  /** Every fact in a message, by the message's id: words found nowhere else. */
  readonly facts: ReadonlyMap<string, readonly string[]>;
  readonly summaryFacts: readonly string[];
}

/** What an assistant message says about its usage. */
export type UsageKind = "none" | "plausible" | "low" | "high" | "absurd";
/** Where the results of a message's calls stand. */
export type Layout =
  | "one"
  | "several"
  | "nested"
  | "from a user"
  | "with a request"
  | "missing"
  | "open";

/** One thing that happens in a conversation. */
export type Turn =
  | { readonly kind: "user"; readonly texts: readonly TextPlan[]; readonly extra: string }
  | { readonly kind: "hint"; readonly text: TextPlan }
  | { readonly kind: "orphan"; readonly text: TextPlan }
  | {
      readonly kind: "assistant";
      readonly text: TextPlan;
      readonly thinks: boolean;
      readonly usage: UsageKind;
    }
  | {
      readonly kind: "tools";
      readonly calls: readonly TextPlan[];
      readonly layout: Layout;
      readonly state: ToolResultState;
      readonly reusesIds: boolean;
      readonly result: TextPlan;
      readonly usage: UsageKind;
    };

/** Writes turns down as messages, with a fact in everything that is said. */
export class Script {
  readonly #tidy: boolean;
  readonly #withUsage: boolean;
  readonly #messages: Message[] = [];
  readonly #facts = new Map<string, string[]>();
  readonly #open: Record<string, OpenCallState> = {};
  #said: string[] = [];
  #count = 0;
  #chars = 0;

  constructor(tidy: boolean, withUsage: boolean) {
    this.#tidy = tidy;
    this.#withUsage = withUsage;
  }

  write(
    turns: readonly Turn[],
    summary: { readonly text: TextPlan; readonly places: number } | null,
  ): Conversation {
    const said = summary && this.#text(summary.text);
    const summaryFacts = this.#said;
    this.#said = [];
    for (const [index, turn] of turns.entries()) this.#turn(turn, index);
    const places = Array.from({ length: summary?.places ?? 0 }, (_, at) => `in file ${at}`);
    const kept = places.length === 0 ? "" : `\n<kept>\n${places.join("\n")}\n</kept>`;
    return {
      messages: this.#messages,
      openCalls: this.#open,
      summary: said === null ? null : `<summary>\n${said}\n</summary>${kept}`,
      facts: this.#facts,
      summaryFacts,
    };
  }

  #turn(turn: Turn, index: number): void {
    switch (turn.kind) {
      case "user":
        this.#user(turn.texts, turn.extra);
        break;
      case "hint":
        this.#add(userMessage([this.#hint(turn.text)]));
        break;
      case "orphan":
        this.#add(toolResultMessage(this.#result(`lost-${index}`, turn.text, "success")));
        break;
      case "assistant": {
        const content: Block[] = [{ type: "text", text: this.#text(turn.text) }];
        if (turn.thinks) content.unshift({ type: "thinking", text: this.#text(turn.text) });
        this.#add(assistantMessage(content, this.#usage(turn.usage)));
        break;
      }
      case "tools":
        this.#tools(turn, index);
    }
  }

  #user(texts: readonly TextPlan[], extra: string): void {
    const content: Block[] = texts.map((text) => ({ type: "text", text: this.#text(text) }));
    if (extra === "data")
      content.push({
        type: "data",
        mediaType: "image/png",
        source: { kind: "base64", data: "AAAA".repeat(20) },
      });
    if (extra === "hint") content.push(this.#hint({ words: "by the way", times: 1 }));
    this.#add(userMessage(content));
  }

  #tools(turn: Extract<Turn, { kind: "tools" }>, index: number): void {
    const { calls, layout, state, result } = turn;
    const reused = turn.reusesIds && !this.#tidy && layout !== "open";
    const ids = calls.map((_, at) => (reused ? `call_${at}` : `c-${index}-${at}`));
    const blocks = calls.map((text, at) => ({
      type: "tool_call" as const,
      id: ids[at] as string,
      name: "look",
      input: this.#input(text),
    }));
    this.#add(assistantMessage(blocks, this.#usage(turn.usage)));
    const answered = layout === "open" ? ids.slice(1) : layout === "missing" ? ids.slice(2) : ids;
    const half = Math.ceil(answered.length / 2);
    switch (layout) {
      case "several":
        for (const id of answered) this.#results([id], result, state);
        return;
      case "nested":
        this.#results(answered.slice(0, half), result, state);
        this.#add(
          assistantMessage([
            { type: "tool_call", id: `n-${index}`, name: "look", input: this.#input(result) },
          ]),
        );
        this.#results([`n-${index}`, ...answered.slice(half)], result, state);
        return;
      case "from a user":
        this.#add(userMessage(answered.map((id) => this.#result(id, result, state))));
        return;
      case "with a request":
        this.#add(
          userMessage([
            ...answered.map((id) => this.#result(id, result, state)),
            { type: "text", text: this.#text(result) },
          ]),
        );
        return;
      case "open":
        if (ids[0] !== undefined) this.#open[ids[0]] = "asking";
        this.#results(answered, result, state);
        return;
      default:
        this.#results(answered, result, state);
    }
  }

  #results(ids: readonly string[], text: TextPlan, state: ToolResultState): void {
    if (ids.length > 0)
      this.#add(toolResultMessage(ids.map((id) => this.#result(id, text, state))));
  }

  #result(callId: string, text: TextPlan, state: ToolResultState): ToolResultBlock {
    const output = [{ type: "text" as const, text: this.#text(text) }];
    return { type: "tool_result", toolCallId: callId, name: "look", output, state };
  }

  #input(text: TextPlan): JsonValue {
    return Object.fromEntries([
      ["at", this.#text(text)],
      ["__proto__", { deep: [this.#text({ ...text, times: 1 }), 7, null] }],
    ]);
  }

  #hint(text: TextPlan): Block {
    return { type: "hint", text: this.#text(text), source: "reminder" };
  }

  #text(plan: TextPlan): string {
    const fact = `[fact-${++this.#count}]`;
    this.#said.push(fact);
    const text = writeText(plan, fact);
    this.#chars += text.length;
    return text;
  }

  /** What a provider might have counted up to here. */
  #usage(kind: UsageKind): { readonly usage?: Usage } {
    const tokens = Math.ceil(this.#chars / 4) + 20;
    switch (this.#withUsage ? kind : "none") {
      case "plausible":
        return { usage: { inputTokens: tokens, outputTokens: 10, cachedInputTokens: 5 } };
      case "low":
        return { usage: { inputTokens: Math.ceil(tokens * 0.6), outputTokens: 0 } };
      case "high":
        return { usage: { inputTokens: tokens * 3, outputTokens: 10 } };
      case "absurd":
        return { usage: { inputTokens: tokens % 2 ? 9e15 : 1, outputTokens: -3 } };
      default:
        return {};
    }
  }

  #add(message: Message): void {
    this.#messages.push(message);
    this.#facts.set(message.id, this.#said);
    this.#said = [];
  }
}
