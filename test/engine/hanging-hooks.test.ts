import {
  CallAbortedError,
  type Plugin,
  ReActAgent,
  type ReActAgentOptions,
  type Tool,
  tool,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { door } from "./door.js";

/** Says that it was reached, and never answers. */
type Hang = () => Promise<never>;

const plain = { name: "t", description: "t", input: z.object({}), execute: () => "ran" };

function providing(setup: Plugin["setup"]): Partial<ReActAgentOptions> {
  return { tools: [tool(plain)], plugins: [{ name: "p", contract: 1, setup }] };
}

function withTool(more: Partial<Tool>): Partial<ReActAgentOptions> {
  return { tools: [tool({ ...plain, ...more } as typeof plain)] };
}

const places: readonly [string, (hang: Hang) => Partial<ReActAgentOptions>][] = [
  ["a tool guard", (hang) => providing((host) => host.provide("toolGuard", { check: hang }))],
  ["needsApproval", (needsApproval) => withTool({ needsApproval })],
  ["the schema of a tool", (hang) => withTool({ input: z.object({}).refine(hang) })],
  ["onSystemPrompt", (hang) => ({ middleware: [{ name: "m", onSystemPrompt: hang }] })],
  ["a section of the prompt", (hang) => providing((host) => host.promptSection(hang))],
  [
    "the prefetch of a section",
    (hang) => providing((host) => host.promptSection((prompt) => prompt, hang)),
  ],
];

describe.each(places)("a call in which %s hangs", (_, optionsWith) => {
  function hangingAgent(): { readonly agent: ReActAgent; readonly hanging: () => Promise<void> } {
    const reached = door();
    const hang: Hang = () => {
      reached.open();
      return new Promise(() => undefined);
    };
    let asked = 0;
    const model = scriptedModel(() =>
      ++asked === 1 ? { toolCalls: [{ name: "t", input: {} }] } : "ok",
    );
    const agent = new ReActAgent({ name: "a", model, ...optionsWith(hang) });
    const hanging = async () => {
      await reached.opened;
      // A prefetch begins while the call still asks for its session.
      await expect.poll(async () => (await agent.health()).calls.running).toBe(1);
    };
    return { agent, hanging };
  }

  test("is stopped by an interrupt", async () => {
    const { agent, hanging } = hangingAgent();
    const call = agent.call("go", { sessionId: "s" });
    await hanging();
    expect(await agent.interrupt(null, "s")).toBe("stopped");
    expect((await call).reason).toBe("interrupted");
    expect((await agent.health()).calls).toEqual({ running: 0, waiting: 0 });
  });

  test("is ended by its signal", async () => {
    const { agent, hanging } = hangingAgent();
    const aborting = new AbortController();
    const call = agent.call("go", { sessionId: "s", signal: aborting.signal });
    await hanging();
    aborting.abort();
    await expect(call).rejects.toSatisfy(CallAbortedError.is);
    expect((await agent.health()).calls).toEqual({ running: 0, waiting: 0 });
  });
});
