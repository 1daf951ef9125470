import { ConfigurationError, InMemoryFilesystem, ReActAgent } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { type MemoryFlushOptions, memoryFlush } from "../src/index.js";
import { readOptions } from "../src/memory-flush-options.js";

const model = scriptedModel([]);

describe("options", () => {
  test("have the documented defaults", () => {
    expect(readOptions({})).toEqual({
      model: undefined,
      throttleMs: 600_000,
      flushPrompt: undefined,
      consolidation: { minGapMs: 1_800_000, maxTokens: 4_000 },
      dailyRetentionDays: 90,
      sessionRetentionDays: undefined,
      timeoutMs: 120_000,
      finishOnClose: false,
      tools: true,
    });
    expect(readOptions({ consolidation: { maxTokens: 500 } }).consolidation).toEqual({
      minGapMs: 1_800_000,
      maxTokens: 500,
    });
  });

  test.each<[string, unknown, string]>([
    ["flushTrigger", "sometimes", '"always", "never" or { throttleMs'],
    ["flushTrigger", { throttleMs: -1 }, "flushTrigger.throttleMs is -1"],
    ["dailyRetentionDays", 0, "dailyRetentionDays"],
    ["sessionRetentionDays", 1.5, "sessionRetentionDays"],
    ["timeoutMs", 0, "timeoutMs"],
    ["model", {}, "must be a Model"],
    ["consolidation", { maxTokens: 5 }, "consolidation.maxTokens"],
    ["consolidation", { minGap: 5 }, "minGap"],
    ["flushPrompt", " ", "flushPrompt"],
    ["flushPromt", "x", "flushPromt"],
  ])("%s: %j is refused by name", (name, value, words) => {
    const build = () => memoryFlush({ [name]: value } as MemoryFlushOptions);
    expect(build).toThrow(ConfigurationError);
    expect(build).toThrow(words);
  });
});

describe("an agent", () => {
  test("cannot be built without a filesystem, and is told what to do", () => {
    const build = () => new ReActAgent({ name: "agent", model, plugins: [memoryFlush()] });
    expect(build).toThrow('plugin "memory-flush" needs a filesystem');
    expect(build).toThrow("add a workspace");
  });

  test.each([
    [true, ["memory_search", "memory_get", "memory_save"]],
    [false, []],
  ])("has the tools when tools is %s", async (tools, names) => {
    const spoken = scriptedModel(["Hello.", "NOTHING"]);
    const agent = new ReActAgent({
      name: "agent",
      model: spoken,
      filesystem: new InMemoryFilesystem(),
      plugins: [memoryFlush({ tools, flushTrigger: "never" })],
    });
    await agent.call("Hello.");
    await agent.close();
    expect(spoken.requests[0]?.tools.map(({ name }) => name)).toEqual(names);
  });

  test("schedules a consolidation when the model saves something", async () => {
    const filesystem = new InMemoryFilesystem();
    const spoken = scriptedModel([
      { toolCalls: [{ name: "memory_save", input: { content: "- Alice likes tea" } }] },
      "Saved.",
    ]);
    const agent = new ReActAgent({
      name: "agent",
      model: spoken,
      filesystem,
      plugins: [memoryFlush({ flushTrigger: "never", model: scriptedModel(["# Memory\n- tea"]) })],
    });
    const slot = { agentId: "agent", userId: "alice", sessionId: "s1" };
    await agent.call("Remember that.", slot);
    await agent.close();
    const memory = await filesystem.read(slot, "MEMORY.md");
    expect(new TextDecoder().decode(memory ?? undefined)).toBe("# Memory\n- tea\n");
  });
});
