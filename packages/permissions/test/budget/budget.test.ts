import { ConfigurationError } from "@holdfast/core";
import { describePlugin } from "@holdfast/testing";
import { expect, test } from "vitest";
import { type BudgetOptions, budget } from "../../src/index.js";
import { agentWith } from "./budgeted-agent.js";

test.each<[BudgetOptions, RegExp]>([
  [{}, /there is no limit/],
  [{ perCall: {} }, /tokens, money or both/],
  [{ perUser: { money: 1 } }, /needs price/],
  [{ perCall: { tokens: 1 }, window: 1_000 }, /window is about perUser/],
  [{ perCall: { tokens: 0 } }, /perCall\.tokens/],
  [{ perCall: { tokens: 1 }, warnAt: 80 }, /warnAt/],
  [{ perSesion: { tokens: 1 } } as BudgetOptions, /perSession/],
])("options %j are refused", (options, message) => {
  expect(() => budget(options)).toThrow(ConfigurationError);
  expect(() => budget(options)).toThrow(message);
});

test("a reply of the program's own says it in its own words", async () => {
  const reply = ({ scope, limit }: { scope: string; limit: number }) =>
    `Schluss: ${scope} ${limit}`;
  const { say } = agentWith({ perSession: { tokens: 1 }, reply });
  await say();
  expect((await say()).text).toBe("Schluss: session 1");
});

const enough = { tokens: 1_000_000_000, money: 1_000 };

describePlugin("budget", {
  create: () =>
    budget({ perCall: enough, perSession: enough, perUser: enough, price: () => 0.000_1 }),
  events: ["budget_warning", "budget_exceeded"],
});
