import type { AgentRun } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { ctx, desk, lookUp, sent, signed } from "./desk.js";
import { providerKits } from "./provider-kits.js";

/** Nothing that base64 or JSON could quietly change. */
const tokens = { first: "Zmlyc3QrdG9rZW4/Pz8+Pg==", second: "c2Vjb25kK3Rva2VuLy8v" };

/** The texts of a run's deltas, until there are as many. */
async function deltas(run: AgentRun, count = Number.POSITIVE_INFINITY): Promise<string[]> {
  const texts: string[] = [];
  for await (const event of run) {
    if (event.type === "text_delta") texts.push(event.text);
    if (texts.length === count) break;
  }
  return texts;
}

describe.each(providerKits)("one agent over $name", (kit) => {
  test("streams a text as it comes", async () => {
    const { start, hire } = await desk();
    const server = await start(kit, [{ text: ["Good ", "morning", "."] }]);
    const run = hire(kit, server).stream("Hello.", ctx);
    expect(await deltas(run)).toEqual(["Good ", "morning", "."]);
    expect(await run.result).toMatchObject({ reason: "stop", text: "Good morning." });
  });

  test("calls tools, and sends their results back", async () => {
    const { start, hire } = await desk();
    const second = { name: "look_up", input: { number: 8, fields: ["state"] } };
    const server = await start(kit, [
      { text: "Let me look.", toolCalls: [lookUp, second] },
      { text: "Both are shipped.", usage: { input: 50, output: 5 } },
    ]);
    const reply = await hire(kit, server).call("Where are orders 7 and 8?", ctx);
    expect(reply).toMatchObject({ reason: "stop", text: "Both are shipped." });
    expect(server.requests).toHaveLength(2);
    for (const result of ["order 7: shipped", "order 8: shipped"])
      expect(sent(server, 1)).toContain(result);
  });

  test("keeps thinking with its signature, and sends it back as it was", async () => {
    const { start, hire } = await desk();
    const server = await start(kit, [
      signed(tokens.first, { toolCalls: [lookUp] }),
      signed(tokens.second, { text: ["It is ", "shipped."] }),
      { text: "You are welcome." },
    ]);
    const agent = hire(kit, server);
    await agent.call("Where is order 7?", ctx);
    const asked = sent(server, 1);
    expect(asked).toContain("I think.");
    expect(asked.includes(JSON.stringify(tokens.first))).toBe(kit.signs);
    // Another instance knows the session from its store.
    await agent.close();
    await hire(kit, server).call("Thanks.", ctx);
    for (const token of Object.values(tokens))
      expect(sent(server, 2).includes(JSON.stringify(token))).toBe(kit.signs);
    // None was refused and sent again with less.
    expect(server.requests).toHaveLength(3);
  });

  test("makes room when the server's window refuses, and the same call succeeds", async () => {
    const { start, hire, events } = await desk();
    const server = await start(
      kit,
      ({ body }) =>
        isSummaryRequest(body) ? { text: "They talked about orders." } : { text: "Noted." },
      { windowTokens: 9_000 },
    );
    const agent = hire(kit, server);
    const page = (name: string) => `Page ${name}. ${"Lorem ipsum dolor. ".repeat(300)}`;
    let turns = 0;
    while (!events.some(({ type }) => type === "overflow_recovery") && turns++ < 10)
      expect(await agent.call(page(`number ${turns}`), ctx)).toMatchObject({
        reason: "stop",
        text: "Noted.",
      });
    expect(turns).toBeGreaterThan(1);
    expect(events.find(({ type }) => type === "overflow_recovery")).toMatchObject({
      recovered: true,
    });
    const last = sent(server, -1);
    expect(last).toContain("They talked about orders.");
    expect(last.split(`Page number ${turns}.`)).toHaveLength(2);
    expect(last).not.toContain("Page number 1.");
    expect(last.length).toBeLessThan(4 * 9_000);
    expect(await agent.call("And now?", ctx)).toMatchObject({ text: "Noted." });
  });

  test("can be interrupted in mid-stream: the text so far stays, and the connection goes", async () => {
    const { start, hire } = await desk();
    const server = await start(kit, [
      {
        thinking: { text: "I think." },
        text: ["The first ", "half", " and the rest"],
        fault: { afterDeltas: 3, kind: "stall" },
      },
      { text: "All of it." },
    ]);
    const agent = hire(kit, server);
    const run = agent.stream("Tell me all.", ctx);
    expect(await deltas(run, 2)).toEqual(["The first ", "half"]);
    expect(server.openConnections).toBe(1);
    expect(await agent.interrupt(ctx)).toBe("stopped");
    expect(await run.result).toMatchObject({ reason: "interrupted", text: "The first half" });
    await server.disconnected();
    expect(server.openConnections).toBe(0);
    expect(await agent.call("Again.", ctx)).toMatchObject({ reason: "stop", text: "All of it." });
    expect(server.requests).toHaveLength(2);
    expect(sent(server, 1)).toContain("The first half");
  });

  test("can be interrupted in mid-thought, and in the middle of a tool call", async () => {
    const { start, hire } = await desk();
    const server = await start(kit, [
      { thinking: { text: "I think." }, fault: { afterDeltas: 1, kind: "stall" } },
      { text: "Let me", toolCalls: [lookUp], fault: { afterDeltas: 2, kind: "stall" } },
      { text: "Here I am." },
    ]);
    const agent = hire(kit, server);
    for (const _ of [1, 2]) {
      const run = agent.stream("Where is order 7?", ctx);
      for await (const { type } of run)
        if (type === "thinking_delta" || type === "text_delta") break;
      await agent.interrupt(ctx);
      expect(await run.result).toMatchObject({ reason: "interrupted" });
      await server.disconnected();
    }
    expect(await agent.call("Still there?", ctx)).toMatchObject({ text: "Here I am." });
    expect(server.requests).toHaveLength(3);
  });
});

/** The summariser is told what to write; nobody else is. */
function isSummaryRequest(body: unknown): boolean {
  return JSON.stringify(body).includes("SESSION INTENT");
}
