import {
  type AgentEvent,
  definePlugin,
  InMemoryAgentStateStore,
  type Middleware,
  type PluginHost,
  ReActAgent,
  type ReActAgentOptions,
  RuntimeContext,
  type Slot,
  type ToolGuard,
  textOf,
  tool,
} from "@holdfast/core";
import {
  type Delegation,
  type DerivedAgent,
  type DerivedAgentOptions,
  delegatedContext,
  delegationOf,
} from "@holdfast/core/plugin-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { door } from "./door.js";

const root: Slot = { agentId: "lead", userId: "ann", sessionId: "s" };
const session = { userId: "ann", sessionId: "s" };

const write = tool({
  name: "write",
  description: "Writes.",
  input: z.object({}),
  execute: () => "written",
});
const read = tool({
  name: "read",
  description: "Reads.",
  input: z.object({}),
  readOnly: true,
  execute: () => "read",
});

/** Makes an agent with a plugin that derives others. */
function lead(options: Partial<ReActAgentOptions> & { readonly guard?: ToolGuard } = {}) {
  let host: PluginHost | undefined;
  const { guard, plugins = [], ...rest } = options;
  const deriving = definePlugin({
    name: "deriving",
    contract: 1,
    setup(given) {
      host = given;
      if (guard) given.provide("toolGuard", guard);
    },
  });
  const events: AgentEvent[] = [];
  const model = scriptedModel(() => "from the lead's model");
  const agent = new ReActAgent({
    ...{ name: "lead", model, tools: [write, read] },
    stateStore: new InMemoryAgentStateStore(),
    onEvent: (event) => void events.push(event),
    ...rest,
    plugins: [deriving, ...plugins],
  });
  const derive = (fields: DerivedAgentOptions): DerivedAgent =>
    (host as PluginHost).deriveAgent(fields);
  return { agent, derive, events, model };
}

function working(fields: Partial<Delegation> = {}, sessionId = "c"): RuntimeContext {
  const delegation: Delegation = { root, depth: 1, rootCall: () => null, ...fields };
  return delegatedContext(RuntimeContext.empty(), { userId: "ann", sessionId }, delegation);
}

describe("a derived agent", () => {
  test("has sessions of its own in the same store, and its own prompt and tools", async () => {
    const { agent, derive, model } = lead({ systemPrompt: "You lead." });
    const child = derive({
      name: "finder",
      systemPrompt: "You find.",
      hasTool: ({ readOnly }) => readOnly,
    });
    await agent.call("Hello", session);
    await child.call("Find it", working());
    expect(model.requests.map(({ system }) => system)).toEqual(["You lead.", "You find."]);
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ["write", "read"],
      ["read"],
    ]);
    expect(child.agentId).toBe("lead/finder");
    expect((await agent.sessions()).slots.map(({ slot }) => slot.sessionId)).toEqual(["s"]);
    const state = await child.getAgentState("ann", "c");
    expect(state?.context.map(textOf)).toEqual(["Find it", "from the lead's model"]);
  });

  test("can have another model, and fewer steps", async () => {
    const { derive, model } = lead();
    const own = scriptedModel(() => ({ toolCalls: [{ name: "read", input: {} }] }));
    const child = derive({ name: "finder", model: own, maxIterations: 2 });
    const reply = await child.call("Find it", working());
    expect(reply.reason).toBe("max_iterations");
    expect(own.requests).toHaveLength(3);
    expect(model.requests).toHaveLength(0);
  });

  test("runs inside the hooks of the agent it works for, which can tell it from that one", async () => {
    const seen: (number | undefined)[] = [];
    const watching: Middleware = {
      name: "watching",
      onCall(step, next) {
        seen.push(delegationOf(step.ctx)?.depth);
        return next();
      },
    };
    const { agent, derive } = lead({ middleware: [watching] });
    await agent.call("Hello", session);
    await derive({ name: "finder" }).call("Find it", working());
    expect(seen).toEqual([undefined, 1]);
  });

  test("inherits the attributes of a context, and neither its output nor what its caller wanted", () => {
    const parent = RuntimeContext.of({
      ...{ userId: "ann", sessionId: "s", output: z.object({}), onBusy: "reject" },
      ...{ onPending: "deny", queueTimeoutMs: 5, extra: { request: 7 } },
    });
    const ctx = delegatedContext(
      parent,
      { sessionId: "c" },
      { root, depth: 1, rootCall: () => null },
    );
    expect(ctx.get("request")).toBe(7);
    expect(ctx.sessionId).toBe("c");
    const { output, onBusy, onPending, queueTimeoutMs } = ctx.child();
    expect([output, onBusy, onPending, queueTimeoutMs]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("is judged by the permissions, rules and plan mode that its root has at that moment", async () => {
    const judged: unknown[] = [];
    const guard: ToolGuard = {
      considers: ["permissionMode", "planMode"],
      async check({ ctx, remembered }) {
        const { permissionContext, planModeContext } = ctx.agentState ?? {};
        judged.push([permissionContext?.mode, planModeContext, await remembered()]);
        return { decision: "allow" };
      },
    };
    const { agent, derive } = lead({ guard });
    await agent.setPermissionMode("ann", "s", "explore");
    await agent.enterPlanMode("ann", "s");
    const live = await agent.updateAgentState("ann", "s", ({ permissionContext }) => {
      permissionContext.allow = [{ tool: "write", source: "remembered" }];
    });
    live.permissionContext = { ...live.permissionContext, mode: "bypass", allow: [] };
    live.planModeContext = { active: false, planFile: null };
    const model = scriptedModel((_, index) =>
      index < 2 ? { toolCalls: [{ name: "write", input: {} }] } : "done",
    );
    // As it is stored while no call of the root runs here, and as that call has it once one does.
    const rootCall = () => (judged.length === 0 ? null : { callId: "x", state: live });
    await derive({ name: "worker", model }).call("Work", working({ rootCall }));
    const rules = [{ tool: "write", scope: "session" }];
    expect(judged).toEqual([
      ["explore", { active: true, planFile: null, enteredBy: "application" }, rules],
      ["bypass", { active: false, planFile: null }, []],
    ]);
  });

  test("is not what interrupt() without a session stops", async () => {
    const arrival = door();
    const release = door();
    const model = scriptedModel(async () => {
      arrival.open();
      await release.opened;
      return "late";
    });
    const { agent, derive } = lead();
    const running = derive({ name: "finder", model }).call("Find it", working());
    await arrival.opened;
    expect(await agent.interrupt()).toBe(false);
    release.open();
    expect((await running).text).toBe("late");
  });

  test("stops with the agent that it works for, and goes on in another process", async () => {
    const stateStore = new InMemoryAgentStateStore();
    const arrival = door();
    const stopping = door();
    const slow = tool({
      name: "slow",
      description: "Takes time.",
      input: z.object({}),
      execute: async (_, { signal }) => {
        arrival.open();
        await stopping.opened;
        return signal?.aborted ? "aborted" : "finished";
      },
    });
    const calling = () => ({ toolCalls: [{ name: "slow", input: {} }] });
    const one = lead({ stateStore, tools: [slow] });
    const named = delegatedContext(
      RuntimeContext.empty(),
      { userId: "ann", sessionId: "c", callId: "task" },
      { root, depth: 1, rootCall: () => null },
    );
    const first = one.derive({ name: "worker", model: scriptedModel(calling) }).call("Work", named);
    await arrival.opened;
    const shutdown = one.agent.shutdown();
    stopping.open();
    await shutdown;
    expect((await first).reason).toBe("shutdown");
    const two = lead({ stateStore, tools: [slow] });
    const child = two.derive({ name: "worker", model: scriptedModel(() => "done") });
    expect((await child.resume(named, { callId: "task" }))?.text).toBe("done");
    const state = await child.getAgentState("ann", "c");
    expect(JSON.stringify(state?.context)).toContain("finished");
  });

  test("cannot be derived before its agent is built", () => {
    const early = definePlugin({
      name: "early",
      contract: 1,
      setup: (host) => void host.deriveAgent({ name: "x" }),
    });
    expect(() => lead({ plugins: [early] })).toThrow(/derives an agent before its own is built/);
  });

  test("loses its sessions of a user when it is told to, and nothing else", async () => {
    const { agent, derive } = lead();
    const child = derive({ name: "finder" });
    await agent.call("Hello", session);
    await child.call("Find it", working());
    expect(await child.deleteUser("ann")).toBe(1);
    expect(await child.getAgentState("ann", "c")).toBeNull();
    expect(await agent.getAgentState("ann", "s")).not.toBeNull();
  });
});
