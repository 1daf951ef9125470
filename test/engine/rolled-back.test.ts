import {
  type AgentEvent,
  InProcessSessionGate,
  type ReActAgentOptions,
  StateConflictError,
  tool,
  userMessage,
} from "@holdfast/core";
import { type LoadedState, loadWhole } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { outline, slotOf } from "./conversation.js";
import { FaultyStore, lostAnswer, noAnswer } from "./faulty-store.js";

const ctx = { sessionId: "s" };

/** An agent whose turns take two steps, each of which is saved. */
function steppingOn(store: FaultyStore, options: Partial<ReActAgentOptions> = {}) {
  const work = tool({
    name: "work",
    description: "Works.",
    input: z.object({}),
    execute: () => "worked",
  });
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === "tool" ? "done" : { toolCalls: [{ name: "work", input: {} }] },
  );
  return agentOn(store, { model, tools: [work], persistence: "step", ...options });
}

describe.each([true, false])("a store that went back, fused: %s", (fused) => {
  /** Puts back an earlier state, as a failover to an old replica does. */
  async function goBack(
    store: FaultyStore,
    turns: number,
    earlier?: LoadedState | null,
  ): Promise<FaultyStore> {
    const replica = new FaultyStore({ fused });
    if (earlier) {
      const { head, revision, messages: append } = earlier;
      const write = { op: "copy", expected: null, revision, head, keep: 0, replace: [], append };
      await replica.inner.save(slotOf(), write);
    }
    for (let turn = 0; turn < turns; turn++) await agentOn(replica).call(`old ${turn}`, ctx);
    for (const name of ["load", "acquire"] as const)
      store.every(name, async (run, command) => {
        const answer = await run();
        if (name === "acquire" && !fused) return answer;
        const loaded = await replica.inner.load(slotOf(), command.known);
        if (name === "load") return loaded as typeof answer;
        return { ...(answer as object), loaded } as typeof answer;
      });
    store.every("save", async (_, { slot, write }) => {
      const { lease: _lease, release: _release, ...rest } = write ?? ({} as never);
      return replica.inner.save(slot as never, rest) as never;
    });
    return replica;
  }

  test.each([
    ["to an earlier revision", 1],
    ["to another history of the same length", 2],
  ])("%s is reported, and its state is the one that counts", async (_, turns) => {
    const store = new FaultyStore({ fused });
    const events: AgentEvent[] = [];
    const model = scriptedModel(() => "ok");
    const agent = agentOn(store, {
      model,
      gate: fused ? store.companions().gate : new InProcessSessionGate(),
      onEvent: (event) => events.push(event),
    });
    await agent.call("1", ctx);
    await agent.call("2", ctx);
    const known = (await store.inner.load(slotOf())) as { revision: string };
    const replica = await goBack(store, turns);
    const stored = (await replica.inner.load(slotOf())) as { revision: string };
    await agent.call("3", ctx);
    expect(events.filter(({ type }) => type === "store_rolled_back")).toMatchObject([
      { known: known.revision, stored: stored.revision },
    ]);
    expect(outline(model.requests.at(-1)?.messages)[0]).toBe("user: old 0");
  });

  test("is reported as well when others have gone past what was lost", async () => {
    const store = new FaultyStore({ fused });
    const events: AgentEvent[] = [];
    const agent = agentOn(store, {
      gate: fused ? store.companions().gate : new InProcessSessionGate(),
      onEvent: (event) => events.push(event),
    });
    await agent.call("1", ctx);
    await agent.call("2", ctx);
    const replica = await goBack(store, 1);
    for (const text of ["a", "b", "c"]) await agentOn(replica).call(text, ctx);
    await agent.call("3", ctx);
    expect(events.filter(({ type }) => type === "store_rolled_back")).toHaveLength(1);
  });

  test("is reported as well when one run of others, which saves its steps, has gone past what was lost", async () => {
    const store = new FaultyStore({ fused });
    const events: AgentEvent[] = [];
    const agent = agentOn(store, {
      gate: fused ? store.companions().gate : new InProcessSessionGate(),
      onEvent: (event) => events.push(event),
    });
    for (const text of ["1", "2", "3"]) await agent.call(text, ctx);
    const replica = await goBack(store, 1);
    await steppingOn(replica).call("a", ctx);
    await agent.call("4", ctx);
    expect(events.filter(({ type }) => type === "store_rolled_back")).toHaveLength(1);
  });

  test("refuses every call, when told to, until the session is accepted as it is", async () => {
    const store = new FaultyStore({ fused });
    const events: AgentEvent[] = [];
    const agent = agentOn(store, {
      onStoreRolledBack: "refuse",
      gate: fused ? store.companions().gate : new InProcessSessionGate(),
      onEvent: (event) => events.push(event),
    });
    await agent.call("1", ctx);
    const earlier = await loadWhole(store.inner, slotOf());
    await agent.call("2", ctx);
    await goBack(store, 0, earlier);
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(agent.call("3", ctx)).rejects.toSatisfy(
        (error) =>
          StateConflictError.is(error) && /has lost acknowledged saves/.test(error.message),
      );
    expect(events.filter(({ type }) => type === "store_rolled_back")).toHaveLength(2);
    await agent.updateAgentState(null, "s", () => {});
    expect((await agent.call("4", ctx)).text).toBe("ok");
    expect(outline(await agent.getAgentState(null, "s"))).not.toContain("user: 3");
  });

  test.each([
    ["merge-append", 0],
    ["merge-append", 3],
    ["overwrite", 0],
    ["overwrite", 3],
  ] as const)(
    "is reported, and refused when told to, where conflicts are resolved: %s, after %s turns of others",
    async (conflictPolicy, others) => {
      for (const onStoreRolledBack of ["report", "refuse"] as const) {
        const store = new FaultyStore({ fused });
        const events: AgentEvent[] = [];
        let restore = async () => {};
        const agent = agentOn(store, {
          conflictPolicy,
          onStoreRolledBack,
          gate: fused ? store.companions().gate : new InProcessSessionGate(),
          onEvent: (event) => events.push(event),
          model: scriptedModel(async () => {
            await restore();
            return "ok";
          }),
        });
        await agent.call("1", ctx);
        const earlier = await loadWhole(store.inner, slotOf());
        await agent.call("2", ctx);
        restore = async () => {
          const replica = await goBack(store, 0, earlier);
          for (let turn = 0; turn < others; turn++) await agentOn(replica).call("another", ctx);
        };
        const call = agent.call("3", ctx);
        if (onStoreRolledBack === "report") expect((await call).text).toBe("ok");
        else await expect(call).rejects.toThrow(/has lost acknowledged saves/);
        expect(events.filter(({ type }) => type === "store_rolled_back")).toHaveLength(1);
      }
    },
  );

  test("is refused as well when its backup is older than a compaction", async () => {
    const store = new FaultyStore({ fused });
    const agent = agentOn(store, { onStoreRolledBack: "refuse" });
    for (const text of ["1", "2", "3"]) await agent.call(text, ctx);
    const earlier = await loadWhole(store.inner, slotOf());
    for (const text of ["4", "5", "6"]) await agent.call(text, ctx);
    await agent.updateAgentState(ctx, (state) =>
      state.contextMutable().replaceAll(state.context.slice(-2)),
    );
    await agent.call("7", ctx);
    await goBack(store, 0, earlier);
    await expect(agent.call("8", ctx)).rejects.toThrow("has lost acknowledged saves");
  });

  /** A store with a session of two turns, the state after the first, and an agent that refuses to go on without the second. */
  async function refusing(options: Partial<ReActAgentOptions> = {}) {
    const store = new FaultyStore({ fused });
    await agentOn(store).call("1", ctx);
    const earlier = await loadWhole(store.inner, slotOf());
    await agentOn(store).call("2", ctx);
    const events: string[] = [];
    const agent = agentOn(store, {
      onStoreRolledBack: "refuse",
      saveDeadlineMs: 20,
      onEvent: ({ type }) => events.push(type),
      ...options,
    });
    const expectRefused = async () => {
      for (let attempt = 0; attempt < 2; attempt++) {
        events.length = 0;
        await expect(agent.call("after", ctx)).rejects.toThrow("has lost acknowledged saves");
        expect(events).toContain("store_rolled_back");
      }
    };
    return { store, earlier, agent, events, expectRefused };
  }

  test.each([
    ["had loaded the session", 0],
    ["had it in its cache", 1],
  ])("while a call ran that %s is noticed by the next call", async (_, before) => {
    let during = async () => {};
    const model = scriptedModel(async () => {
      await during();
      return "ok";
    });
    const { store, earlier, agent, expectRefused } = await refusing({ model });
    for (let turn = 0; turn < before; turn++) await agent.call("before", ctx);
    during = async () => {
      await goBack(store, 0, earlier);
    };
    await expect(agent.call("during", ctx)).rejects.toSatisfy(StateConflictError.is);
    await expectRefused();
  });

  // Where the gate keeps the input, a call saves once, at its end.
  const whereCallsSaveFirst = fused ? [] : [0, 3];
  test.each(whereCallsSaveFirst)(
    "before the first save of a call is noticed by that call, after %s turns of others",
    async (others) => {
      const { store, earlier, agent, events } = await refusing();
      store.next("save", async (_, { slot, write }) => {
        const replica = await goBack(store, 0, earlier);
        for (let turn = 0; turn < others; turn++) await agentOn(replica).call("another", ctx);
        return store.save(slot as never, write as never) as never;
      });
      await expect(agent.call("3", ctx)).rejects.toThrow("has lost acknowledged saves");
      expect(events).toContain("store_rolled_back");
    },
  );

  test("after a call of unknown outcome is noticed by the next call", async () => {
    const { store, earlier, agent, expectRefused } = await refusing();
    store.every("save", noAnswer);
    await expect(agent.call("unknown", ctx)).rejects.toMatchObject({ code: "UNKNOWN_OUTCOME" });
    await goBack(store, 0, earlier);
    await expectRefused();
  });

  test("after an edit that failed is noticed by the next call", async () => {
    const { store, earlier, agent, expectRefused } = await refusing();
    const edit = agent.updateAgentState(ctx, (state) => {
      state.contextMutable().push(userMessage("unsaved"));
      throw new Error("no");
    });
    await expect(edit).rejects.toThrow("no");
    await goBack(store, 0, earlier);
    await expectRefused();
  });

  test("after a failed call is noticed as well when others have gone past what was lost", async () => {
    const { store, earlier, agent, expectRefused } = await refusing();
    store.every("save", noAnswer);
    await agent.call("unknown", ctx).catch(() => undefined);
    const replica = await goBack(store, 0, earlier);
    for (const text of ["a", "b", "c"]) await agentOn(replica).call(text, ctx);
    await expectRefused();
  });

  test("is not accepted by an edit that fails", async () => {
    const { store, earlier, agent, expectRefused } = await refusing();
    await agent.call("3", ctx);
    await goBack(store, 0, earlier);
    const edit = agent.updateAgentState(ctx, () => {
      throw new Error("no");
    });
    await expect(edit).rejects.toThrow("no");
    await expectRefused();
  });

  test("is not reported after a save that was made although its answer was lost", async () => {
    const { store, agent, events } = await refusing();
    store.every("save", lostAnswer);
    await expect(agent.call("made", ctx)).rejects.toMatchObject({ code: "UNKNOWN_OUTCOME" });
    store.every("save", undefined);
    await agent.call("after", ctx);
    expect(events).not.toContain("store_rolled_back");
    expect(outline(await agent.getAgentState(ctx))).toContain("user: made");
  });

  test("is not reported after a step that was saved although its answer was lost", async () => {
    const store = new FaultyStore({ fused });
    const events: string[] = [];
    const agent = steppingOn(store, {
      onStoreRolledBack: "refuse",
      saveDeadlineMs: 20,
      onEvent: ({ type }) => events.push(type),
    });
    await agent.call("1", ctx);
    store.next("save", undefined, undefined);
    store.every("save", lostAnswer);
    await expect(agent.call("made", ctx)).rejects.toMatchObject({ code: "UNKNOWN_OUTCOME" });
    store.every("save", undefined);
    const others = agentOn(store);
    await others.call("another", ctx);
    expect((await agent.call("after", ctx)).text).toBe("done");
    expect(events).not.toContain("store_rolled_back");
    expect(outline(await agent.getAgentState(ctx))).toContain("user: made");
  });

  test("is not reported of a session that this process deleted after a failed call", async () => {
    const { store, agent, events } = await refusing();
    store.every("save", noAnswer);
    await agent.call("unknown", ctx).catch(() => undefined);
    store.every("save", undefined);
    await agent.deleteSession(ctx);
    await agent.call("anew", ctx);
    expect(events).not.toContain("store_rolled_back");
  });

  test("is not refused for a session that was deleted elsewhere and begun anew", async () => {
    const store = new FaultyStore({ fused });
    const agent = agentOn(store, { onStoreRolledBack: "refuse" });
    await agent.call("1", ctx);
    await agent.call("2", ctx);
    await agentOn(store).deleteSession(null, "s");
    await agentOn(store).call("new", ctx);
    expect((await agent.call("3", ctx)).text).toBe("ok");
    await agentOn(store).deleteSession(null, "s");
    expect((await agent.call("4", ctx)).text).toBe("ok");
  });

  test("is not reported when others only went on", async () => {
    const store = new FaultyStore({ fused });
    const events: AgentEvent[] = [];
    const agent = agentOn(store, { onEvent: (event) => events.push(event) });
    await agent.call("1", ctx);
    await agentOn(store).call("2", ctx);
    await agent.call("3", ctx);
    await agent.call("4", ctx);
    expect(events.map(({ type }) => type)).not.toContain("store_rolled_back");
  });
});
