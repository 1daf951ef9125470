import {
  InMemoryConversationLog,
  InProcessSessionGate,
  type Middleware,
  ReActAgent,
  type ReActAgentOptions,
  StateConflictError,
  StoreUnavailableError,
  tool,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { logged, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { FaultyStore, unavailable } from "./faulty-store.js";
import { stallingModel } from "./models.js";

const ctx = { sessionId: "s" };
const echo = tool({
  name: "echo",
  description: "Says it again.",
  input: z.object({ text: z.string() }),
  execute: ({ text }) => text,
});
const callEcho = (text: string) => ({ toolCalls: [{ name: "echo", input: { text } }] });

describe.each([true, false])("the log, fused: %s", (fused) => {
  const agentOn = (store: FaultyStore, options: Partial<ReActAgentOptions> = {}) =>
    new ReActAgent({
      name: "a",
      model: scriptedModel(() => "ok"),
      stateStore: store,
      tools: [echo],
      ...options,
    });

  test.each(["call", "step"] as const)(
    "has every message exactly once, in order, persistence %s",
    async (persistence) => {
      const store = new FaultyStore({ fused });
      const model = scriptedModel([callEcho("a"), callEcho("b"), "first", "second"]);
      const agent = agentOn(store, { model, persistence });
      await agent.call([userMessage("one"), userMessage("and a half")], { ...ctx, callId: "1" });
      await agent.call("two", { ...ctx, callId: "2" });
      const records = await logRecords(store, slotOf());
      const state = await agent.getAgentState(null, "s");
      expect(logged(records)).toEqual(state?.context);
      expect(outline(logged(records))).toEqual([
        "user: one",
        "user: and a half",
        "assistant: call echo",
        "tool: success a",
        "assistant: call echo",
        "tool: success b",
        "assistant: first",
        "user: two",
        "assistant: second",
      ]);
      expect(records.map(({ callId }) => callId)).toEqual([
        ...Array(8).fill("1"),
        ...Array(3).fill("2"),
      ]);
      expect(outcomes(records)).toEqual(["committed", "committed"]);
      const seqs = records.map(({ seq }) => seq);
      expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    },
  );

  test("is written with the save or before it, never after", async () => {
    const store = new FaultyStore({ fused });
    const agent = agentOn(store, {
      persistence: "step",
      model: scriptedModel([callEcho("a"), "done"]),
    });
    await agent.call("go", ctx);
    const written = new Set<string>();
    for (const { name, records, write } of store.commands) {
      for (const { message } of records ?? write?.log ?? []) if (message) written.add(message.id);
      for (const { id } of write?.append ?? []) expect(written.has(id)).toBe(true);
      if (name === "append") expect(fused).toBe(false);
      if (name === "save") expect(write?.log === undefined).toBe(!fused);
    }
    expect(written.size).toBe(4);
  });

  test("that cannot be written fails the save before the state is written", async () => {
    const store = new FaultyStore({ fused });
    // A log of its own is never fused, whatever the store can do.
    const log = Object.assign(new InMemoryConversationLog(), {
      append: async () => {
        throw new StoreUnavailableError("the log is away");
      },
    });
    const agent = agentOn(store, { log, saveDeadlineMs: 20 });
    const error = await agent.call("go", ctx).catch((reason) => reason);
    expect(StoreUnavailableError.is(error)).toBe(true);
    expect(error.reply).toMatchObject({ text: "ok" });
    // Before it, where the gate did not keep the input, that was saved; nothing else is.
    expect(store.writes.map(({ append }) => append.length)).toEqual(fused ? [] : [0]);
    const loaded = await store.inner.load(slotOf());
    expect(loaded).toEqual(fused ? null : expect.objectContaining({ messages: [] }));
  });

  test("that fails for a moment is written again, with nothing doubled", async () => {
    const store = new FaultyStore({ fused: false });
    const agent = agentOn(store);
    store.next("append", unavailable, async (run) => {
      await run();
      throw new StoreUnavailableError("too late");
    });
    await agent.call("go", ctx);
    expect(outline(logged(await logRecords(store, slotOf())))).toEqual([
      "user: go",
      "assistant: ok",
    ]);
  });

  test("says how each call ended", async () => {
    const store = new FaultyStore({ fused });
    const end = async (callId: string) => {
      const records = await logRecords(store, slotOf());
      return outcomes(records.filter((record) => record.callId === callId)).at(-1);
    };
    await agentOn(store).call("x", { ...ctx, callId: "fine" });
    expect(await end("fine")).toBe("committed");

    const model = scriptedModel([{ error: new Error("no") }]);
    await agentOn(store, { model })
      .call("x", { ...ctx, callId: "failing" })
      .catch(() => undefined);
    expect(await end("failing")).toBe("error");

    for (const [kind, outcome] of [
      ["interrupt", "interrupted"],
      ["rollback", "rolled_back"],
    ] as const) {
      const reached = door();
      const stopped = agentOn(store, { model: stallingModel("half", reached.open) });
      const running = stopped.call("x", { ...ctx, callId: kind });
      await reached.opened;
      await agentOn(store).call("y", { ...ctx, onBusy: kind });
      await running;
      expect(await end(kind)).toBe(outcome);
    }

    const reached = door();
    const controller = new AbortController();
    const aborted = agentOn(store, { model: stallingModel("half", reached.open) }).call("x", {
      ...ctx,
      callId: "aborted",
      signal: controller.signal,
    });
    await reached.opened;
    controller.abort();
    await aborted.catch(() => undefined);
    expect(await end("aborted")).toBe("interrupted");

    const [late, release] = [door(), door()];
    const slow = agentOn(store, {
      gate: new InProcessSessionGate(),
      model: scriptedModel(async () => {
        late.open();
        await release.opened;
        return "too late";
      }),
    }).call("x", { ...ctx, callId: "conflicting" });
    await late.opened;
    await agentOn(store).call("y", ctx);
    release.open();
    await expect(slow).rejects.toSatisfy(StateConflictError.is);
    expect(await end("conflicting")).toBe("conflict");
  });

  test("keeps the original of a result that a middleware replaced", async () => {
    const store = new FaultyStore({ fused });
    const evict: Middleware = {
      name: "evict",
      onToolCall: async (_, next) => ({
        ...(await next()),
        output: [{ type: "text", text: "a preview" }],
      }),
    };
    const model = scriptedModel([callEcho("the original"), "done"]);
    const agent = agentOn(store, { model, middleware: [evict] });
    await agent.call("go", ctx);
    const state = await agent.getAgentState(null, "s");
    expect(outline(state)[2]).toBe("tool: success a preview");
    expect(outline(model.requests[1]?.messages)[2]).toBe("tool: success a preview");
    const messages = logged(await logRecords(store, slotOf()));
    expect(outline(messages)[2]).toBe("tool: success the original");
    expect(messages[2]?.id).toBe(state?.context[2]?.id);
    expect(messages).toHaveLength(4);
  });

  test("has the marks that hooks leave, in their place, also for a callId that ran again", async () => {
    const store = new FaultyStore({ fused });
    const marking: Middleware = {
      name: "marking",
      onReasoning: async (step, next) => {
        step.mark({ name: "thought", details: { iteration: step.iteration } });
        return next();
      },
    };
    const failing = { error: new Error("no") };
    const model = scriptedModel([failing, failing, callEcho("a"), "done"]);
    const agent = agentOn(store, { model, middleware: [marking] });
    for (let time = 0; time < 3; time++)
      await agent.call("go", { ...ctx, callId: "again" }).catch(() => undefined);
    const lines = (await logRecords(store, slotOf())).map(({ message, mark }) =>
      message
        ? outline([message])[0]
        : `${mark?.name} ${mark?.outcome ?? mark?.details?.["iteration"]}`,
    );
    expect(lines.filter((line) => line?.startsWith("thought"))).toEqual([
      "thought 0",
      "thought 0",
      "thought 0",
      "thought 1",
    ]);
    expect(lines.filter((line) => line?.startsWith("call_end"))).toEqual([
      "call_end error",
      "call_end error",
      "call_end committed",
    ]);
    expect(lines.at(-1)).toBe("call_end committed");
  });

  test("has a mark behind what was said before it", async () => {
    const store = new FaultyStore({ fused });
    const marking: Middleware = {
      name: "marking",
      onReasoning: async (step, next) => {
        if (step.iteration === 1) step.mark({ name: "here" });
        return next();
      },
    };
    const model = scriptedModel([callEcho("a"), "done"]);
    await agentOn(store, { model, middleware: [marking] }).call("go", ctx);
    const lines = (await logRecords(store, slotOf())).map(({ message, mark }) =>
      message ? outline([message])[0] : mark?.name,
    );
    expect(lines).toEqual([
      "user: go",
      "assistant: call echo",
      "tool: success a",
      "here",
      "assistant: done",
      "call_end",
    ]);
  });

  test("has what a middleware pushed, and nothing of what it rewrote", async () => {
    const store = new FaultyStore({ fused });
    await agentOn(store).call("old", ctx);
    const editing: Middleware = {
      name: "editing",
      onCall: (step, next) => {
        const editor = step.state.contextMutable();
        editor.push(userMessage("pushed"));
        editor.replace(0, userMessage("replaced"));
        editor.splice(1, 1, userMessage("spliced"));
        editor.replaceAll([...step.state.context, userMessage("put in")]);
        step.state.summary = "a summary";
        return next();
      },
    };
    const agent = agentOn(store, { middleware: [editing] });
    await agent.call("new", ctx);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual([
      "user: hint a summary",
      "user: replaced",
      "user: spliced",
      "user: pushed",
      "user: put in",
      "user: new",
      "assistant: ok",
    ]);
    expect(outline(logged(await logRecords(store, slotOf())))).toEqual([
      "user: old",
      "assistant: ok",
      "user: pushed",
      "user: new",
      "assistant: ok",
    ]);
  });

  test("keeps what was said and then left the context within the same call", async () => {
    const store = new FaultyStore({ fused });
    const forgetful: Middleware = {
      name: "forgetful",
      onReasoning: (step, next) => {
        if (step.iteration === 1) step.state.contextMutable().splice(0, 3);
        return next();
      },
    };
    const model = scriptedModel([callEcho("a"), "done"]);
    const agent = agentOn(store, { model, middleware: [forgetful] });
    await agent.call("go", ctx);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(["assistant: done"]);
    expect(outline(logged(await logRecords(store, slotOf())))).toHaveLength(4);
  });
});
