import type { AgentEvent } from "@holdfast/core";
import { eventually, scaled, spawnScript } from "@holdfast/testing";
import { privateRedisCluster } from "@holdfast/testing/servers";
import { describe, expect, test } from "vitest";
import { openNodeStore } from "../history/node/open-node-store.mjs";
import { freshPrefix } from "./choices.js";
import { newPlace, type StorePlace, sharedStores } from "./every-store.js";
import { keeper } from "./keeper.mjs";
import { transcript } from "./transcript.js";

/** Leases that outlast the test by far: a dead node is found by its silence. */
const leaseMs = 3_600_000;
const sessions = ["s-0", "s-1", "s-2"];
const question = "use pay: a";

const stores = scaled(["redis"] as const, [...sharedStores, "redis-cluster"] as const);

/** In a Cluster the heartbeat of a node, its marks and its sessions are in different slots. */
async function clusterPlace(): Promise<StorePlace> {
  const servers = await privateRedisCluster();
  const nodes = servers.nodes.map(({ host, port }) => ({ host, port }));
  const choice = { kind: "redis-cluster" as const, nodes, prefix: freshPrefix(), leaseMs };
  const closing: (() => Promise<void>)[] = [];
  return {
    choice,
    open() {
      const { store, close } = openNodeStore(choice);
      closing.push(close);
      return store;
    },
    async [Symbol.asyncDispose]() {
      for (const close of closing) await close();
      await servers.stop();
    },
  };
}

describe.concurrent.each(stores)("on %s", (kind) => {
  test("runs of a node that was killed are continued by the others, each once, and nobody calls", async () => {
    await using place = await (kind === "redis-cluster" ? clusterPlace() : newPlace(kind, leaseMs));
    const asked: string[] = [];
    const events: AgentEvent[] = [];
    const live = [0, 1].map(() =>
      keeper(place.open(), {
        recover: true,
        tell: (what, sessionId) => asked.push(`${sessionId} ${what}`),
        onEvent: (event) => events.push(event),
      }),
    );
    for (const agent of live) await agent.call("hello", { userId: "u", sessionId: "ready-too" });
    const options = JSON.stringify({ recover: true, holdAt: `asked ${question}` });
    await using dying = spawnScript(new URL("keeper-node.mjs", import.meta.url), [
      JSON.stringify(place.choice),
      options,
    ]);
    await dying.line("ready");
    const called = [...sessions, "called"];
    for (const sessionId of called)
      dying.send(JSON.stringify({ input: question, ctx: { userId: "u", sessionId } }));
    for (const sessionId of called) await dying.line(`${sessionId} asked ${question}`);
    await dying.kill9();
    // A call takes its session over as well, and answers for both.
    const next = await live[0]?.call("b", { userId: "u", sessionId: "called" });
    expect(next?.text).toBe("re: b");
    const recovered = () => events.filter(({ type }) => type === "run_recovered");
    await eventually(() => recovered().length >= sessions.length, { timeoutMs: 60_000 });
    const { keyValue } = place.open();
    const records = ["holdfast.recovery", "keeper"];
    // A run that both nodes tried to continue waits for its next attempt on one of them.
    await eventually(
      async () => {
        const { keys: nodes } = await keyValue.list(records);
        const marks = await Promise.all(nodes.map((node) => keyValue.list([...records, node])));
        return marks.every(({ keys }) => keys.length === 0);
      },
      { timeoutMs: 60_000 },
    );
    await Promise.all(live.map((agent) => agent.close()));
    const names = recovered().map(({ slot }) => slot.sessionId);
    expect(names.filter((name) => name !== "called").sort()).toEqual(sessions);
    for (const sessionId of sessions) {
      const slot = { agentId: "keeper", userId: "u", sessionId };
      const { context } = await transcript(place.open(), slot);
      expect(context.filter((line) => line === question)).toHaveLength(1);
      expect(context.at(-1)).toBe(`re: ${question}`);
      expect(asked.filter((line) => line === `${sessionId} asked ${question}`)).toHaveLength(1);
      expect(asked.filter((line) => line === `${sessionId} did pay`)).toHaveLength(1);
    }
    const { keys } = await keyValue.list(records);
    expect(keys.length, "records of nodes: at most that of the dead one").toBeLessThanOrEqual(1);
  });
});
