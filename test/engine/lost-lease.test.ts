import {
  type AgentEvent,
  type ConversationLog,
  definePlugin,
  InMemoryAgentStateStore,
  InProcessSessionGate,
  LeaseLostError,
  ReActAgent,
  type ReActAgentOptions,
  type SessionGate,
  type Slot,
  tool,
} from "@holdfast/core";
import type { Lease, LogDraft } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { fates, logged, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("a lease that is lost, fused: %s", (fused) => {
  /** A gate whose leases can be taken away. */
  function losableGate(gate: SessionGate): { gate: SessionGate; lose: () => void } {
    let lost = new AbortController();
    return {
      lose: () => lost.abort(new Error("the lease ran out")),
      gate: {
        contract: 1,
        kind: "losable",
        reach: gate.reach,
        calls: (slot) => gate.calls(slot),
        acquire: async (slot, request): Promise<Lease> => {
          const lease = await gate.acquire(slot, request);
          lost = new AbortController();
          return {
            token: lease.token,
            lost: lost.signal,
            validUntil: lease.validUntil,
            loaded: lease.loaded,
            inbox: lease.inbox,
            release: (drop) => lease.release(drop),
          };
        },
      },
    };
  }

  function setUp(options: Partial<ReActAgentOptions> = {}) {
    const store = new InMemoryAgentStateStore({ fused });
    const { gate, lose } = losableGate(
      fused ? store.companions().gate : new InProcessSessionGate(),
    );
    const ran: string[] = [];
    const work = tool({
      name: "work",
      description: "Works.",
      input: z.object({}),
      execute: () => ran.push("work"),
    });
    const events: AgentEvent[] = [];
    const agent = new ReActAgent({
      name: "a",
      model: scriptedModel(() => "ok"),
      stateStore: store,
      gate,
      tools: [work],
      onEvent: (event) => events.push(event),
      ...options,
    });
    return { store, agent, lose, ran, events };
  }

  test.each(["fail", "merge-append"] as const)(
    "between the log and the state saves nothing, whatever is done about conflicts: %s",
    async (conflictPolicy) => {
      const store = new InMemoryAgentStateStore({ fused: false });
      const { gate, lose } = losableGate(new InProcessSessionGate());
      const { log: inner } = store.companions();
      const log: ConversationLog = Object.create(inner, {
        append: {
          value: async (slot: Slot, records: readonly LogDraft[]) => {
            await inner.append(slot, records);
            if (records.some(({ mark }) => mark?.name === "call_end")) lose();
          },
        },
      });
      for (const name of ["read", "search", "delete"] as const)
        Object.assign(log, { [name]: (inner[name] as () => unknown).bind(inner) });
      const agent = agentOn(store, { gate, log, conflictPolicy });
      await expect(agent.call("hi", ctx)).rejects.toSatisfy(LeaseLostError.is);
      expect(outline(await agent.getAgentState(null, "s"))).not.toContain("assistant: ok");
    },
  );

  async function expectOnlyInputKept(
    { store, ran, events }: ReturnType<typeof setUp>,
    running: Promise<unknown>,
  ): Promise<void> {
    const error = await running.catch((reason) => reason);
    expect(LeaseLostError.is(error)).toBe(true);
    expect(error).toMatchObject({ code: "LEASE_LOST", errorClass: "CONFLICT" });
    expect(ran).toEqual([]);
    const saved = events.flatMap((event) => (event.type === "state_saved" ? [event.final] : []));
    const stored = await store.load(slotOf());
    const waiting = (await store.inbox.read(slotOf())).map(({ kind }) => kind);
    if (fused) {
      expect([saved, stored, waiting]).toEqual([[], null, ["input"]]);
    } else {
      expect([saved, waiting]).toEqual([[false], []]);
      expect(stored).toMatchObject({
        messages: [],
        head: { unfinishedRun: { inputUnsaid: true, messageIds: [], input: {} }, openCalls: {} },
      });
    }
    const records = await logRecords(store, slotOf());
    expect(outcomes(records).at(-1)).toBe("conflict");
    expect(outline(logged(records))[0]).toBe("user: go");
    // The next holder finds what was said, and none of what was answered.
    const next = new ReActAgent({
      name: "a",
      model: scriptedModel(() => "fine"),
      stateStore: store,
      ...(!fused && { gate: new InProcessSessionGate() }),
    });
    await next.call("next", ctx);
    expect(outline(await next.getAgentState(null, "s"))).toEqual([
      "user: go",
      "user: next",
      "assistant: fine",
    ]);
    const known = await fates(store, slotOf());
    expect(known[0]).toBe("error user: go");
    for (const fate of known.slice(1, -2)) expect(fate).toMatch(/^unsaved (assistant|tool): /);
    expect(known.slice(-2)).toEqual(["committed user: next", "committed assistant: fine"]);
  }

  test("while the model thinks: no tool starts after it, only the input is kept, the log says conflict", async () => {
    const [reached, release] = [door(), door()];
    const held = setUp({
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return { toolCalls: [{ name: "work", input: {} }] };
      }),
    });
    const running = held.agent.call("go", ctx);
    await reached.opened;
    held.lose();
    release.open();
    await expectOnlyInputKept(held, running);
  });

  test("while a session is deleted: the log, which may be that of the session's successor by then, stays", async () => {
    const { agent, store, lose } = setUp();
    await agent.call("go", ctx);
    const before = await logRecords(store, slotOf());
    const removed = store.delete.bind(store);
    store.delete = async (slot) => {
      const existed = await removed(slot);
      lose();
      return existed;
    };
    const error = await agent.deleteSession(ctx).catch((reason) => reason);
    expect(LeaseLostError.is(error)).toBe(true);
    expect(error.message).toContain("its state is gone, its log is not. Repeat deleteSession");
    expect(await logRecords(store, slotOf())).toEqual(before);
    store.delete = removed;
    expect(await agent.deleteSession(ctx)).toBe(true);
    expect(await logRecords(store, slotOf())).toEqual([]);
  });

  test("before a session is deleted: what another process has in it by then stays", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    await agentOn(store).call("go", ctx);
    const losing = losableGate(fused ? store.companions().gate : new InProcessSessionGate());
    const gate: SessionGate = {
      ...losing.gate,
      acquire: async (slot, request) => {
        const lease = await losing.gate.acquire(slot, request);
        losing.lose();
        return lease;
      },
    };
    const before = await logRecords(store, slotOf());
    const error = await agentOn(store, { gate })
      .deleteSession(ctx)
      .catch((reason) => reason);
    expect(LeaseLostError.is(error)).toBe(true);
    expect(error.message).toContain("nothing of it was deleted. Repeat deleteSession");
    expect(outline(await agentOn(store).getAgentState(ctx))).toEqual(["user: go", "assistant: ok"]);
    expect(await logRecords(store, slotOf())).toEqual(before);
  });

  test("while the log of a session is deleted: what plugins keep of it, which may be its successor's, stays", async () => {
    const forgotten: string[] = [];
    const { agent, store, lose } = setUp({
      plugins: [
        definePlugin({
          name: "keeper",
          contract: 1,
          setup: (host) => host.onDelete(async ({ sessionId }) => void forgotten.push(sessionId)),
        }),
      ],
    });
    await agent.call("go", ctx);
    const { log } = store.companions();
    const removed = log.delete.bind(log);
    log.delete = async (slot) => {
      const existed = await removed(slot);
      lose();
      return existed;
    };
    const error = await agent.deleteSession(ctx).catch((reason) => reason);
    expect(LeaseLostError.is(error)).toBe(true);
    expect(error.message).toContain("what plugins keep of it is not");
    expect(forgotten).toEqual([]);
    log.delete = removed;
    await agent.deleteSession(ctx);
    expect(forgotten).toEqual(["s"]);
  });

  test("under a result from outside: who goes on says it once more, as the message that the log has", async () => {
    const outside = tool({ name: "outside", description: "Runs elsewhere.", input: z.object({}) });
    let isLosing = false;
    const held = setUp({
      model: scriptedModel(({ messages }) => {
        if (messages.length > 1) return "ok";
        return { toolCalls: [{ name: "outside", input: {} }] };
      }),
      tools: [outside],
      middleware: [
        {
          name: "loser",
          onModelCall: (_, next) => {
            if (isLosing) held.lose();
            return next();
          },
        },
      ],
    });
    const reply = await held.agent.call("go", ctx);
    const toolCallId = "pending" in reply ? reply.pending[0]?.toolCallId : undefined;
    const answer = { results: [{ toolCallId: toolCallId ?? "", output: "found" }] };
    isLosing = true;
    await expect(held.agent.call(answer, ctx)).rejects.toSatisfy(LeaseLostError.is);
    isLosing = false;
    await held.agent.call("next", ctx);
    const state = await held.agent.getAgentState(null, "s");
    expect(outline(state)).toEqual([
      "user: go",
      "assistant: call outside",
      "tool: success found",
      "user: next",
      "assistant: ok",
    ]);
    const known = new Set(logged(await logRecords(held.store, slotOf())).map(({ id }) => id));
    for (const { id, role } of state?.context ?? []) expect(known, role).toContain(id);
  });

  test("between the reply and its tools, in a hook: none of them starts", async () => {
    const held = setUp({
      model: scriptedModel([{ toolCalls: [{ name: "work", input: {} }] }]),
      middleware: [
        {
          name: "loser",
          onToolCall: (_, next) => {
            held.lose();
            return next();
          },
        },
      ],
    });
    await expectOnlyInputKept(held, held.agent.call("go", ctx));
  });

  test("at the very end, when everything is said: only the input is kept and the error has the reply", async () => {
    const held = setUp({
      middleware: [
        {
          name: "loser",
          onCall: async (_, next) => {
            const reply = await next();
            held.lose();
            return reply;
          },
        },
      ],
    });
    const running = held.agent.call("go", ctx);
    await expectOnlyInputKept(held, running);
    await expect(running).rejects.toMatchObject({ reply: { text: "ok" } });
  });

  test("before the state has even been loaded: the model is not asked", async () => {
    const model = scriptedModel(() => "ok");
    const { store } = setUp();
    const losing = losableGate(fused ? store.companions().gate : new InProcessSessionGate());
    const agent = new ReActAgent({
      name: "a",
      model,
      stateStore: store,
      gate: {
        ...losing.gate,
        acquire: async (slot, request) => {
          const lease = await losing.gate.acquire(slot, request);
          losing.lose();
          return lease;
        },
      },
    });
    await expect(agent.call("go", ctx)).rejects.toSatisfy(LeaseLostError.is);
    expect(model.requests).toHaveLength(0);
    expect(await store.load(slotOf())).toBeNull();
  });

  test("the session is free afterwards, and the next call sees the stored truth", async () => {
    const [reached, release] = [door(), door()];
    let first = true;
    const held = setUp({
      model: scriptedModel(async () => {
        if (!first) return "fine";
        first = false;
        reached.open();
        await release.opened;
        return "lost";
      }),
    });
    const running = held.agent.call("go", ctx);
    await reached.opened;
    held.lose();
    await expect(running).rejects.toSatisfy(LeaseLostError.is);
    release.open();
    expect((await held.agent.call("again", ctx)).text).toBe("fine");
    expect(outline(await held.agent.getAgentState(null, "s"))).toEqual([
      "user: go",
      "user: again",
      "assistant: fine",
    ]);
  });
});
