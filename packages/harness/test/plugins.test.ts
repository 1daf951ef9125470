import {
  characterEstimate,
  definePlugin,
  InMemoryFilesystem,
  type Middleware,
  type Plugin,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { builtInPlugins, HarnessAgent, type HarnessAgentOptions } from "../src/index.js";
import { problemsOf } from "./problems-of.js";
import { inMemoryParts } from "./stores.js";

/** Adds its name to the system prompt and to `trace` around each call. */
function tracing(
  name: string,
  trace: string[] = [],
  place: Pick<Middleware, "before" | "after"> = {},
): Plugin {
  return definePlugin({
    name,
    contract: 1,
    setup: (host) => host.use({ ...tracer(name, trace), ...place }),
  });
}

function tracer(name: string, trace: string[]) {
  return {
    name,
    onSystemPrompt: (prompt: string) => `${prompt} ${name}`,
    async onCall<T>(_step: unknown, next: () => Promise<T>): Promise<T> {
      trace.push(`+${name}`);
      const reply = await next();
      trace.push(`-${name}`);
      return reply;
    },
  };
}

async function promptWith(plugins: readonly Plugin[]): Promise<string> {
  const model = scriptedModel(["done"]);
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(model)
    .systemPrompt("base")
    .stateStore(inMemoryParts().stateStore)
    .use(...plugins)
    .build();
  await agent.call("go");
  await agent.close();
  return model.requests[0]?.system ?? "";
}

test("built-in plugins run in one order, whatever the order they were added in", async () => {
  const expected = `base ${builtInPlugins.join(" ")}`;
  const plugins = builtInPlugins.map((name) => tracing(name));
  expect(await promptWith(plugins)).toBe(expected);
  expect(await promptWith(plugins.toReversed())).toBe(expected);
});

test("other plugins follow the built-in ones in the order they were added", async () => {
  const names = ["zebra", "compaction", "ant", "workspace"];
  expect(await promptWith(names.map((name) => tracing(name)))).toBe(
    "base workspace compaction zebra ant",
  );
});

test("a plugin that says before or after moves, and the built-in ones keep their order", async () => {
  const names = ["otel", "workspace", "compaction", "eviction", "mcp"];
  const mine = [
    tracing("ant", [], { before: "eviction" }),
    tracing("bee", [], { after: "otel", before: ["workspace", "not-here"] }),
  ];
  expect(await promptWith([...mine, ...names.map((name) => tracing(name))])).toBe(
    "base otel bee workspace compaction ant eviction mcp",
  );
});

test("the user's middleware runs outside the plugins', the first one outermost", async () => {
  const trace: string[] = [];
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(scriptedModel(["done"]))
    .stateStore(inMemoryParts().stateStore)
    .use(tracing("otel", trace))
    .middleware(tracer("first", trace))
    .middleware(tracer("second", trace))
    .build();
  await agent.call("go");
  await agent.close();
  expect(trace).toEqual(["+first", "+second", "+otel", "-otel", "-second", "-first"]);
});

describe("a plugin that provides a port", () => {
  const providing = (setup: Plugin["setup"]) =>
    definePlugin({ name: "provider", contract: 1, setup });
  const build = (plugin: Plugin, options: Partial<HarnessAgentOptions> = {}) =>
    HarnessAgent.create({
      ...{ name: "assistant", model: scriptedModel([]), plugins: [plugin], singleNode: true },
      ...options,
    });

  test.each(["stateStore", "log", "keyValue", "gate", "signals"] as const)(
    "is refused by name where the harness has a %s by default",
    (port) => {
      const { [port]: part } = inMemoryParts();
      const plugin = providing((host) => host.provide(port, part as never));
      expect(problemsOf(() => build(plugin))).toEqual([
        expect.stringContaining(`plugin "provider": it provides a ${port}, and the harness has`),
      ]);
    },
  );

  test("is refused by name where the harness has a filesystem by default", () => {
    const plugin = providing((host) => host.provide("filesystem", new InMemoryFilesystem()));
    expect(problemsOf(() => build(plugin))).toEqual([
      expect.stringContaining('plugin "provider": it provides a filesystem'),
    ]);
  });

  test("is used where the harness has no default", async () => {
    const tokenCounter = characterEstimate();
    let seen: unknown;
    const plugin = providing((host) => {
      host.provide("tokenCounter", tokenCounter);
      host.onStart(async () => {
        seen = host.optional("tokenCounter")();
      });
    });
    const agent = build(plugin, { stateStore: inMemoryParts().stateStore });
    await agent.ready();
    await agent.close();
    expect(seen).toBe(tokenCounter);
  });
});
