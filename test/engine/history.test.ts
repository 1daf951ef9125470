import {
  definePlugin,
  InMemoryAgentStateStore,
  InvalidInputError,
  keepLastCompactor,
  type PluginHost,
  tool,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { outline, slotOf } from "./conversation.js";
import { door } from "./door.js";

const ctx = { sessionId: "s" };
type Page = Awaited<ReturnType<ReturnType<typeof agentOn>["history"]>>;

/** One line per message: what was said, and what a front end is told about it. */
function shown({ records }: Page): string[] {
  return records.flatMap(({ message, discarded, inContext }) =>
    message ? [`${outline([message])[0]}${discarded ? " -" : ""}${inContext ? " *" : ""}`] : [],
  );
}

describe.each([true, false])("the history of a session, fused: %s", (fused) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });

  test("is its conversation, page by page, with the marks in between", async () => {
    const store = newStore();
    const agent = agentOn(store);
    for (const n of [1, 2, 3]) await agent.call(`${n}`, ctx);
    const all = await agent.history(null, "s");
    expect(shown(all)).toEqual([
      ...["user: 1 *", "assistant: ok *", "user: 2 *", "assistant: ok *"],
      ...["user: 3 *", "assistant: ok *"],
    ]);
    expect(all.records.filter(({ mark }) => mark?.name === "call_end")).toHaveLength(3);
    expect(all.waiting).toEqual([]);
    const pages: Page["records"][number][] = [];
    for (let before: number | undefined; ; ) {
      const { records } = await agent.history(ctx, { before, limit: 2 });
      if (records.length === 0) break;
      pages.unshift(...records);
      before = records[0]?.seq;
    }
    expect(pages).toEqual(all.records);
    const after = all.records[3]?.seq;
    expect((await agent.history(ctx, { after })).records).toEqual(all.records.slice(4));
  });

  test("says which messages the model no longer sees", async () => {
    const store = newStore();
    const setup = (host: PluginHost) =>
      host.provide("compactor", keepLastCompactor({ keepMessages: 2 }));
    const plugins = [definePlugin({ name: "keep", contract: 1, setup })];
    const agent = agentOn(store, { plugins });
    for (const n of [1, 2, 3]) await agent.call(`${n}`, ctx);
    await agent.compact(ctx, { force: true });
    expect(shown(await agent.history(ctx))).toEqual([
      ...["user: 1", "assistant: ok", "user: 2", "assistant: ok"],
      ...["user: 3 *", "assistant: ok *"],
    ]);
  });

  test("tells what was rolled back, and has the input of a running call and what it is steered with", async () => {
    const store = newStore();
    const [reached, released] = [door(), door()];
    const execute = async () => {
      reached.open();
      await released.opened;
      return "done";
    };
    const wait = tool({ name: "wait", description: "Waits.", input: z.object({}), execute });
    const model = scriptedModel([{ toolCalls: [{ name: "wait", input: {} }] }, "never"]);
    const running = agentOn(store, { model, tools: [wait] });
    const agent = agentOn(store);
    await agent.call("before", ctx);
    const call = running.call(userMessage("under way"), ctx);
    await reached.opened;
    await agent.steer(ctx, "meanwhile");
    const page = await agent.history(ctx);
    expect(shown(page)).toEqual(["user: before *", "assistant: ok *"]);
    expect(outline(page.waiting)).toEqual(["user: under way", "user: meanwhile"]);
    await agent.call("again", { ...ctx, onBusy: "rollback" });
    await call;
    released.open();
    const settled = await agent.history(ctx);
    expect(shown(settled)).toEqual([
      ...["user: before *", "assistant: ok *"],
      ...["user: under way -", "assistant: call wait -", expect.stringMatching(/^tool: .* -$/)],
      ...["user: meanwhile *", "user: again *", "assistant: ok *"],
    ]);
    expect(settled.waiting).toEqual([]);
  });

  test("has long texts whole", async () => {
    const store = newStore();
    const agent = agentOn(store);
    const long = "x".repeat(100_000);
    await agent.call(long, ctx);
    const { records } = await agent.history(ctx);
    expect(outline(records[0]?.message && [records[0].message])).toEqual([`user: ${long}`]);
  });

  test("of a session that does not exist is empty, and a range that is none is refused", async () => {
    const agent = agentOn(newStore());
    expect(await agent.history(ctx)).toEqual({ records: [], waiting: [] });
    expect(await agent.getAgentState(ctx)).toBeNull();
    await expect(agent.history(ctx, { before: "1" as never })).rejects.toThrow(InvalidInputError);
    await expect(agent.history(ctx, { limit: 0 })).rejects.toThrow(InvalidInputError);
    await expect(agent.history(ctx, { page: 1 } as never)).rejects.toThrow(/page/);
  });

  test("of another user is another one", async () => {
    const store = newStore();
    const agent = agentOn(store);
    await agent.call("secret", { userId: "alice", sessionId: "s" });
    expect((await agent.history("bob", "s")).records).toEqual([]);
    expect((await agent.history(null, "s")).records).toEqual([]);
    expect(await store.load(slotOf())).toBeNull();
  });
});
