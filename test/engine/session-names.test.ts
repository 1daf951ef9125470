import {
  InvalidIdError,
  keepLastCompactor,
  type PluginHost,
  type RuntimeContext,
  type SessionName,
  userMessage,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { outline, slotOf } from "./conversation.js";
import { FaultyStore } from "./faulty-store.js";
import { strangeIds } from "./strange-ids.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("naming a session, fused: %s", (fused) => {
  const compactor = (keepMessages: number) => ({
    name: "compactor",
    contract: 1 as const,
    setup: (host: PluginHost) => host.provide("compactor", keepLastCompactor({ keepMessages })),
  });

  test("getAgentState returns a copy of its own, and null where there is nothing", async () => {
    const agent = agentOn(new FaultyStore({ fused }));
    await agent.call("x", ctx);
    expect(await agent.getAgentState(null, "nobody")).toBeNull();
    const mine = await agent.getAgentState(null, "s");
    mine?.contextMutable().push(userMessage("mine alone"));
    if (mine) mine.tasksContext.tasks = [{ content: "mine", status: "pending" }];
    const other = await agent.getAgentState(null, "s");
    expect(outline(other)).toEqual(["user: x", "assistant: ok"]);
    expect(other?.tasksContext.tasks).toEqual([]);
    await agent.call("y", ctx);
    expect(outline(mine)).toHaveLength(3);
  });

  test("without a sessionId it is the default session, never the last active one", async () => {
    const store = new FaultyStore({ fused });
    const agent = agentOn(store, { defaultSessionId: "main" });
    await agent.call("by default");
    await agent.call("elsewhere", { userId: "u", sessionId: "t" });
    await agent.call("hers", { userId: "u" });
    expect(outline(await agent.getAgentState())[0]).toBe("user: by default");
    expect(outline(await agent.getAgentState(null, "main"))[0]).toBe("user: by default");
    expect(outline(await agent.getAgentState({ userId: "u" }))[0]).toBe("user: hers");
  });

  test("a userId alone is refused with a sentence that says what is missing", async () => {
    const agent = agentOn(new FaultyStore({ fused }));
    const alone = agent.getAgentState as (userId: string) => Promise<unknown>;
    await expect(alone.call(agent, "u")).rejects.toThrow(
      /no sessionId behind the userId.*\{ userId \}/,
    );
  });

  test("a slot function puts a tenant in front of every name, in every method", async () => {
    const store = new FaultyStore({ fused });
    const slot = ({ userId, sessionId }: RuntimeContext) => ({
      userId: `acme/${userId}`,
      sessionId: sessionId ?? "main",
    });
    const agent = agentOn(store, { slot, plugins: [compactor(1)] });
    await agent.call("x", { userId: "u", sessionId: "s" });
    const { slots } = await store.inner.list();
    expect(slots.map((one) => one.slot)).toEqual([slotOf("s", "acme/u")]);
    expect(outline(await agent.getAgentState("u", "s"))).toHaveLength(2);
    await agent.updateAgentState("u", "s", (state) => {
      expect(state.userId).toBe("acme/u");
    });
    await agent.compact("u", "s");
    expect(await agent.interrupt("u", "s")).toBe(false);
    expect(await agent.deleteSession("u", "s")).toBe(true);
    expect((await store.inner.list()).slots).toEqual([]);
  });

  test("a slot function that returns nothing, or another agent's id, opens no other session", async () => {
    const store = new FaultyStore({ fused });
    const forgetful = agentOn(store, { slot: (() => undefined) as never });
    await expect(forgetful.call("x", ctx)).rejects.toSatisfy(InvalidIdError.is);
    const sly = agentOn(store, {
      slot: () => ({ agentId: "b", userId: null, sessionId: "s" }) as never,
    });
    await sly.call("x", ctx);
    expect((await store.inner.list()).slots.map(({ slot }) => slot.agentId)).toEqual(["a"]);
  });

  test("200 things that are no ids are refused by every method, before the store hears of it", async () => {
    const store = new FaultyStore({ fused });
    const agent = agentOn(store, { plugins: [compactor(1)] });
    let refused = 0;
    for (const id of strangeIds as never[]) {
      const attempts: (() => unknown)[] = [
        () => agent.call("x", { userId: id, sessionId: "s" }),
        () => agent.call("x", { sessionId: id }),
        () => agent.call("x", { ...ctx, callId: id }),
        () => agent.stream("x", { userId: id }).result,
        () => agent.sessions({ userId: id }),
        () => agent.deleteUser(id),
      ];
      const methods: ((...name: never[]) => Promise<unknown>)[] = [
        (...name) => agent.getAgentState(...(name as unknown as [SessionName])),
        (...name) => agent.interrupt(...(name as unknown as [SessionName])),
        (...name) => agent.deleteSession(...(name as unknown as [SessionName])),
        (...name) => agent.compact(...(name as unknown as [SessionName])),
        (...name) =>
          agent.updateAgentState(...([...name, () => undefined] as unknown as [never, never])),
      ];
      for (const method of methods)
        attempts.push(
          () => method(id, "s" as never),
          () => method("u" as never, id),
          () => method({ userId: id, sessionId: "s" } as never),
          () => method({ sessionId: id } as never),
        );
      for (const attempt of attempts) {
        const error = await Promise.resolve()
          .then(attempt)
          .then(
            () => undefined,
            (reason) => reason,
          );
        expect(InvalidIdError.is(error), `${typeof id} ${attempt}`).toBe(true);
        refused++;
      }
    }
    expect(refused).toBe(strangeIds.length * 26);
    expect(store.commands).toEqual([]);
  });
});
