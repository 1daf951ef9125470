import { type AgentEvent, InProcessSessionGate, StateConflictError } from "@holdfast/core";
import { type LoadedState, loadWhole } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { outline, slotOf } from "./conversation.js";
import { FaultyStore } from "./faulty-store.js";

const ctx = { sessionId: "s" };

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
