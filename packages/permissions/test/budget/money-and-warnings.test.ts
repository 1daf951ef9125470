import { ConfigurationError, type Model, type Usage } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import type { BudgetOptions } from "../../src/index.js";
import { agentWith, usage } from "./budgeted-agent.js";

describe("money", () => {
  const price = ({ inputTokens, outputTokens }: Usage, modelId: string) =>
    modelId === "free" ? 0 : inputTokens * 0.01 + outputTokens * 0.03;

  test("is counted by the price function", async () => {
    const { say, ofType } = agentWith({ perSession: { money: 0.25, tokens: 1_000 }, price });
    await say();
    await say();
    expect(ofType("budget_warning")).toMatchObject([{ unit: "money", used: 0.26, limit: 0.25 }]);
    const reply = await say();
    expect(reply.text).toContain("0.26 of 0.25 in money");
  });

  test("depends on the model that answered", async () => {
    const free: Model = { ...scriptedModel(() => ({ usage, text: "Yes." })), id: "free" };
    const { say } = agentWith(
      { perCall: { money: 0.01 }, perSession: { money: 0.01 }, price },
      [],
      {
        model: free,
      },
    );
    for (let turn = 0; turn < 3; turn++) expect((await say()).reason).toBe("stop");
  });

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY])(
    "fails the call when the price is %s, whose tokens count all the same",
    async (wrong) => {
      const options: BudgetOptions = { perSession: { tokens: 11, money: 5 }, price: () => wrong };
      const { say } = agentWith(options);
      await expect(say()).rejects.toThrow(ConfigurationError);
      expect((await say()).text).toContain("11 of 11 tokens");
    },
  );
});

test("a warning comes once per limit and unit", async () => {
  const { say, ofType } = agentWith({
    perSession: { tokens: 100, money: 2 },
    perUser: { tokens: 50 },
    price: () => 0.25,
    warnAt: 0.5,
  });
  for (let turn = 0; turn < 6; turn++) await say();
  const warnings = ofType("budget_warning").map(({ scope, unit, used }) => [scope, unit, used]);
  expect(warnings).toEqual([
    ["user", "tokens", 33],
    ["session", "money", 1],
    ["session", "tokens", 55],
  ]);
});
