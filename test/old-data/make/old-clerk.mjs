// Part of make-fixtures.mjs: the agent that had the conversations.
import { compaction } from "@holdfast/compaction";
import { definePlugin, listGuard, suspend, tool, toolResult } from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";

export const usage = { inputTokens: 7, outputTokens: 3 };
export const any = z.object({}).loose();
/** Over 64 KB, which the log keeps apart from its record. */
export const long = `${"A row of a dump, all of it kept; é漢🌤\n".repeat(1_550)}mark-dumped at the end`;
/** Over 4,000 characters, which leave the context. */
const bulky = `mark-bulky ${"and so on ".repeat(500)} mark-unseen, in what the context lost ${"and on ".repeat(200)}`;
export const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export function clerk({ options }, script, { onHang = () => undefined, ...more } = {}) {
  const tools = [
    tool({
      name: "look",
      description: "Looks.",
      input: any,
      execute: ({ at }) => `mark-seen-${at}`,
    }),
    tool({
      name: "fail",
      description: "Fails.",
      input: any,
      execute: () => {
        throw new Error("mark-broken");
      },
    }),
    tool({ name: "forbidden", description: "Is denied.", input: any, execute: () => "never" }),
    tool({ name: "send", description: "Asks.", input: any, execute: ({ to }) => `sent to ${to}` }),
    tool({ name: "outside", description: "Runs outside.", input: any }),
    tool({
      name: "later",
      description: "Answers later.",
      input: any,
      execute: () => suspend("printing"),
    }),
    tool({ name: "dump", description: "Dumps.", input: any, execute: () => long }),
    tool({ name: "collect", description: "Collects.", input: any, execute: () => bulky }),
    tool({
      name: "photo",
      description: "Takes a photo.",
      input: any,
      execute: () =>
        toolResult({
          output: [
            { type: "text", text: "mark-photo" },
            {
              type: "data",
              mediaType: "image/png",
              source: { kind: "base64", data: pixel },
              name: "p.png",
            },
          ],
          metadata: { camera: "front" },
        }),
    }),
    tool({
      name: "hang",
      description: "Never ends.",
      input: any,
      execute: () => {
        onHang();
        return new Promise(() => undefined);
      },
    }),
  ];
  const counter = definePlugin({
    name: "counter",
    contract: 1,
    setup(host) {
      const state = host.state({
        schema: z.object({ count: z.number() }),
        initial: () => ({ count: 0 }),
      });
      const execute = (_, { agentState }) => {
        const count = state.get(agentState).count + 1;
        state.set(agentState, { count });
        return `counted ${count}`;
      };
      host.tool(tool({ name: "count", description: "Counts.", input: any, execute }));
    },
  });
  const guard = definePlugin({
    name: "guard",
    contract: 1,
    setup: (host) => host.provide("toolGuard", listGuard({ deny: ["forbidden"], ask: ["send"] })),
  });
  return HarnessAgent.create({
    name: "clerk",
    systemPrompt: "You are a clerk.",
    model: typeof script.stream === "function" ? script : scriptedModel(script.map(withUsage)),
    tools,
    plugins: [
      guard,
      counter,
      toolResultEviction({ maxResultChars: 4_000, previewChars: 200, exclude: ["dump"] }),
      compaction({ keepMessages: 2 }),
    ],
    ...options,
    ...more,
  });
}

export const withUsage = (reply) =>
  typeof reply === "string" ? { text: reply, usage } : { usage, ...reply };
export const calls = (...names) => ({
  toolCalls: names.map(([name, input = {}]) => ({ name, input })),
});

/** One agent per conversation, as if every one of them had a process of its own. */
export async function talk(place, whose, script, says) {
  const agent = clerk(place, script);
  const replies = [];
  for (const [input, context = {}] of says)
    replies.push(await agent.call(input, { ...whose, ...context }));
  await agent.close();
  return replies;
}

export const alice = (sessionId) => ({ userId: "alice", sessionId });
export const bob = (sessionId) => ({ userId: "bob", sessionId });
