import assert from "node:assert/strict";
import {
  AgentState,
  type EventBody,
  type Middleware,
  type Plugin,
  type ReActAgentOptions,
} from "@holdfast/core";
import {
  type ConformanceCase,
  caseFactory,
  registerCases,
  type SubjectOptions,
} from "../conformance/conformance-case.js";
import { nastySlots } from "../conformance/sample-slots.js";
import type { ScriptedToolCall } from "../model/scripted-reply.js";
import { fakePluginHost } from "./fake-plugin-host.js";
import { ann, bob, PluginWorld, type Speaker } from "./plugin-world.js";
import { type WatchedPlugin, watchPlugin } from "./watch-plugin.js";

/** Options of {@link describePlugin}. */
export interface PluginOptions extends SubjectOptions<Plugin> {
  /** Further options of each agent, for example ports and tools that the plugin needs; called once per agent. */
  agent?(): Partial<ReActAgentOptions>;
  /** Calls of the plugin's own tools that the sample conversation makes. @default none */
  readonly toolCalls?: readonly ScriptedToolCall[] | undefined;
  /** Types of the events that the plugin declares and emits. @default none */
  readonly events?: readonly EventBody["type"][] | undefined;
  /** Hooks that may leave `next` out in the sample conversation, for example `onToolCall` of a cache. @default none */
  readonly skips?: readonly (keyof Middleware)[] | undefined;
}

/** Registers the tests every plugin must pass. */
export function describePlugin(name: string, options: PluginOptions): void {
  registerCases(`${name} as a Plugin`, pluginCases(options), options);
}

const hookNames: Readonly<Record<Exclude<keyof Middleware, "name" | "before" | "after">, true>> = {
  onIncoming: true,
  onRun: true,
  onCall: true,
  onReasoning: true,
  onModelCall: true,
  onActing: true,
  onToolCall: true,
  onToolResult: true,
  onContextDrop: true,
  onSystemPrompt: true,
};

/** Events of core that plugins emit too. */
const sharedEvents = ["error", "compaction_failed", "model_call_start", "model_call_end"];

/** The cases of {@link describePlugin}. */
export function pluginCases(options: PluginOptions): ConformanceCase[] {
  const check = caseFactory<Plugin>({ ...options, reopen: () => options.create() });
  /** Runs `body` with an agent that has the plugin under watch, and closes the agent. */
  const watched = (
    title: string,
    body: (world: PluginWorld, watch: WatchedPlugin, plugin: Plugin) => Promise<void>,
  ): ConformanceCase =>
    check(title, async (plugin) => {
      const watch = watchPlugin(plugin);
      await using world = new PluginWorld(plugin, watch.plugin, options);
      await body(world, watch, plugin);
    });
  return [
    check("it has a name, and is written for contract 1", async (plugin) => {
      assert.ok(typeof plugin.name === "string" && plugin.name !== "", "a name");
      assert.equal(plugin.contract, 1);
      assert.equal(typeof plugin.setup, "function");
    }),
    check("setup returns at once, does no I/O, and may run for several agents", async (plugin) => {
      for (const name of ["first", "second"]) {
        const before = process.getActiveResourcesInfo();
        let returned: unknown;
        fakePluginHost({ agent: { name, agentId: name } }).install({
          ...plugin,
          setup: (host) => {
            returned = plugin.setup(host);
          },
        });
        assert.equal(returned, undefined, "setup returns nothing: it cannot be waited for");
        assert.deepEqual(newResources(before), [], "setup starts nothing that runs on");
      }
    }),
    check(
      "middleware and tools have names, and middleware only hooks there are",
      async (plugin) => {
        const host = fakePluginHost().install(plugin);
        for (const middleware of host.middleware) {
          assert.ok(middleware.name, "a middleware has a name");
          const unknown = Object.keys(middleware).filter(
            (key) => /^on[A-Z]/.test(key) && !Object.hasOwn(hookNames, key),
          );
          assert.deepEqual(unknown, [], `hooks of "${middleware.name}" that nothing calls`);
        }
        for (const tool of host.tools)
          assert.ok(tool.name && tool.description, "a tool has a name and a description");
        const names = [...host.middleware, ...host.tools].map(({ name }) => name);
        const middleware = host.middleware.map(({ name }) => name);
        assert.equal(new Set(middleware).size, middleware.length, `names are unique: ${names}`);
      },
    ),
    watched("a conversation with tools comes to its end", async (world) => {
      const replies = await world.converse(ann);
      assert.equal(replies.length, 3);
      for (const { reason } of replies)
        assert.notEqual(reason, "interrupted", "no call is interrupted");
      const own = (options.toolCalls ?? []).map(({ name }) => name);
      const results = world.events.filter((event) => event.type === "tool_result");
      for (const { name, state } of results)
        if (own.includes(name)) assert.equal(state, "success", `the result of ${name}`);
      for (const name of own)
        assert.ok(
          results.some((result) => result.name === name),
          `${name} was called`,
        );
    }),
    watched("every hook calls next once", async (world, { nextFaults }) => {
      await world.converse(ann);
      await world.agent.close();
      const skips = options.skips ?? [];
      assert.deepEqual(
        nextFaults.filter(
          (fault) =>
            !skips.some((hook) => fault.startsWith(hook) && fault.endsWith("next 0 times")),
        ),
        [],
      );
    }),
    watched("nothing that a hook is given is changed in place", async (world, { mutations }) => {
      await world.converse(ann);
      await world.agent.close();
      assert.deepEqual(mutations, []);
    }),
    watched("state fits its schema and survives JSON", async (world, { stateFaults }) => {
      await world.converse(ann);
      const state = await world.agent.getAgentState(ann.userId, ann.sessionId);
      assert.ok(state);
      const copy = AgentState.fromJsonString(state.toJsonString());
      assert.deepEqual(copy.extensions, state.extensions);
      assert.deepEqual(stateFaults, []);
    }),
    watched("events are JSON and of declared types", async (world, { emitted, eventFaults }) => {
      await world.converse(ann);
      await world.agent.close();
      assert.deepEqual(eventFaults, []);
      const declared: readonly string[] = [...sharedEvents, ...(options.events ?? [])];
      assert.deepEqual(
        [...emitted].filter((type) => !declared.includes(type)),
        [],
        "types that the option events does not have",
      );
    }),
    watched("two sessions at once do not mix", async (world) => {
      await Promise.all([world.converse(ann), world.converse(bob)]);
      await Promise.all([world.converse(ann), world.converse(bob)]);
      assert.deepEqual(await world.mixtures([ann, bob]), []);
    }),
    watched("two agents with one instance do not mix", async (world, watch, plugin) => {
      await using other = new PluginWorld(plugin, watch.plugin, options);
      await Promise.all([world.converse(ann), other.converse(bob)]);
      assert.deepEqual(await world.mixtures([ann]), []);
      assert.deepEqual(await other.mixtures([bob]), []);
      await other.agent.close();
      await world.converse(ann);
    }),
    watched("a session goes on after calls that failed or were aborted", async (world) => {
      await world.converse(ann);
      await assert.rejects(world.fail(ann), "a call whose model fails");
      await assert.rejects(world.abort(ann), "a call that is aborted");
      assert.equal((await world.converse(ann)).length, 3);
    }),
    check("a session goes on in another process", async (plugin, reopen) => {
      const first = new PluginWorld(plugin, plugin, options);
      await first.converse(ann);
      await first.agent.close();
      const other = await reopen();
      await using second = new PluginWorld(other, other, options, first.stateStore);
      await second.converse(ann);
      const said = await second.agent.getAgentState(ann.userId, ann.sessionId);
      assert.ok((said?.context.length ?? 0) > 0);
    }),
    watched("deleting a session or a user that never was is harmless", async (world, watch) => {
      await world.agent.ready();
      await world.agent.deleteSession("nobody", "nothing");
      await world.agent.deleteUser("nobody");
      for (const slot of nastySlots().slice(0, 40))
        for (const run of watch.onDelete) await run(slot);
      await world.converse(ann);
    }),
    watched("what a deleted session or user had is gone for the next one", async (world) => {
      await world.converse(ann);
      await world.agent.deleteSession(ann.userId, ann.sessionId);
      await world.agent.deleteUser(ann.userId);
      const asked = world.model.requests.length;
      const next: Speaker = { ...ann, canary: "canary-next" };
      await world.converse(next);
      const later = JSON.stringify(world.model.requests.slice(asked));
      assert.ok(!later.includes(ann.canary), "a request has something of what was deleted");
    }),
    watched("close may run twice, and before anything has started", async (world, watch) => {
      await world.agent.close();
      for (const run of watch.onClose) await run();
    }),
    watched("close may run twice, after a conversation", async (world, watch) => {
      await world.converse(ann);
      await world.agent.close();
      for (const run of watch.onClose) await run();
    }),
  ];
}

/** Kinds of resources of the process that there are more of now: sockets, processes, timers. */
function newResources(before: readonly string[]): string[] {
  const left = [...before];
  return process.getActiveResourcesInfo().filter((kind) => {
    const index = left.indexOf(kind);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}
