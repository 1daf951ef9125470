import { InvalidInputError, StateCorruptError } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { logRecords, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { FaultyStore, unavailable } from "./faulty-store.js";
import { stallingModel } from "./models.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("sessions, fused: %s", (fused) => {
  /** An agent whose model waits until it is released. */
  function heldAgent(store: FaultyStore) {
    const [reached, release] = [door(), door()];
    const model = scriptedModel(async () => {
      reached.open();
      await release.opened;
      return "ok";
    });
    return { agent: agentOn(store, { model }), reached, release };
  }

  describe("listing", () => {
    test("shows this agent's sessions only, by user, newest first, in pages", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      for (let n = 0; n < 5; n++) await agent.call("x", { userId: "u", sessionId: `s${n}` });
      await agent.call("x", { sessionId: "anonymous" });
      await agentOn(store, { name: "b" }).call("x", { userId: "u", sessionId: "of another" });
      const all = await agent.sessions();
      expect(all.slots).toHaveLength(6);
      expect(new Set(all.slots.map(({ slot }) => slot.agentId))).toEqual(new Set(["a"]));
      const anonymous = await agent.sessions({ userId: null });
      expect(anonymous.slots.map(({ slot }) => slot.sessionId)).toEqual(["anonymous"]);
      const first = await agent.sessions({ userId: "u", limit: 3 });
      const second = await agent.sessions({ userId: "u", limit: 3, cursor: first.cursor });
      expect([...first.slots, ...second.slots].map(({ slot }) => slot.sessionId)).toEqual([
        "s4",
        "s3",
        "s2",
        "s1",
        "s0",
      ]);
    });

    test("cannot be talked into another agent's sessions", async () => {
      const store = new FaultyStore({ fused });
      await agentOn(store, { name: "b" }).call("x", ctx);
      const query = { agentId: "b" } as Record<string, unknown>;
      await expect(agentOn(store).sessions(query)).rejects.toThrow(
        /sessions: unknown option "agentId"/,
      );
      expect((await agentOn(store).sessions()).slots).toEqual([]);
    });
  });

  test.each<[object, RegExp]>([
    [{ limit: { a: 1 } }, /^limit is an object; it must be a whole number/],
    [{ limit: Symbol("5") }, /^limit is Symbol\(5\); it must be/],
    [{ cursor: 5 }, /^sessions: cursor and text must be strings, got a number$/],
    [{ text: 5 }, /^sessions: cursor and text must be strings, got a number$/],
  ])("are not looked for by what is no query: %o", async (query, expected) => {
    const listing = agentOn(new FaultyStore({ fused })).sessions(query);
    const error = await listing.catch((reason: unknown) => reason);
    expect(InvalidInputError.is(error), String(error)).toBe(true);
    expect((error as Error).message).toMatch(expected);
  });

  describe("of which the first call died before it saved anything", () => {
    /** A store as a process leaves it that was killed while the model was asked. */
    async function afterDeath(slots: readonly { userId: string; sessionId: string }[]) {
      const [dying, store] = [new FaultyStore({ fused: true }), new FaultyStore({ fused: true })];
      for (const name of slots) {
        const reached = door();
        const agent = agentOn(dying, { model: stallingModel("", reached.open) });
        agent.call("first words", { ...name, callId: "c-1" }).catch(() => undefined);
        await reached.opened;
        const slot = slotOf(name.sessionId, name.userId);
        for (const entry of (await dying.inbox?.read(slot)) ?? [])
          await store.inbox?.put(slot, entry);
      }
      return store;
    }
    const names = ["s", "t", "u"].map((sessionId) => ({ userId: "u", sessionId }));

    test("are found as unfinished, page by page, and resumed", async () => {
      const store = await afterDeath(names);
      const agent = agentOn(store);
      await agent.call("x", { userId: "u", sessionId: "finished" });
      expect((await agent.sessions({ userId: "u" })).slots).toHaveLength(4);
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await agent.sessions({ unfinished: true, limit: 2, cursor });
        for (const { slot, messages, info } of page.slots) {
          found.push(slot.sessionId);
          expect({ messages, info }).toEqual({ messages: 0, info: { unfinished: true } });
        }
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(found.sort()).toEqual(["s", "t", "u"]);
      for (const sessionId of found) expect((await agent.resume("u", sessionId))?.text).toBe("ok");
      expect((await agent.sessions({ unfinished: true })).slots).toEqual([]);
      expect(outline(await agent.getAgentState("u", "s"))).toEqual([
        "user: first words",
        "assistant: ok",
      ]);
    });

    test("are gone when they or their user are deleted", async () => {
      const store = await afterDeath(names);
      const agent = agentOn(store);
      await agent.deleteSession("u", "s");
      expect(await store.inbox?.read(slotOf("s", "u"))).toEqual([]);
      const left = await agent.sessions({ unfinished: true });
      expect(left.slots.map(({ slot }) => slot.sessionId).sort()).toEqual(["t", "u"]);
      await agent.deleteUser("u");
      for (const { sessionId, userId } of names)
        expect(await store.inbox?.read(slotOf(sessionId, userId))).toEqual([]);
      expect((await agent.sessions()).slots).toEqual([]);
      expect(await agent.resume("u", "t")).toBeNull();
    });
  });

  describe("deleting", () => {
    test("a session removes state and log, tells plugins, and leaves the others alone", async () => {
      const store = new FaultyStore({ fused });
      const told: unknown[] = [];
      const agent = agentOn(store, {
        plugins: [
          {
            name: "listens",
            contract: 1,
            setup: (host) => host.onDelete(async (slot) => void told.push(slot)),
          },
        ],
      });
      await agent.call("x", { userId: "u", sessionId: "s" });
      await agent.call("x", { userId: "u", sessionId: "t" });
      expect(await agent.deleteSession("u", "s")).toBe(true);
      expect(told).toEqual([slotOf("s", "u")]);
      expect(await agent.getAgentState("u", "s")).toBeNull();
      expect(await logRecords(store, slotOf("s", "u"))).toEqual([]);
      expect(outline(await agent.getAgentState("u", "t"))).toHaveLength(2);
      expect(await agent.deleteSession({ userId: "u", sessionId: "s" })).toBe(false);
      await agent.call("anew", { userId: "u", sessionId: "s" });
      expect(outline(await agent.getAgentState("u", "s"))).toEqual(["user: anew", "assistant: ok"]);
    });

    test("waits for the running call", async () => {
      const store = new FaultyStore({ fused });
      const { agent, reached, release } = heldAgent(store);
      const running = agent.call("x", ctx);
      await reached.opened;
      const deleted = agent.deleteSession(null, "s");
      release.open();
      expect((await running).text).toBe("ok");
      expect(await deleted).toBe(true);
      expect(await agent.getAgentState(null, "s")).toBeNull();
    });

    test("works on a session that cannot be read", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      await agent.call("x", { userId: "u", sessionId: "s" });
      await agent.call("x", { userId: "u", sessionId: "t" });
      const stored = await store.inner.load(slotOf("s", "u"));
      if (!stored || stored === "unchanged") throw new Error("nothing stored");
      await store.inner.save(slotOf("s", "u"), {
        op: "damage",
        expected: stored.revision,
        head: { format: "damaged" },
        keep: 2,
        replace: [],
        append: [],
      });
      const call = agent.call("y", { userId: "u", sessionId: "s" });
      await expect(call).rejects.toSatisfy(StateCorruptError.is);
      expect(await agent.deleteUser("u")).toBe(2);
      expect((await agent.sessions({ userId: "u" })).slots).toEqual([]);
    });

    test("that failed half way can be repeated", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      await agent.call("x", ctx);
      store.next("deleteLog", unavailable);
      await expect(agent.deleteSession(null, "s")).rejects.toThrow();
      expect(await agent.deleteSession(null, "s")).toBe(true);
      expect(await logRecords(store, slotOf())).toEqual([]);
    });

    test("a user removes all 150 sessions, tells plugins once, and nobody else's are touched", async () => {
      const store = new FaultyStore({ fused });
      const told: unknown[] = [];
      const agent = agentOn(store, {
        plugins: [
          {
            name: "listens",
            contract: 1,
            setup: (host) => {
              host.onDeleteUser(async (userId) => void told.push(userId));
            },
          },
        ],
      });
      for (let n = 0; n < 150; n++) await agent.call("x", { userId: "u", sessionId: `s${n}` });
      await agent.call("x", { userId: "v", sessionId: "s0" });
      await agent.call("x", { sessionId: "s0" });
      expect(await agent.deleteUser("u")).toBe(150);
      expect(told).toEqual(["u"]);
      expect((await agent.sessions()).slots.map(({ slot }) => slot.userId)).toEqual([null, "v"]);
      expect(await logRecords(store, slotOf("s149", "u"))).toEqual([]);
      expect(await agent.deleteUser("u")).toBe(0);
    });
  });
});
