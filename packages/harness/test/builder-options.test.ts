import {
  type AgentEvent,
  characterEstimate,
  InMemoryOffloader,
  type Middleware,
  type Plugin,
  type RuntimeContext,
  tool,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { LocalFilesystemSpec } from "@holdfast/workspace";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { HarnessAgent, HarnessAgentBuilder, type HarnessAgentOptions } from "../src/index.js";
import { inMemoryParts } from "./stores.js";

type Options = Required<HarnessAgentOptions>;

/** Options that the builder has under another name, or along with another one. */
const renamed = { toolGroups: "toolGroup", plugins: "use", workspaceOptions: "workspace" } as const;
type Renamed = typeof renamed;

const parts = inMemoryParts();
const model = scriptedModel([]);
const one = tool({ name: "one", description: "One.", input: z.object({}), execute: () => "" });

/** A value of every option. */
const samples: { readonly [K in keyof Options]: NonNullable<Options[K]> } = {
  ...{ ...parts, distributedStore: parts, offloader: new InMemoryOffloader() },
  eventFeed: true,
  ...{ model, fallbackModel: model, tokenCounter: characterEstimate() },
  ...{ name: "assistant", agentId: "id", systemPrompt: "Be kind.", defaultSessionId: "main" },
  ...{ workspace: "./unused", workspaceOptions: { tools: false } },
  filesystem: new LocalFilesystemSpec(),
  ...{ tools: [one], toolGroups: [{ name: "group", tools: [], active: true }] },
  ...{ resetEquippedTools: true, sessionTools: false, singleNode: true, signalHandlers: true },
  middleware: [{ name: "m" } satisfies Middleware],
  plugins: [{ name: "p", contract: 1, setup: () => {} } satisfies Plugin],
  skills: [{ name: "s", description: "S.", instructions: "Do it." }],
  ...{ persistence: "step", conflictPolicy: "overwrite", requireSession: "user" },
  onStoreRolledBack: "refuse",
  ...{ maxIterations: 3, maxQueue: 4, toolTimeoutMs: 5, saveDeadlineMs: 6 },
  modelRetry: { attempts: 1 },
  overflowPatterns: [/too much/],
  limits: { stateBytes: 1_000 },
  integrity: { key: "k".repeat(32), acceptUnsealed: true },
  rememberCalls: { max: 7 },
  recover: { maxAttempts: 2, concurrency: 1 },
  stateCache: { maxSessions: 8 },
  slot: (_: RuntimeContext) => ({ userId: null, sessionId: "s" }),
  onEvent: (_: AgentEvent) => {},
  clock: () => new Date(0),
};

/** Tells a builder of one option, as its method wants it. */
function tell(builder: HarnessAgentBuilder, option: keyof Options): HarnessAgentBuilder {
  switch (option) {
    case "toolGroups": {
      for (const { name, tools, ...more } of samples.toolGroups)
        builder.toolGroup(name, tools, more);
      return builder;
    }
    case "workspaceOptions":
      return builder.workspace(samples.workspace, samples.workspaceOptions);
    default: {
      const value: unknown = samples[option];
      const method = option === "plugins" ? builder.use : builder[option];
      return Reflect.apply(method, builder, Array.isArray(value) ? value : [value]);
    }
  }
}

test("the builder has every option of create, and create every one of the builder, in their types", () => {
  type Of<T> = Exclude<T, keyof Renamed | Renamed[keyof Renamed] | "build">;
  expectTypeOf<Of<keyof HarnessAgentBuilder>>().toEqualTypeOf<Of<keyof Options>>();
});

test("the builder has no method that is not an option, and the other way round", () => {
  const methods = Object.getOwnPropertyNames(HarnessAgentBuilder.prototype).filter(
    (name) => name !== "constructor" && name !== "build",
  );
  const names = Object.keys(samples).map((name) =>
    Object.hasOwn(renamed, name) ? renamed[name as keyof Renamed] : name,
  );
  expect(methods.sort()).toEqual([...new Set(names)].sort());
});

test.each(Object.keys(samples) as (keyof Options)[])(
  "%s reaches create as it was given",
  (option) => {
    const created: HarnessAgentOptions[] = [];
    const agent = HarnessAgent.create({
      ...{ name: "any", model, stateStore: parts.stateStore, sessionTools: false },
    });
    const builder = new HarnessAgentBuilder((options) => {
      created.push(options);
      return agent;
    });
    tell(builder, option).build();
    expect(created[0]?.[option]).toEqual(samples[option]);
  },
);
