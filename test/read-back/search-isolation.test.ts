import { ReActAgent, toolResultsOf, userMessage } from "@holdfast/core";
import { sessionTools } from "@holdfast/session-tools";
import { scaled, scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { logKinds, type OpenLog } from "./log-kinds.js";

const userIds = ["ada", "eve"];
const sessionIds = ["one", "two"];

const whose = fc.record({
  userId: fc.constantFrom(...userIds),
  sessionId: fc.constantFrom(...sessionIds),
});
const step = fc.oneof(
  { weight: 4, arbitrary: whose.map((ctx) => ({ do: "say" as const, ctx })) },
  { weight: 3, arbitrary: whose.map((ctx) => ({ do: "search" as const, ctx })) },
  { weight: 2, arbitrary: whose.map((ctx) => ({ do: "delete" as const, ctx })) },
  { weight: 2, arbitrary: whose.map((ctx) => ({ do: "delete user" as const, ctx })) },
);

describe.each(scaled(["encrypted"], Object.keys(logKinds)))("the index over the %s log", (kind) => {
  let open: OpenLog;
  beforeAll(() => {
    open = (logKinds[kind] as () => OpenLog)();
  });
  afterAll(() => open.close());

  test("knows of each user what is in the log at that moment, and nothing of another", async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 30 }), async (steps) => {
        const agentId = `agent-${run++}`;
        let query: string | undefined;
        const gone = new Map<string, string>();
        const model = scriptedModel(({ messages }) => {
          if (query === undefined || messages.at(-1)?.role === "tool") return "ok";
          return {
            toolCalls: [{ name: "session_search", input: { query, maxResults: 50 } }],
          };
        });
        const agent = new ReActAgent({
          name: agentId,
          model,
          log: open.log,
          plugins: [sessionTools()],
        });
        const said = new Map<string, { userId: string; sessionId: string }>();
        for (const [n, { do: what, ctx }] of steps.entries()) {
          const isTheirs = (each: { userId: string; sessionId: string }): boolean =>
            each.userId === ctx.userId &&
            (what === "delete user" || each.sessionId === ctx.sessionId);
          if (what === "say") {
            said.set(`stripe${n}x`, ctx);
            await agent.call(`My zebra stripe${n}x of ${ctx.userId}.`, ctx);
          } else if (what === "search") {
            const lost = gone.get(ctx.userId);
            query = `zebra ${lost ?? ""}`;
            const there = { ...ctx, sessionId: "asking" };
            await agent.call("Which?", there);
            query = undefined;
            const [result] = toolResultsOf(
              model.requests.at(-1)?.messages.at(-1) ?? userMessage(""),
            );
            await agent.deleteSession(there);
            const text = (result?.output ?? [])
              .map((part) => (part.type === "text" ? part.text : ""))
              .join("");
            const expected = [...said].filter(([, each]) => each.userId === ctx.userId);
            // Not even the counts and suggestions know more than the log.
            if (lost !== undefined) expect(text).toContain(`obody said "${lost}"`);
            const found = [...text.matchAll(/(?<!")stripe\d+x/g)].map(([word]) => word);
            expect([...new Set(found)].sort()).toEqual(expected.map(([word]) => word).sort());
          } else {
            for (const [word, each] of said) {
              if (!isTheirs(each)) continue;
              said.delete(word);
              gone.set(each.userId, word);
            }
            if (what === "delete") await agent.deleteSession(ctx);
            else await agent.deleteUser(ctx.userId);
          }
        }
        for (const userId of userIds) await agent.deleteUser(userId);
        await agent.close();
      }),
      { numRuns: scaled(8, 150) },
    );
  });
});
