import { messageTokens, remembering, replyTokens, tokensOf } from "./tokens.js";

/** Purpose of a request. */
export type Purpose = "reasoning" | "summary";

/** A request, written out for counting. */
export interface WrittenRequest {
  readonly purpose: Purpose;
  /** System prompt and tool schemas. */
  readonly fixedPart: string;
  readonly messages: readonly string[];
}

/** Tokens of one request. */
export interface RequestTokens {
  readonly fixed: number;
  /** With what the beginning of the reply takes. */
  readonly messages: number;
  /** True when the fixed part was sent before. */
  readonly fixedCached: boolean;
  /** Of the messages: those that follow the fixed part just as in an earlier request. */
  readonly messagesCached: number;
}

/** Sums over the requests of one purpose. */
export interface Totals {
  readonly requests: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** Input that is billed, in full tokens: what is cached costs a tenth. */
  readonly billed: number;
  /** The same, with the fixed part of `comparableFixedTokens` in every request that has one. */
  readonly billedAlike: number;
}

/** Price of cached input, as a part of that of other input. */
const cachedPrice = 0.1;

interface Node {
  readonly next: Map<string, Node>;
}

/**
 * Tokens that a provider with a prefix cache would bill for a run.
 *
 * A request's cached part is the longest one it has in common with any earlier request, from the fixed part on and in
 * whole messages. Nothing expires.
 */
export class TokenLedger {
  readonly #sent: Node = { next: new Map() };
  readonly #fixedTokens = remembering(tokensOf);
  readonly #messageTokens = remembering(messageTokens);
  readonly #requests: (RequestTokens & { purpose: Purpose; output: number })[] = [];
  readonly #comparableFixedTokens: number;

  constructor(comparableFixedTokens: number) {
    this.#comparableFixedTokens = comparableFixedTokens;
  }

  /** Counts a request, which leaves no trace yet: one that is refused is neither billed nor cached. */
  count({ fixedPart, messages }: WrittenRequest): RequestTokens {
    let node = this.#sent.next.get(fixedPart);
    const fixed = this.#fixedTokens(fixedPart);
    const [fixedCached, counts] = [node !== undefined, { all: replyTokens, cached: 0 }];
    for (const message of messages) {
      const tokens = this.#messageTokens(message);
      counts.all += tokens;
      node = node?.next.get(message);
      if (node) counts.cached += tokens;
    }
    return { fixed, messages: counts.all, fixedCached, messagesCached: counts.cached };
  }

  /** Books a request that was answered. */
  book(request: WrittenRequest, tokens: RequestTokens, output: number): void {
    let node = this.#sent;
    for (const part of [request.fixedPart, ...request.messages]) {
      const next: Node = node.next.get(part) ?? { next: new Map() };
      node.next.set(part, next);
      node = next;
    }
    this.#requests.push({ ...tokens, purpose: request.purpose, output });
  }

  totals(purpose: Purpose): Totals {
    const totals = { requests: 0, input: 0, cached: 0, output: 0, billed: 0, billedAlike: 0 };
    for (const request of this.#requests) {
      if (request.purpose !== purpose) continue;
      const { fixed, fixedCached, messages, messagesCached } = request;
      const alike = fixed === 0 ? 0 : this.#comparableFixedTokens;
      const price = fixedCached ? cachedPrice : 1;
      const billedMessages = messages - messagesCached + messagesCached * cachedPrice;
      totals.requests++;
      totals.input += fixed + messages;
      totals.cached += messagesCached + (fixedCached ? fixed : 0);
      totals.output += request.output;
      totals.billed += billedMessages + fixed * price;
      totals.billedAlike += billedMessages + alike * price;
    }
    return totals;
  }

  /** Tokens of the longest answered request of a purpose. */
  longest(purpose: Purpose): number {
    let longest = 0;
    for (const request of this.#requests)
      if (request.purpose === purpose)
        longest = Math.max(longest, request.fixed + request.messages);
    return longest;
  }
}
