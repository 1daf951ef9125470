import { setTimeout as delay } from "node:timers/promises";
import { ReActAgent, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { privateMariadb, privateRedis, tcpProxy } from "@holdfast/testing/servers";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { door } from "../engine/door.js";
import { fleetStores, freshPrefix, prepareTables } from "./choices.js";
import { openStore } from "./open-store.mjs";
import { transcript } from "./transcript.js";

/** Longer than a node may be silent by default, and than a command may take; shorter than a lease. */
const outageMs = 10_000;
const leaseMs = 3_600_000;
const session = { userId: "u", sessionId: "s" };
const slot = { agentId: "worker", ...session };

/** A server of the test's own behind a network that can fail; what it has acknowledged survives a restart. */
async function serverOf(kind: "redis" | "mysql") {
  const server =
    kind === "redis"
      ? await privateRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] })
      : await privateMariadb();
  const direct = new URL(server.url);
  const proxy = await tcpProxy({ host: direct.hostname, port: Number(direct.port) });
  const url = new URL(server.url);
  url.port = String(proxy.port);
  return {
    ...{ server, proxy, url: url.href },
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await server.stop();
    },
  };
}

/** Ways in which a store is away for a while and then there again. */
const outages = {
  "stands still": {
    begin: async ({ server }) => server.process.pause(),
    end: async ({ server }) => server.process.resume(),
  },
  "cannot be reached": {
    begin: async ({ proxy }) => Object.assign(proxy, { mode: "hold" }),
    end: async ({ proxy }) => Object.assign(proxy, { mode: "pass" }),
  },
  "is killed and started again": {
    begin: async ({ server }) => server.process.kill9(),
    end: async ({ server }) => server.process.restart(),
  },
} satisfies Record<
  string,
  Record<"begin" | "end", (of: Awaited<ReturnType<typeof serverOf>>) => Promise<unknown>>
>;

const cases = fleetStores.flatMap((kind) =>
  Object.entries(outages).map(([what, outage]) => ({ kind, what, ...outage })),
);

describe.each(cases)("$kind $what for longer than a node may be silent", ({ kind, begin, end }) => {
  test("the call that runs goes on, and the one that waits does not take its place", async ({
    onTestFinished,
  }) => {
    await using place = await serverOf(kind);
    const choice = { kind, url: place.url, prefix: freshPrefix(), leaseMs };
    await prepareTables(choice);
    const ran: string[] = [];
    const [working, waiting, goOn] = [door(), door(), door()];
    const agents = [0, 1].map(() => {
      const { store, close } = openStore(choice);
      onTestFinished(close);
      const work = (name: string) =>
        tool({
          name,
          description: "Works.",
          input: z.object({}),
          execute: async () => {
            ran.push(name);
            if (name !== "first") return "done";
            working.open();
            await goOn.opened;
            return "done";
          },
        });
      const model = scriptedModel(({ messages }) => {
        const last = messages.at(-1);
        const text = last?.content.map((block) => (block.type === "text" ? block.text : "")).join();
        if (last?.role === "user") return text === "long" ? call("first") : `re: ${text}`;
        return ran.includes("second") ? "re: long" : call("second");
      });
      const agent = new ReActAgent({
        name: "worker",
        model,
        distributedStore: store,
        tools: [work("first"), work("second")],
        onEvent: ({ type }) => type === "queue_wait" && waiting.open(),
      });
      return { agent, store };
    });
    const [holder, waiter] = agents as [(typeof agents)[0], (typeof agents)[0]];
    await waiter.agent.call("hello", { userId: "u", sessionId: "ready" });
    const long = holder.agent.call("long", session);
    await working.opened;
    const next = waiter.agent.call("next", session);
    // The server may show its place before the call knows of it: one that does not would be refused.
    await waiting.opened;
    expect(await waiter.store.gate.calls(slot)).toHaveLength(2);
    await begin(place);
    await delay(outageMs / 2);
    // The tool ends while the store is away: before the next step the call has to know that the session is still its own.
    goOn.open();
    await delay(outageMs / 2);
    expect(ran).toEqual(["first"]);
    await end(place);
    expect((await long).text).toBe("re: long");
    expect((await next).text).toBe("re: next");
    expect(ran).toEqual(["first", "second"]);
    const { context } = await transcript(waiter.store, slot);
    expect(context.filter((text) => text !== "")).toEqual(["long", "re: long", "next", "re: next"]);
  });
});

function call(name: string) {
  return { toolCalls: [{ name, input: {} }] };
}
