import type { Usage } from "@holdfast/core";

/** Tokens and money that model calls have used. */
export interface Spend {
  readonly tokens: number;
  readonly money: number;
}

/** Limit of tokens, of money, or of both. */
export interface SpendLimit {
  /** Tokens of requests and replies together. @default no limit */
  readonly tokens?: number | undefined;
  /** Money, in the unit of `price`. @default no limit */
  readonly money?: number | undefined;
}

/** Unit in which a limit is counted. */
export type SpendUnit = keyof Spend;

/** Use of one limit. */
export interface LimitUse {
  readonly unit: SpendUnit;
  readonly used: number;
  readonly limit: number;
}

/** Spend of nothing yet; what a sum starts from. */
export const nothingSpent: Spend = { tokens: 0, money: 0 };

/** Adds up two spends. */
export function addSpend(one: Spend, other: Spend): Spend {
  return { tokens: one.tokens + other.tokens, money: one.money + other.money };
}

/** Returns the tokens of a request and its reply; cached ones are among those of the request. */
export function tokensOf({ inputTokens, outputTokens }: Usage): number {
  return inputTokens + outputTokens;
}

/** Returns the limits of which `spent` is at least the given part. */
export function limitsReached(limit: SpendLimit, spent: Spend, part = 1): readonly LimitUse[] {
  return (["tokens", "money"] as const).flatMap((unit) => {
    const most = limit[unit];
    const used = spent[unit];
    return most !== undefined && used >= most * part ? [{ unit, used, limit: most }] : [];
  });
}
