import { createHash } from "node:crypto";
import type { DistributedStore } from "@holdfast/core";
import { tool } from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent, type HarnessAgentBuilder } from "@holdfast/harness";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { type ReplyFunction, scriptedModel, tempDirectory } from "@holdfast/testing";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { z } from "zod";
import { lastResult, type PagedText, pagingModel, textsOf } from "./page-through.js";

const ctx = { userId: "alice", sessionId: "s" };
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Where states and files are kept. */
const backends: Readonly<
  Record<string, () => Promise<(builder: HarnessAgentBuilder) => HarnessAgentBuilder>>
> = {
  files: async () => {
    const root = await tempDirectory();
    onTestFinished(() => root[Symbol.asyncDispose]());
    const stateStore = new JsonFileAgentStateStore({ root: `${root.path}/state` });
    return (builder) => builder.stateStore(stateStore).workspace(`${root.path}/workspace`);
  },
  Redis: async () => {
    const client = new Redis(inject("redisUrl"));
    const store = RedisDistributedStore.from(client, { keyPrefix: `${crypto.randomUUID()}:` });
    return distributed(store, () => client.disconnect());
  },
  MySQL: async () => {
    const pool = createPool(inject("mysqlUrl"));
    const tablePrefix = `t${crypto.randomUUID().slice(0, 8)}_`;
    const store = MysqlDistributedStore.from(pool, { tablePrefix });
    return distributed(store, () => pool.end());
  },
};

async function distributed(store: DistributedStore, end: () => unknown) {
  const root = await tempDirectory();
  onTestFinished(async () => {
    await store.stateStore.close();
    await end();
    await root[Symbol.asyncDispose]();
  });
  return (builder: HarnessAgentBuilder) => builder.distributedStore(store).workspace(root.path);
}

/** An agent with a tool that returns `text`, and eviction. */
async function agentOn(backend: string, text: string, reply: ReplyFunction) {
  const configure = await (backends[backend] as NonNullable<(typeof backends)[string]>)();
  const dump = tool({
    name: "dump",
    description: "Dumps the database.",
    input: z.object({}),
    execute: () => text,
  });
  const model = scriptedModel(reply);
  const builder = HarnessAgent.builder().name("a").model(model).tools(dump).maxIterations(1_000);
  const agent = configure(builder).use(toolResultEviction()).build();
  onTestFinished(() => agent.close());
  return { agent, model };
}

/** About five megabytes of lines, each different. */
const fiveMegabytes = Array.from(
  { length: 80_000 },
  (_, index) => `${index}: the quick brown fox jumps over the lazy dog; $& é 漢 🌤`,
).join("\n");

/** Over a server every page fetches the file again, so that a fifth of it has to do there. */
const shares = [
  ["files", 1],
  ["Redis", 0.2],
  ["MySQL", 0.2],
] as const;

describe.each(shares)("a tool result of megabytes, states and files in %s", (backend, share) => {
  const whole = fiveMegabytes.slice(0, fiveMegabytes.length * share);

  test("costs the saved state under 5 KB and comes back byte for byte through read_file", async () => {
    expect(Buffer.byteLength(whole)).toBeGreaterThan(5_000_000 * share);
    const paged: PagedText = { text: "", pages: 0, isCut: false };
    const reading = pagingModel("dump", paged);
    const first = await agentOn(backend, whole, (request, index) =>
      index < 2 && index === 1 ? "I will read it later." : reading(request, index),
    );
    const empty = await agentOn(backend, "", (_, index) =>
      index === 0 ? { toolCalls: [{ name: "dump", input: {} }] } : "I will read it later.",
    );
    await first.agent.call("dump it", ctx);
    await empty.agent.call("dump it", ctx);
    const size = async ({ agent }: typeof first) =>
      Buffer.byteLength((await agent.getAgentState(ctx.userId, ctx.sessionId))?.toJson() ?? "");
    expect((await size(first)) - (await size(empty))).toBeLessThan(5 * 1_024);
    await first.agent.call("now read it", ctx);
    expect(paged.pages).toBeGreaterThan(70 * share);
    expect(sha256(paged.text)).toBe(sha256(whole));
  });
});

test("a single line of 10 MB is paged by characters, and grep_files finds things in it", async () => {
  const line = Array.from({ length: 1_250_000 }, (_, index) => String(index).padStart(8, "0")).join(
    "",
  );
  const needle = "00777777";
  let hit = "";
  let around = "";
  const { agent } = await agentOn("files", line, ({ messages }, index) => {
    if (index === 0) return { toolCalls: [{ name: "dump", input: {} }] };
    const [text = ""] = textsOf(lastResult(messages));
    if (index === 1) {
      const path = /read_file, path "([^"]+)"/.exec(text)?.[1] ?? "";
      return { toolCalls: [{ name: "grep_files", input: { pattern: needle, path } }] };
    }
    if (index === 2) {
      hit = text;
      const at = Number(/char_offset (\d+)/.exec(text)?.[1]);
      const path = /large_tool_results\/[^\s:"]+/.exec(text)?.[0] ?? "";
      return { toolCalls: [{ name: "read_file", input: { path, offset: 1, char_offset: at } }] };
    }
    around = text;
    return "Found.";
  });
  expect((await agent.call("dump and search", ctx)).text).toBe("Found.");
  expect(hit).toContain(needle);
  expect(hit.length).toBeLessThan(10_000);
  expect(around).toContain(needle);
  expect(Buffer.byteLength(around)).toBeLessThanOrEqual(65_536);
});

test("one user's evicted result is not there for another", async () => {
  const secret = `the password is swordfish ${"x".repeat(100_000)}`;
  let path = "";
  const { agent } = await agentOn("files", secret, ({ messages }, index) => {
    const [text = ""] = index % 2 === 1 ? textsOf(lastResult(messages)) : [];
    if (index === 0) return { toolCalls: [{ name: "dump", input: {} }] };
    if (index === 1) {
      path = /read_file, path "([^"]+)"/.exec(text)?.[1] ?? "";
      return "ok";
    }
    if (index === 2) return { toolCalls: [{ name: "read_file", input: { path } }] };
    expect(text).not.toContain("swordfish");
    return "nothing";
  });
  await agent.call("dump it", ctx);
  expect(path).not.toBe("");
  expect((await agent.call(`read ${path}`, { ...ctx, userId: "bob" })).text).toBe("nothing");
});
