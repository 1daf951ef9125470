import {
  ConfigurationError,
  definePlugin,
  InMemoryAgentStateStore,
  InProcessSessionGate,
  type JsonObject,
  type JsonValue,
  ReActAgent,
  StateCorruptError,
} from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { unfinishedTurn } from "./unfinished-turn.js";

const key = "0123456789abcdef0123456789abcdef";
const slot = { agentId: "a", userId: "ann", sessionId: "s" };
const guard = definePlugin({
  name: "guard",
  contract: 1,
  setup: (host) =>
    host.provide("toolGuard", {
      considers: ["permissionMode", "planMode"],
      check: () => ({ decision: "allow" }),
    }),
});

function node(stateStore: InMemoryAgentStateStore, integrity?: ReActAgentIntegrity) {
  const model = scriptedModel(() => "ok");
  return new ReActAgent({ name: "a", model, stateStore, plugins: [guard], integrity });
}
type ReActAgentIntegrity = ConstructorParameters<typeof ReActAgent>[0]["integrity"];

/** Changes the stored head past every agent. */
async function tamper(stateStore: InMemoryAgentStateStore, edit: (head: JsonObject) => JsonObject) {
  const loaded = await loadWhole(stateStore, slot);
  if (loaded === null) throw new Error("no state");
  const { revision, head, messages } = loaded;
  const write = {
    op: `tamper ${revision}`,
    expected: revision,
    keep: messages.length,
    replace: [],
    append: [],
  };
  await stateStore.save(slot, { ...write, head: edit(head) });
}

const edits: Record<string, (head: JsonObject) => JsonObject> = {
  "a mode": (head) => ({
    ...head,
    permissionContext: { ...(head["permissionContext"] as JsonObject), mode: "bypass" },
  }),
  "a rule": (head) => ({
    ...head,
    permissionContext: { ...(head["permissionContext"] as JsonObject), allow: [{ tool: "*" }] },
  }),
  "plan mode": (head) => ({ ...head, planModeContext: { active: false, planFile: null } }),
  "the seal": (head) => ({ ...head, seal: "AAAA" }),
  "the absence of the seal": ({ seal: _, ...head }) => head,
};

describe("with a key", () => {
  test.each(Object.keys(edits))(
    "%s written past the agent is noticed, and can be mended",
    async (what) => {
      const stateStore = new InMemoryAgentStateStore();
      await node(stateStore, { key }).setPermissionMode("ann", "s", "explore");
      await node(stateStore, { key }).enterPlanMode("ann", "s");
      expect((await node(stateStore, { key }).call("hi", slot)).text).toBe("ok");
      await tamper(stateStore, edits[what] as (typeof edits)[string]);
      const found = node(stateStore, { key });
      await expect(found.call("hi", slot)).rejects.toSatisfy(StateCorruptError.is);
      await expect(found.getAgentState("ann", "s")).rejects.toThrow(/cannot be trusted/);
      const salvage = { salvage: true };
      await found.updateAgentState(
        "ann",
        "s",
        (state) => {
          state.permissionContext.mode = "explore";
          state.permissionContext.allow = [];
        },
        salvage,
      );
      expect((await node(stateStore, { key }).call("hi", slot)).text).toBe("ok");
    },
  );

  test.each([
    ["what a run is taken back to", [["permissionContext", [["mode", "bypass"]], "inside"]]],
    ["what cannot be read of it", [["permissionContext", 5, "inside"]]],
  ])("%s is sealed as well", async (_name, undo) => {
    const stateStore = new InMemoryAgentStateStore();
    const options = { persistence: "step", integrity: { key }, plugins: [guard] } as const;
    const dying = unfinishedTurn(stateStore, { ...options, gate: new InProcessSessionGate() });
    dying.agent.call("dying words", slot).catch(() => undefined);
    await dying.reached.opened;
    const rolledBack = () =>
      new ReActAgent({
        ...{ name: "a", stateStore, ...options, gate: new InProcessSessionGate() },
        model: scriptedModel(() => "ok"),
      }).call("hi", { userId: "ann", sessionId: "s", onBusy: "rollback" });
    const untouched = await loadWhole(stateStore, slot);
    await tamper(stateStore, (head) => ({
      ...head,
      unfinishedRun: { ...(head["unfinishedRun"] as JsonObject), undo: undo as JsonValue },
    }));
    await expect(rolledBack()).rejects.toThrow();
    expect((await loadWhole(stateStore, slot))?.head["permissionContext"]).not.toMatchObject({
      mode: "bypass",
    });
    await tamper(stateStore, () => untouched?.head as JsonObject);
    expect((await rolledBack()).text).toBe("ok");
  });

  test("sessions from before there was one are taken where that is wanted, and sealed from then on", async () => {
    const stateStore = new InMemoryAgentStateStore();
    await node(stateStore).call("hi", slot);
    await expect(node(stateStore, { key }).call("hi", slot)).rejects.toThrow(/has no seal/);
    const lenient = { key, acceptUnsealed: true };
    expect((await node(stateStore, lenient).call("hi", slot)).text).toBe("ok");
    expect((await node(stateStore, { key }).call("hi", slot)).text).toBe("ok");
  });

  test("another key, or another session's seal, does not fit", async () => {
    const stateStore = new InMemoryAgentStateStore();
    await node(stateStore, { key }).call("hi", slot);
    const other = { key: new Uint8Array(32).fill(7) };
    await expect(node(stateStore, other).call("hi", slot)).rejects.toThrow(/another key/);
    const loaded = await loadWhole(stateStore, slot);
    if (loaded === null) throw new Error("no state");
    const moved = { ...slot, sessionId: "t" };
    const head = { ...loaded.head, sessionId: "t" };
    const write = { op: "1", expected: null, keep: 0, replace: [], append: loaded.messages };
    await stateStore.save(moved, { ...write, head });
    await expect(node(stateStore, { key }).call("hi", moved)).rejects.toThrow(/cannot be trusted/);
  });

  test("a node without it keeps the seal of what it does not change", async () => {
    const stateStore = new InMemoryAgentStateStore();
    await node(stateStore, { key }).call("hi", slot);
    await node(stateStore).call("hi", slot);
    expect((await node(stateStore, { key }).call("hi", slot)).text).toBe("ok");
  });
});

test("a key that is too short is refused, and not shown", () => {
  const short = "secret";
  const make = () => node(new InMemoryAgentStateStore(), { key: short });
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(/integrity\.key: must have at least 32 bytes$/);
});
