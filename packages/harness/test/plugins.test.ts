import { definePlugin, type Plugin } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { builtInPlugins, HarnessAgent } from "../src/index.js";
import { inMemoryParts } from "./stores.js";

/** Adds its name to the system prompt and to `trace` around each call. */
function tracing(name: string, trace: string[] = []): Plugin {
  return definePlugin({
    name,
    contract: 1,
    setup: (host) => host.use(tracer(name, trace)),
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
