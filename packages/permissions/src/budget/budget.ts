import {
  assistantMessage,
  ConfigurationError,
  definePlugin,
  type Message,
  type ModelCallStep,
  type Plugin,
  type PluginHost,
  type ReasoningStep,
  type Usage,
} from "@holdfast/core";
import { type Account, spendingStep } from "./account.js";
import type { BudgetUse } from "./budget-events.js";
import { BudgetExceededError } from "./budget-exceeded-error.js";
import { type BudgetOptions, type BudgetSettings, readBudgetOptions } from "./budget-options.js";
import { declareBudgetState } from "./budget-state.js";
import { CallAccount } from "./call-account.js";
import { SessionAccount } from "./session-account.js";
import { type Spend, tokensOf } from "./spend.js";
import { SpendCounter } from "./spend-counter.js";
import { UserAccount } from "./user-account.js";

/** Purposes of the agent's own requests: when they are refused the turn ends with a reply, and nothing fails. */
const ownPurposes: readonly string[] = ["reasoning", "explanation"];

/**
 * Limits the tokens and the money that calls, sessions and users spend on models, helper requests such as summaries included.
 *
 * Limits are checked before every request to a model. The agent's own request ends the turn with a reply that says so; a
 * helper request is refused with {@link BudgetExceededError}.
 *
 * @throws ConfigurationError
 * @example
 * const agent = new ReActAgent({
 *   name: "a", model,
 *   plugins: [budget({ perSession: { tokens: 500_000 }, perUser: { tokens: 2_000_000 }, windowMs: 86_400_000 })],
 * });
 */
export function budget(options: BudgetOptions): Plugin {
  const settings = readBudgetOptions(options);
  return definePlugin({
    name: "budget",
    contract: 1,
    setup(host) {
      const accounts = openAccounts(host, settings);
      const exceeded = async (
        step: Pick<ModelCallStep, "slot" | "ctx" | "state">,
      ): Promise<BudgetUse | null> => {
        const spending = spendingStep(step);
        for (const account of accounts) {
          const use = await account.exceeded(spending);
          if (use) return use;
        }
        return null;
      };
      const add = async (step: ModelCallStep, spend: Spend): Promise<void> => {
        const spending = spendingStep(step);
        for (const account of accounts)
          for (const use of await account.add(spending, spend))
            step.emit({ type: "budget_warning", ...use });
      };
      const end = (step: ReasoningStep, use: BudgetUse): Message => {
        step.emit({ type: "budget_exceeded", ...use, purpose: "reasoning" });
        step.stop();
        return assistantMessage(settings.reply(use), { createdAt: host.now() });
      };
      host.use({
        name: "budget",
        async onReasoning(step, next) {
          // Before anything else of the round: a compaction would be refused as well, and say so.
          const use = await exceeded(step);
          if (use) return end(step, use);
          try {
            return await next();
          } catch (error) {
            if (!BudgetExceededError.is(error)) throw error;
            return end(step, error.use);
          }
        },
        async *onModelCall(step, next) {
          const { purpose, slot, model } = step;
          const use = await exceeded(step);
          if (use) {
            if (!ownPurposes.includes(purpose))
              step.emit({ type: "budget_exceeded", ...use, purpose });
            throw new BudgetExceededError(purpose, slot, use);
          }
          for await (const chunk of next()) {
            if (chunk.type === "finish") {
              const tokens = tokensOf(chunk.usage);
              let money = 0;
              try {
                money = priceOf(settings, chunk.usage, model.id);
              } catch (error) {
                await add(step, { tokens, money });
                throw error;
              }
              await add(step, { tokens, money });
            }
            yield chunk;
          }
        },
      });
    },
  });
}

/** Opens an account for each limit, the narrowest first. */
function openAccounts(host: PluginHost, settings: BudgetSettings): readonly Account[] {
  const { perCall, perSession, perUser, windowMs, warnAt } = settings;
  const { agentId } = host.agent;
  const accounts: Account[] = [];
  if (perCall || perSession) {
    const state = declareBudgetState(host);
    if (perCall) accounts.push(new CallAccount({ limit: perCall, warnAt }, state));
    if (perSession) {
      const session = new SessionAccount({
        ...{ limit: perSession, warnAt, state, agentId },
        stateStore: host.require("stateStore"),
        counter: new SpendCounter(host.require("keyValue")),
      });
      host.onDelete((slot) => session.delete(slot));
      accounts.push(session);
    }
  }
  if (perUser) {
    const user = new UserAccount({
      ...{ limit: perUser, warnAt, windowMs, account: settings.account ?? agentId },
      counter: new SpendCounter(host.require("keyValue")),
      now: () => host.now(),
    });
    host.onDelete(async (slot) => {
      if (slot.userId === null) await user.delete(slot);
    });
    host.onDeleteUser((userId) => user.delete({ userId, sessionId: "" }));
    accounts.push(user);
  }
  return accounts;
}

/** @throws ConfigurationError for a price that is no amount: a limit of money would be void */
function priceOf({ price }: BudgetSettings, usage: Usage, modelId: string): number {
  const money = price ? price(usage, modelId) : 0;
  if (Number.isFinite(money) && money >= 0) return money;
  throw new ConfigurationError(
    `budget: price returned ${money} for model ${JSON.stringify(modelId)}; it must be a number of at least 0`,
  );
}
