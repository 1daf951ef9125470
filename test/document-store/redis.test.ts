import { randomUUID } from "node:crypto";
import { type AgentStateStore, textOf } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { HarnessAgent } from "@holdfast/harness";
import { scaled, scriptedModel, spawnScript } from "@holdfast/testing";
import { expect, inject, onTestFinished, test } from "vitest";
import { open } from "./redis-client.mjs";

const script = new URL("agent-process.mjs", import.meta.url);
const session = { userId: "u", sessionId: "s" };
const calls = scaled(40, 200);

function shared() {
  const location = `${inject("redisUrl")}#${randomUUID()}:`;
  const store: AgentStateStore = open(location);
  onTestFinished(() => store.close());
  return {
    store,
    start(name: string, count: string) {
      const child = spawnScript(script, [location, name, count]);
      onTestFinished(async () => void (await child[Symbol.asyncDispose]()));
      return child;
    },
    async texts(): Promise<string[]> {
      const loaded = await loadWhole(store, { agentId: "shared", ...session });
      return loaded?.messages.map((message) => textOf(message)) ?? [];
    },
  };
}

test(`three processes with ${calls} calls each on one session lose and mix nothing, one of them killed`, async () => {
  const { store, start, texts } = shared();
  const [victim, ...others] = ["a", "b", "c"].map((name) => start(name, String(calls)));
  await victim?.line("re: a-5");
  await victim?.kill9();
  for (const { exited, stderr } of others)
    expect({ ...(await exited), stderr }).toMatchObject({ code: 0 });
  const all = await texts();
  const isAnswered = (text: string, index: number) =>
    !text.startsWith("a-") || all[index + 1] === `re: ${text}`;
  const kept = all.filter(isAnswered);
  for (let index = 0; index < kept.length; index += 2)
    expect(kept[index + 1]).toBe(`re: ${kept[index]}`);
  for (const name of ["b", "c"])
    expect(kept.filter((text) => text.startsWith(`${name}-`))).toEqual(
      Array.from({ length: calls }, (_, n) => `${name}-${n}`),
    );
  const acknowledged = victim?.lines ?? [];
  expect(kept.filter((text) => text.startsWith("re: a-")).slice(0, acknowledged.length)).toEqual(
    acknowledged,
  );
  const { log, gate } = store.companions?.() ?? {};
  const slot = { agentId: "shared", ...session };
  const records = (await log?.read(slot, { limit: 10_000 })) ?? [];
  const logged = records.flatMap(({ message }) => (message ? [textOf(message)] : []));
  for (const text of kept) expect(logged).toContain(text);
  expect(await gate?.calls(slot)).toEqual([]);
});

test("an interrupt reaches a call in another process", async () => {
  const { store, start } = shared();
  const running = start("a", "wait");
  await running.line("running");
  const agent = HarnessAgent.builder()
    .name("shared")
    .model(scriptedModel([]))
    .stateStore(store)
    .build();
  expect(await agent.interrupt(session)).toBe("stopped");
  expect((await running.exited).code).toBe(0);
  expect(running.lines.at(-1)).toBe("interrupted");
  await agent.close();
});
