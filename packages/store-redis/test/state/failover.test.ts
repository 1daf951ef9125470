import { StoreError, textOf } from "@holdfast/core";
import { loadWhole, saveWithRetry } from "@holdfast/core/store-kit";
import { privateRedisCluster } from "@holdfast/testing/servers";
import { Cluster } from "ioredis";
import { expect, test } from "vitest";
import { partKey } from "../../src/keys.js";
import { RedisAgentStateStore } from "../../src/state/redis-agent-state-store.js";
import { ownPrefix } from "./servers.js";
import { firstWrite, loadState, nextWrite, slot } from "./stores.js";

test("two nodes take turns through the death of a master: what was acknowledged is there, once and in order", async () => {
  await using servers = await privateRedisCluster();
  const keyPrefix = ownPrefix();
  const master = await servers.masterOf(partKey(keyPrefix, slot, "state"));
  const nodes = ["a", "b"].map((label) => {
    const client = new Cluster(
      servers.nodes.map(({ host, port }) => ({ host, port })),
      { lazyConnect: true },
    );
    client.on("error", () => {});
    const options = { keyPrefix, minReplicas: 1, leaseMs: 2_000, commandTimeoutMs: 2_000 };
    return { label, client, store: new RedisAgentStateStore({ client, ...options }) };
  });
  const acknowledged: string[] = [];
  const tried = new Set<string>();

  /** One turn; it may fail as long as the store says so. */
  async function turn(store: RedisAgentStateStore, text: string): Promise<void> {
    try {
      const lease = await store.fuses.gate.acquire(slot, { callId: text });
      try {
        const loaded = lease.loaded === null ? null : await loadWhole(store, slot);
        const fields = { lease: lease.token, release: true };
        const write =
          loaded === null ? firstWrite([text], fields) : nextWrite(loaded, [text], fields);
        tried.add(text);
        await saveWithRetry(store, slot, write, { deadlineMs: 10_000 });
        acknowledged.push(text);
      } finally {
        await lease.release();
      }
    } catch (error) {
      if (!StoreError.is(error)) throw error;
    }
  }

  let killed: Promise<void> | undefined;
  await Promise.all(
    nodes.map(async ({ label, store }) => {
      for (let at = 0; killed === undefined; at++) {
        await turn(store, `${label} ${at}`);
        if (acknowledged.length >= 20) killed ??= master.process.kill9();
      }
    }),
  );
  await killed;
  // The replica that takes over has none itself that could confirm anything.
  const { client } = nodes[0] as (typeof nodes)[0];
  const after = new RedisAgentStateStore({ client, keyPrefix, commandTimeoutMs: 15_000 });
  for (let at = 0; at < 5; at++) await turn(after, `after ${at}`);
  expect(acknowledged.filter((text) => text.startsWith("after"))).toHaveLength(5);
  const said = (await loadState(after)).messages.map(textOf);
  expect(new Set(said).size, "none is there twice").toBe(said.length);
  expect(said.filter((text) => !tried.has(text))).toEqual([]);
  for (const label of ["a", "b", "after"]) {
    const own = (text: string) => text.startsWith(`${label} `);
    const kept = said.filter((text) => own(text) && acknowledged.includes(text));
    expect(kept).toEqual(acknowledged.filter(own));
  }
  for (const { store, client } of nodes) {
    await store.close();
    client.disconnect();
  }
  await after.close();
});
