import {
  AgentState,
  type AgentStateStore,
  type DistributedStore,
  InMemoryAgentStateStore,
  type JsonObject,
  type Message,
  StateCorruptError,
  StateTooNewError,
  textOf,
  userMessage,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { newPlace, sharedStores } from "../fleet/every-store.js";
import { agentOn } from "./agent-on.js";

const kinds = ["memory, fused", "memory, unfused", ...sharedStores] as const;

async function withStore(
  kind: (typeof kinds)[number],
  use: (store: AgentStateStore, again: () => AgentStateStore) => Promise<void>,
): Promise<void> {
  if (kind === "memory, fused" || kind === "memory, unfused") {
    const store = new InMemoryAgentStateStore({ fused: kind === "memory, fused" });
    return use(store, () => store);
  }
  await using place = await newPlace(kind, 30_000);
  const open = (): DistributedStore => place.open();
  await use(open().stateStore, () => open().stateStore);
}

const slot = { agentId: "a", userId: "alice", sessionId: "s" };

/** Stores a state as an earlier release, or a hand, left it: stores take any head and any messages. */
async function storeDamaged(
  store: AgentStateStore,
  damage: (head: Record<string, unknown>, messages: unknown[]) => void,
): Promise<void> {
  const state = AgentState.create(slot);
  state.planModeContext = { active: true, planFile: "plans/s.md" };
  state.extensions["mine"] = { version: 1, value: 5 };
  const head: Record<string, unknown> = JSON.parse(JSON.stringify(state.head()));
  const messages: unknown[] = ["one", "two", "three"].map((text) => userMessage(text));
  damage(head, messages);
  await store.save(slot, {
    op: "op-1",
    expected: null,
    head: head as JsonObject,
    keep: 0,
    replace: [],
    append: messages as Message[],
  });
}

type Damage = (head: Record<string, unknown>, messages: unknown[]) => void;

const damages: readonly (readonly [what: string, damage: Damage, named: RegExp])[] = [
  [
    "a section of another form",
    (head) => {
      head["permissionContext"] = { mode: "default", allow: ["secret"] };
    },
    /^permissionContext\.allow\[0\] must be an object, got a string$/,
  ],
  [
    "a section that is no object",
    (head) => {
      head["tasksContext"] = "secret";
    },
    /^tasksContext must be an object, got a string$/,
  ],
  [
    "a list of open calls that is none",
    (head) => {
      head["openCalls"] = { secret: "maybe" };
    },
    /^openCalls/,
  ],
  [
    "a run that is none",
    (head) => {
      head["unfinishedRun"] = { callId: 5 };
    },
    /^unfinishedRun\.callId must be a string, got a number$/,
  ],
];

describe.each(kinds)("a damaged session on %s", (kind) => {
  test.each(damages)("with %s can be read, repaired and used again", async (_, damage, named) => {
    await withStore(kind, async (store, again) => {
      await storeDamaged(store, damage);
      const agent = agentOn(store);
      for (const work of [
        () => agent.call("hello", slot),
        () => agent.getAgentState(slot),
        () => agent.updateAgentState(slot, () => undefined),
      ]) {
        const error = await work().catch((reason: unknown) => reason);
        expect(StateCorruptError.is(error), String(error)).toBe(true);
        expect(String(error)).toMatch(/session "s" of user "alice".* is damaged: /);
        expect(String(error)).toMatch(/getAgentState.*salvage.*updateAgentState.*export.*deleteS/);
        expect(String(error)).not.toContain("secret");
      }
      const left = (await agent.getAgentState(slot, { salvage: true })) as AgentState;
      expect(left.damage).toEqual([expect.stringMatching(named)]);
      expect(left.context.map(textOf)).toEqual(["one", "two", "three"]);
      expect(left.planModeContext).toEqual({ active: true, planFile: "plans/s.md" });
      expect(left.extensions).toEqual({ mine: { version: 1, value: 5 } });
      await expect(agent.getAgentState(slot), "reading repairs nothing").rejects.toThrow(/damaged/);

      const repaired = await agent.updateAgentState(
        "alice",
        "s",
        (state) => {
          expect(state.damage).toHaveLength(1);
          state.tasksContext = { tasks: [{ content: "mend", status: "pending" }] };
        },
        { salvage: true },
      );
      expect(repaired.damage).toEqual([]);
      expect((await agent.call("hello", slot)).text).toBe("ok");
      const other = agentOn(again());
      const state = (await other.getAgentState("alice", "s")) as AgentState;
      expect(state.context.map(textOf)).toEqual(["one", "two", "three", "hello", "ok"]);
      expect(state.tasksContext.tasks).toHaveLength(1);
      expect((await other.call("again", slot)).text).toBe("ok");
    });
  });

  test("can be deleted without being read", async () => {
    await withStore(kind, async (store) => {
      await storeDamaged(store, (head) => {
        head["planModeContext"] = 5;
      });
      const agent = agentOn(store);
      expect(await agent.deleteSession(slot)).toBe(true);
      expect(await agent.getAgentState(slot)).toBeNull();
      expect((await agent.call("hello", slot)).text).toBe("ok");
    });
  });
});

describe.each(["memory, fused", "memory, unfused"] as const)("what is left on %s", (kind) => {
  test("messages that cannot be read are left out and named, the others stay in order", async () => {
    await withStore(kind, async (store) => {
      await storeDamaged(store, (_, messages) => {
        messages[1] = { ...(messages[1] as Message), role: "secret" };
      });
      const agent = agentOn(store);
      const left = await agent.getAgentState(slot, { salvage: true });
      expect(left?.damage).toEqual([
        "message 1 of the state: role is not user, assistant, tool or system",
      ]);
      await agent.updateAgentState(slot, () => undefined, { salvage: true });
      const state = await agentOn(store).getAgentState(slot);
      expect(state?.context.map(textOf)).toEqual(["one", "three"]);
    });
  });

  test("a head that is no state at all leaves the messages", async () => {
    await withStore(kind, async (store) => {
      await storeDamaged(store, (head) => {
        delete head["format"];
      });
      const left = await agentOn(store).getAgentState(slot, { salvage: true });
      expect(left?.damage).toEqual([expect.stringContaining("format")]);
      expect(left?.context).toHaveLength(3);
      expect([left?.userId, left?.sessionId]).toEqual(["alice", "s"]);
    });
  });

  test("a state with another session's ids is read under its own", async () => {
    await withStore(kind, async (store) => {
      await storeDamaged(store, (head) => {
        head["userId"] = "mallory";
        head["sessionId"] = 5;
      });
      await expect(agentOn(store).getAgentState(slot)).rejects.toSatisfy(StateCorruptError.is);
      const left = await agentOn(store).getAgentState(slot, { salvage: true });
      expect(left?.damage).toHaveLength(2);
      expect([left?.userId, left?.sessionId]).toEqual(["alice", "s"]);
    });
  });

  test("a state of a newer release is not salvaged: it is not damaged", async () => {
    await withStore(kind, async (store) => {
      await storeDamaged(store, (head) => {
        head["minReader"] = 99;
      });
      const read = agentOn(store).getAgentState(slot, { salvage: true });
      await expect(read).rejects.toSatisfy(StateTooNewError.is);
    });
  });

  test("a sound state has no damage, with the option or without", async () => {
    await withStore(kind, async (store) => {
      const agent = agentOn(store);
      await agent.call("hello", slot);
      expect((await agent.getAgentState(slot, { salvage: true }))?.damage).toEqual([]);
      expect((await agent.getAgentState(slot))?.damage).toEqual([]);
    });
  });
});
