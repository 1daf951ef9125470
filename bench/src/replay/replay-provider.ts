import type { Message, ToolSchema, Usage } from "@holdfast/core";
import { contextLengthError } from "./context-length-error.js";
import { pseudoSummary } from "./pseudo-summary.js";
import { requestProblems, saysUser } from "./request-problems.js";
import type { Script, ScriptedCall, ScriptedReply } from "./script.js";
import { type Purpose, TokenLedger, type WrittenRequest } from "./token-ledger.js";
import { tokensOf, writeFixedPart, writeMessage } from "./tokens.js";

/** A request as it reaches the provider, of any contender. */
export interface ProviderRequest {
  readonly purpose: Purpose;
  readonly system: string;
  readonly tools: readonly ToolSchema[];
  readonly messages: readonly Message[];
}

/** Answer of the provider. */
export interface Completion extends ScriptedReply {
  readonly usage: Usage;
}

/** Script to play, and the room for it. */
export interface ReplayOptions {
  readonly script: Script;
  readonly window: number;
  /** Tokens of the fixed part that all would have without additions of their own. */
  readonly comparableFixedTokens: number;
}

/**
 * A model provider that plays the assistant's side of a script.
 *
 * It answers by its place in the script, which only an answered reasoning request moves; it refuses what does not fit
 * its window, checks every request, and keeps the books.
 */
export class ReplayProvider {
  readonly ledger: TokenLedger;
  readonly window: number;
  /** Problems of requests, at most one entry per request. */
  readonly problems: string[] = [];
  /** Requests that did not fit the window. */
  refused = 0;
  readonly #script: Script;
  readonly #written = new WeakMap<Message, string>();
  #turn = 0;
  #reply = 0;
  #pending: ScriptedCall[] = [];

  constructor({ script, window, comparableFixedTokens }: ReplayOptions) {
    this.#script = script;
    this.window = window;
    this.ledger = new TokenLedger(comparableFixedTokens);
  }

  /** True once every turn was played to its end. */
  get isFinished(): boolean {
    return this.#turn === this.#script.turns.length && this.#pending.length === 0;
  }

  /** @throws like an OpenAI client when the request does not fit the window */
  complete(request: ProviderRequest): Completion {
    const written: WrittenRequest = {
      purpose: request.purpose,
      fixedPart: writeFixedPart(request.system, request.tools),
      messages: request.messages.map((message) => this.#write(message)),
    };
    const tokens = this.ledger.count(written);
    const inputTokens = tokens.fixed + tokens.messages;
    if (inputTokens > this.window) {
      this.refused++;
      throw contextLengthError(inputTokens, this.window);
    }
    this.#check(request);
    const reply = request.purpose === "summary" ? summarise(written) : this.#next();
    const outputTokens = tokensOf(
      [
        reply.text,
        ...reply.calls.map(({ name, input }) => `${name} ${JSON.stringify(input)}`),
      ].join("\n"),
    );
    this.ledger.book(written, tokens, outputTokens);
    const cachedInputTokens = tokens.messagesCached + (tokens.fixedCached ? tokens.fixed : 0);
    return { ...reply, usage: { inputTokens, outputTokens, cachedInputTokens } };
  }

  /** The recorded result of the oldest call of `name` that the last reply made and that has none yet. */
  resultOf(name: string): string {
    const index = this.#pending.findIndex((call) => call.name === name);
    const [call] = index < 0 ? [] : this.#pending.splice(index, 1);
    if (!call) throw new Error(`the script does not call ${name} here`);
    return call.result;
  }

  #check({ purpose, messages }: ProviderRequest): void {
    const problems = requestProblems(messages);
    if (purpose === "reasoning") {
      const request = this.#script.turns[this.#turn]?.users.at(-1);
      if (request !== undefined && !saysUser(messages, request))
        problems.push("the current request of the user is missing");
      if (this.#pending.length > 0) problems.push("a call of the last reply was not made");
    }
    if (problems.length > 0)
      this.problems.push(
        `turn ${this.#turn}, reply ${this.#reply}, ${purpose}: ${problems.join("; ")}`,
      );
  }

  #next(): ScriptedReply {
    const turn = this.#script.turns[this.#turn];
    const reply = turn?.replies[this.#reply];
    if (!turn || !reply) throw new Error("the script is over, but there is another request");
    this.#pending = [...reply.calls];
    this.#reply++;
    if (this.#reply === turn.replies.length) [this.#turn, this.#reply] = [this.#turn + 1, 0];
    return reply;
  }

  #write(message: Message): string {
    const written = this.#written.get(message) ?? writeMessage(message);
    this.#written.set(message, written);
    return written;
  }
}

function summarise({ messages }: WrittenRequest): ScriptedReply {
  return { text: pseudoSummary(messages.join("\n")), calls: [] };
}
