import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type DistributedStore, ReActAgent, tool } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { type ScriptedModel, scriptedModel, tempDirectory } from "@holdfast/testing";
import { roundTripsOf, type TcpProxy, tcpProxy } from "@holdfast/testing/servers";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { fleetStores, freshChoice } from "../fleet/choices.js";
import { openStore } from "../fleet/open-store.mjs";

/** Turns that connect, prepare statements and load scripts on all connections of a pool. */
const WARM_UP = 20;
const TURNS = 11;

const ctx = { userId: "ann", sessionId: "s" };

const weather = tool({
  name: "weather",
  description: "Tells the weather in a city.",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => `rain in ${city}`,
});

/** Answers what the memory asks in the background. */
const memories = scriptedModel(() => "- Ann likes tea.");

/** Calls the tool in every turn, or never. */
function modelOf(callsTool: boolean): ScriptedModel {
  const look = { toolCalls: [{ name: "weather", input: { city: "Oslo" } }] };
  return scriptedModel(({ messages }) =>
    callsTool && messages.at(-1)?.role === "user" ? look : "It rains.",
  );
}

/** A store behind a proxy. */
async function storeBehindProxy(kind: (typeof fleetStores)[number]) {
  const choice = freshChoice(kind);
  const url = new URL(choice.url ?? "");
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = `${proxy.host}:${proxy.port}`;
  const { store, close } = openStore({ ...choice, url: url.href });
  onTestFinished(async () => {
    await close();
    await proxy.close();
  });
  return { store, proxy };
}

/** Round trips of a warm turn: of most turns, since a heartbeat or a poll may come in between. */
async function warmTurn(
  proxy: TcpProxy,
  turn: () => Promise<unknown>,
): Promise<number | undefined> {
  for (let n = 0; n < WARM_UP; n++) await turn();
  const counts: number[] = [];
  for (let n = 0; n < TURNS; n++) counts.push(await roundTripsOf(proxy, turn));
  return counts.sort((a, b) => a - b)[(TURNS - 1) / 2];
}

/** A harness with everything that may add to its prompt. */
async function harness(store: DistributedStore, callsTool: boolean) {
  const directory = await tempDirectory();
  for (const name of ["knowledge", "skills/report"])
    await mkdir(join(directory.path, name), { recursive: true });
  await writeFile(join(directory.path, "AGENTS.md"), "Be brief.");
  await writeFile(join(directory.path, "knowledge/prices.md"), "# Prices");
  const skill = "---\nname: report\ndescription: Writes reports.\n---\n";
  await writeFile(join(directory.path, "skills/report/SKILL.md"), skill);
  const model = modelOf(callsTool);
  const options = { name: "agent", tools: [weather], distributedStore: store };
  const agent = HarnessAgent.create({
    ...options,
    ...{ model, workspace: directory.path, plugins: [memoryFlush({ model: memories })] },
  });
  const remember = scriptedModel([
    { toolCalls: [{ name: "memory_save", input: { content: "Ann likes tea." } }] },
    "Noted.",
  ]);
  const other = HarnessAgent.create({
    ...options,
    ...{ model: remember, workspace: directory.path, plugins: [memoryFlush({ model: memories })] },
  });
  await other.call("I like tea.", { ...ctx, sessionId: "before" });
  await other.close();
  onTestFinished(async () => {
    await agent.close();
    await directory.cleanup();
  });
  return { agent, model };
}

describe.each(fleetStores)("on %s", (kind) => {
  test.each([false, true])(
    "a warm turn of a harness waits for the store twice, as one of the engine alone does; with a tool call: %s",
    async (callsTool) => {
      const { store, proxy } = await storeBehindProxy(kind);
      const { agent, model } = await harness(store, callsTool);
      const engine = new ReActAgent({
        ...{ name: "bare", tools: [weather], distributedStore: store },
        model: modelOf(callsTool),
      });
      onTestFinished(() => engine.close());
      const alone = await warmTurn(proxy, () => engine.call("Rain?", ctx));
      const whole = await warmTurn(proxy, () => agent.call("Rain?", ctx));
      console.log(`${kind}, tool ${callsTool}: round trips ${alone} -> ${whole}`);
      expect({ alone, whole }).toEqual({ alone: 2, whole: 2 });
      const system = model.requests.at(-1)?.system;
      for (const part of ["Be brief.", "Ann likes tea.", "Prices", "Writes reports."])
        expect(system).toContain(part);
    },
  );
});
