import {
  AgentState,
  definePlugin,
  InMemoryAgentStateStore,
  type JsonValue,
  type PluginState,
  type PluginStateOptions,
  ReActAgent,
  StateCorruptError,
  StateTooLargeError,
  StateTooNewError,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { pairedModel } from "./valid-pairing.js";

type Counter = { count: number };
const counter: PluginStateOptions<Counter> = {
  schema: z.object({ count: z.number() }),
  initial: () => ({ count: 0 }),
};

/** An agent with a plugin that counts calls, and the plugin's accessor. */
function counting(stateStore: InMemoryAgentStateStore, options = counter) {
  let accessor: PluginState<Counter> | undefined;
  const plugin = definePlugin({
    name: "counter",
    contract: 1,
    setup(host) {
      const state = host.state(options);
      accessor = state;
      host.use({
        name: "counter",
        onCall: async (step, next) => {
          state.set(step.state, { count: state.get(step.state).count + 1 });
          return next();
        },
      });
    },
  });
  const agent = new ReActAgent({
    name: "a",
    model: pairedModel(() => "ok"),
    stateStore,
    plugins: [plugin],
  });
  return { agent, state: accessor as PluginState<Counter> };
}

describe.each([true, false])("host.state, fused: %s", (fused) => {
  test("starts from initial, per session, and survives a reload by another agent", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    const one = counting(store);
    await one.agent.call("hi", { sessionId: "s" });
    await one.agent.call("hi", { sessionId: "s" });
    await one.agent.call("hi", { sessionId: "t" });
    const other = counting(store);
    await other.agent.call("hi", { sessionId: "s" });
    const stored = async (sessionId: string) => {
      const state = await other.agent.getAgentState(null, sessionId);
      return state && other.state.get(state);
    };
    expect(await stored("s")).toEqual({ count: 3 });
    expect(await stored("t")).toEqual({ count: 1 });
  });

  test("of an older version is migrated when read", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    await counting(store).agent.call("hi");
    const migrated: unknown[] = [];
    const newer = counting(store, {
      ...counter,
      version: 3,
      migrate: (value, version) => {
        migrated.push(value, version);
        return { count: (value as Counter).count + 100 };
      },
    });
    await newer.agent.call("hi");
    const state = (await newer.agent.getAgentState()) as AgentState;
    expect(newer.state.get(state)).toEqual({ count: 102 });
    expect(migrated).toEqual([{ count: 1 }, 1]);
    expect(state.extensions["counter"]).toEqual({ version: 3, value: { count: 102 } });
  });

  test("of a newer version is neither read nor overwritten by a node with the older plugin", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    await counting(store, { ...counter, version: 2 }).agent.call("hi");
    const { agent, state: accessor } = counting(store);
    await expect(agent.call("hi")).rejects.toSatisfy(StateTooNewError.is);
    const state = (await agent.getAgentState()) as AgentState;
    expect(() => accessor.set(state, { count: 7 })).toThrow(/plugin "counter".* version 2/);
    expect(state.extensions["counter"]).toEqual({ version: 2, value: { count: 1 } });
  });

  test("that does not fit fails the call with a StateCorruptError, and nothing is overwritten", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    const { agent } = counting(store);
    // An agent without the plugin knows no schema for it.
    await agentOn(store).updateAgentState({}, (state) => {
      state.extensions["counter"] = { version: 1, value: { count: "many" } };
    });
    await expect(agent.call("hi")).rejects.toSatisfy(StateCorruptError.is);
    const state = await agent.getAgentState();
    expect(state?.extensions["counter"]).toEqual({ version: 1, value: { count: "many" } });
  });
});

describe("host.state refuses", () => {
  const state = () => AgentState.create({ sessionId: "s" });
  const accessor = (options: PluginStateOptions<Counter>) =>
    counting(new InMemoryAgentStateStore(), options).state;

  test.each<[string, JsonValue, Partial<PluginStateOptions<Counter>>]>([
    ["a value without a version", { count: 1 }, {}],
    ["something else altogether", "x", {}],
    ["an older version without a migration", { version: 1, value: { count: 1 } }, { version: 2 }],
    [
      "what does not fit after migration",
      { version: 1, value: 5 },
      { version: 2, migrate: (value) => value },
    ],
    [
      "what its migration throws about",
      { version: 1, value: 5 },
      {
        version: 2,
        migrate: () => {
          throw new TypeError("5 has no count");
        },
      },
    ],
  ])("%s, as corrupt, naming the plugin and not the contents", (_, stored, options) => {
    const holder = state();
    holder.extensions["counter"] = stored;
    const read = () => accessor({ ...counter, ...options }).get(holder);
    expect(read).toThrow(StateCorruptError);
    expect(read).toThrow(/plugin "counter"/);
  });

  test("more than 64 KB, leaving what was there", () => {
    const schema = z.object({ count: z.number(), note: z.string().optional() });
    const plugin = accessor({ ...counter, schema } as PluginStateOptions<Counter>);
    const holder = state();
    plugin.set(holder, { count: 1 });
    const large = { count: 2, note: "é".repeat(32_768) };
    expect(() => plugin.set(holder, large)).toThrow(StateTooLargeError);
    expect(plugin.get(holder)).toEqual({ count: 1 });
    plugin.set(holder, { count: 2, note: "x".repeat(65_000) } as Counter);
    expect(plugin.get(holder).count).toBe(2);
  });

  test("what JSON cannot hold", () => {
    const plugin = accessor(counter);
    expect(() => plugin.set(state(), { count: Number.NaN })).toThrow(/plugin "counter"/);
  });

  test("a second accessor of one plugin, at construction", () => {
    const greedy = definePlugin({
      name: "greedy",
      contract: 1,
      setup(host) {
        host.state(counter);
        host.state(counter);
      },
    });
    const build = () => new ReActAgent({ name: "a", model: pairedModel([]), plugins: [greedy] });
    expect(build).toThrow('plugin "greedy" calls host.state twice');
  });
});
