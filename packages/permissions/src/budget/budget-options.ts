import type { Usage } from "@holdfast/core";
import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { BudgetUse } from "./budget-events.js";
import { exceededText } from "./exceeded-text.js";
import type { SpendLimit } from "./spend.js";

/** Options of {@link budget}. At least one limit is needed. */
export interface BudgetOptions {
  /** Limit of one call of the agent, with the helper requests made during it. @default none */
  readonly perCall?: SpendLimit | undefined;
  /** Limit of a session, over its whole life. @default none */
  readonly perSession?: SpendLimit | undefined;
  /** Limit of a user over all sessions and nodes, or of an anonymous session; per window when `window` is set. @default none */
  readonly perUser?: SpendLimit | undefined;
  /**
   * Windows in which `perUser` is counted, by name or by their length in milliseconds. They are fixed and begin at multiples of
   * their length since 1970, so that a day begins at midnight UTC. @default a user's count never starts over
   */
  readonly window?: number | "hour" | "day" | "week" | undefined;
  /** Returns the price of one request to a model; needed by limits of money. */
  readonly price?: ((usage: Usage, modelId: string) => number) | undefined;
  /** Part of a limit at which `budget_warning` is emitted, above 0 and below 1. @default 0.8 */
  readonly warnAt?: number | undefined;
  /** Returns the reply that ends a turn whose budget is used up. @default an English sentence that says what to do */
  readonly reply?: ((use: BudgetUse) => string) | undefined;
  /** Name of the account that users are counted in: agents with the same one share their users' limits. @default the agent's id */
  readonly account?: string | undefined;
}

/** {@link BudgetOptions} with the defaults filled in. */
export interface BudgetSettings extends Omit<BudgetOptions, "window"> {
  readonly windowMs: number | undefined;
  readonly warnAt: number;
  reply(use: BudgetUse): string;
}

const hourMs = 3_600_000;
const windows = { hour: hourMs, day: 24 * hourMs, week: 168 * hourMs };

const limit = s
  .strictObject({ tokens: s.int().min(1).optional(), money: s.number().positive().optional() })
  .refine(({ tokens, money }) => tokens !== undefined || money !== undefined, {
    message: "must have tokens, money or both",
  });

const fn = <F>() => s.custom<F>((value) => typeof value === "function", "must be a function");

const optionsSchema = s
  .strictObject({
    perCall: limit.optional(),
    perSession: limit.optional(),
    perUser: limit.optional(),
    window: s.union([s.int().min(1), s.enum(["hour", "day", "week"])]).optional(),
    price: fn<NonNullable<BudgetOptions["price"]>>().optional(),
    warnAt: s.number().gt(0).lt(1).default(0.8),
    reply: fn<NonNullable<BudgetOptions["reply"]>>().default(() => exceededText),
    account: s.string().min(1).max(256).optional(),
  })
  .superRefine((options, context) => {
    const { perCall, perSession, perUser, window, price } = options;
    const refuse = (message: string) => context.addIssue({ message });
    const limits = [perCall, perSession, perUser].filter((one) => one !== undefined);
    if (limits.length === 0)
      refuse("set perCall, perSession or perUser: there is no limit to keep");
    if (price === undefined && limits.some(({ money }) => money !== undefined))
      refuse("a limit of money needs price, a function that returns the price of a request");
    if (window !== undefined && perUser === undefined)
      refuse("window is about perUser, which is not set");
  });

/**
 * Checks the options and fills in the defaults.
 *
 * @throws ConfigurationError
 */
export function readBudgetOptions(options: BudgetOptions): BudgetSettings {
  const { window, ...settings } = parseOptions(optionsSchema, options, "budget");
  return { ...settings, windowMs: typeof window === "string" ? windows[window] : window };
}
