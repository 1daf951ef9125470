import {
  AgentState,
  ConfigurationError,
  InvalidIdError,
  InvalidInputError,
  keepLastCompactor,
  type PluginHost,
  ReActAgent,
  type ReActAgentOptions,
  type RuntimeContext,
  type SessionName,
  StateCorruptError,
  userMessage,
} from "@holdfast/core";
import { badIds, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { logged, logRecords, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { FaultyStore, unavailable } from "./faulty-store.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("sessions, fused: %s", (fused) => {
  const agentOn = (store: FaultyStore, options: Partial<ReActAgentOptions> = {}) =>
    new ReActAgent({ name: "a", model: scriptedModel(() => "ok"), stateStore: store, ...options });
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
  const compactor = (keepMessages: number) => ({
    name: "compactor",
    contract: 1 as const,
    setup: (host: PluginHost) => host.provide("compactor", keepLastCompactor({ keepMessages })),
  });

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
      expect((await agentOn(store).sessions(query)).slots).toEqual([]);
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

  describe("updateAgentState", () => {
    test("edits what is stored, or a fresh state, and returns a copy of what was saved", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      const made = await agent.updateAgentState("u", "s", (state) => {
        expect(outline(state)).toEqual([]);
        expect([state.userId, state.sessionId]).toEqual(["u", "s"]);
        state.contextMutable().push(userMessage("put here"));
        state.planModeContext.active = true;
      });
      expect(outline(made)).toEqual(["user: put here"]);
      made.contextMutable().push(userMessage("not saved"));
      await agent.updateAgentState({ userId: "u", sessionId: "s" }, async (state) => {
        await Promise.resolve();
        state.tasksContext.tasks = [{ content: "t", status: "pending" }];
      });
      const state = await agentOn(store).getAgentState("u", "s");
      expect(outline(state)).toEqual(["user: put here"]);
      expect(state?.planModeContext.active).toBe(true);
      expect(state?.tasksContext.tasks).toHaveLength(1);
      const reply = await agent.call("go on", { userId: "u", sessionId: "s" });
      expect(reply.text).toBe("ok");
      expect(outline(logged(await logRecords(store, slotOf("s", "u"))))[0]).toBe("user: put here");
    });

    test("saves nothing when the edit throws, and frees the session", async () => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      await agent.call("x", ctx);
      const edit = agent.updateAgentState(null, "s", (state) => {
        state.contextMutable().replaceAll([]);
        throw new Error("changed my mind");
      });
      await expect(edit).rejects.toThrow("changed my mind");
      expect(outline(await agent.getAgentState(null, "s"))).toHaveLength(2);
      await agent.call("y", ctx);
      expect(outline(await agent.getAgentState(null, "s"))).toHaveLength(4);
    });

    test("waits its turn among calls", async () => {
      const { agent, reached, release } = heldAgent(new FaultyStore({ fused }));
      const running = agent.call("1", ctx);
      await reached.opened;
      const update = agent.updateAgentState(null, "s", (state) => {
        state.contextMutable().push(userMessage("between"));
      });
      const next = agent.call("2", ctx);
      release.open();
      await Promise.all([running, update, next]);
      expect(outline(await agent.getAgentState(null, "s"))).toEqual([
        "user: 1",
        "assistant: ok",
        "user: between",
        "user: 2",
        "assistant: ok",
      ]);
    });

    test("puts a whole state in the place of the stored one, and logs what is new in it", async () => {
      const [from, to] = [new FaultyStore({ fused }), new FaultyStore({ fused })];
      const source = agentOn(from);
      for (const text of ["one", "two"]) await source.call(text, ctx);
      const document = (await source.getAgentState(null, "s"))?.toJson() ?? "";
      const target = agentOn(to);
      for (let times = 0; times < 2; times++)
        await target.updateAgentState(null, "s", () => AgentState.fromJsonString(document));
      expect((await target.getAgentState(null, "s"))?.toJson()).toBe(document);
      expect(outline(logged(await logRecords(to, slotOf())))).toEqual([
        "user: one",
        "assistant: ok",
        "user: two",
        "assistant: ok",
      ]);
      const model = scriptedModel(["three"]);
      await agentOn(to, { model }).call("go on", ctx);
      expect(model.requests[0]?.messages).toHaveLength(5);
    });

    test.each([
      { userId: null, sessionId: "t" },
      { userId: "mallory", sessionId: "s" },
    ])("refuses a whole state of another session: $userId $sessionId", async (ids) => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      const update = agent.updateAgentState(null, "s", () => AgentState.create(ids));
      await expect(update).rejects.toSatisfy(InvalidInputError.is);
      expect(store.of("save")).toEqual([]);
    });
  });

  describe("compact", () => {
    test("without a compactor is a ConfigurationError, and the session stays free", async () => {
      const agent = agentOn(new FaultyStore({ fused }));
      await agent.call("x", ctx);
      await expect(agent.compact(null, "s")).rejects.toSatisfy(ConfigurationError.is);
      expect((await agent.call("y", ctx)).text).toBe("ok");
    });

    test("shortens the stored context, with the hooks told what leaves it", async () => {
      const store = new FaultyStore({ fused });
      const dropped: string[][] = [];
      const agent = agentOn(store, {
        plugins: [compactor(2)],
        middleware: [
          {
            name: "listens",
            onContextDrop: (step, next) => {
              dropped.push(outline(step.messages));
              return next();
            },
          },
        ],
      });
      for (const text of ["1", "2", "3"]) await agent.call(text, ctx);
      const result = await agent.compact(null, "s", { force: true });
      expect(result).toEqual({ compacted: true, messagesBefore: 6, messagesAfter: 2 });
      expect(dropped).toEqual([["user: 1", "assistant: ok", "user: 2", "assistant: ok"]]);
      expect(outline(await agentOn(store).getAgentState(null, "s"))).toEqual([
        "user: 3",
        "assistant: ok",
      ]);
      expect(outline(logged(await logRecords(store, slotOf())))).toHaveLength(6);
    });

    test("hands force and the other options to the compactor, which does nothing below its trigger", async () => {
      const store = new FaultyStore({ fused });
      const requests: unknown[] = [];
      const agent = agentOn(store, {
        plugins: [
          {
            name: "compactor",
            contract: 1,
            setup: (host) =>
              host.provide("compactor", {
                compact: async ({ state, cause, force, overrides }) => {
                  requests.push({ cause, force, overrides });
                  const length = state.context.length;
                  return { compacted: false, messagesBefore: length, messagesAfter: length };
                },
              }),
          },
        ],
      });
      await agent.call("x", ctx);
      const saves = store.of("save").length;
      expect(await agent.compact(null, "s")).toMatchObject({ compacted: false });
      await agent.compact({ sessionId: "s" }, { force: true, keepMessages: 3 });
      expect(requests).toEqual([
        { cause: "manual", force: false, overrides: {} },
        { cause: "manual", force: true, overrides: { keepMessages: 3 } },
      ]);
      expect(store.of("save")).toHaveLength(saves);
    });
  });

  describe("naming a session", () => {
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
      const strange: unknown[] = [
        ...badIds,
        Number.NaN,
        -1,
        10n,
        false,
        new Date(),
        new Map([["userId", "u"]]),
        new Set(["s"]),
        new String("alice"),
        Object("s"),
        () => "s",
        { id: "alice" },
        { $ne: null },
        { toString: () => "alice", length: 5 },
        ["alice", "s"],
        Buffer.from("s"),
        /s/,
        Promise.resolve("s"),
        Symbol("s"),
      ];
      while (strange.length < 200) strange.push([strange.length], { [`k${strange.length}`]: "s" });
      let refused = 0;
      for (const id of strange as never[]) {
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
      expect(refused).toBe(strange.length * 26);
      expect(store.commands).toEqual([]);
    });
  });
});
