import { ConfigurationError, textOf } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { describeSessionGate, describeSignalBus, eventually } from "@holdfast/testing";
import { privateRedis } from "@holdfast/testing/servers";
import { describe, expect, test } from "vitest";
import { RedisDistributedStore } from "../src/redis-distributed-store.js";
import { ioredis, ownPrefix } from "./state/servers.js";
import { firstWrite, nextWrite, Stores, slot } from "./state/stores.js";

const stores = new Stores(() => privateRedis());

interface Setting {
  readonly store: RedisDistributedStore;
  readonly keyPrefix: string;
  end(): unknown;
}

const settings = new WeakMap<object, Setting>();

function open<Part extends "gate" | "signals">(part: Part, keyPrefix = ownPrefix()) {
  const { client, end } = ioredis(stores.url);
  const store = RedisDistributedStore.from(client, { keyPrefix, leaseMs: 6_000 });
  settings.set(store[part], { store, keyPrefix, end });
  return store[part];
}

async function close(part: object): Promise<void> {
  const setting = settings.get(part);
  await setting?.store.close();
  await setting?.end();
}

describe("through a distributed store", () => {
  describeSessionGate("its gate", {
    create: () => open("gate"),
    reopen: (gate) => open("gate", settings.get(gate)?.keyPrefix),
    killHolder: async (gate) => void (await settings.get(gate)?.end()),
    cleanup: close,
  });
  describeSignalBus("its signal bus", {
    create: () => open("signals"),
    reopen: (bus) => open("signals", settings.get(bus)?.keyPrefix),
    cleanup: close,
  });
});

test("its parts are the companions of its state store, which fuses gate and log", () => {
  const { client } = ioredis(stores.url);
  const store = RedisDistributedStore.from(client);
  const { stateStore, log, keyValue, gate, signals, eventFeed } = store;
  const parts = { stateStore, log, keyValue, gate, signals, eventFeed };
  expect(stateStore.companions?.()).toEqual(parts);
  expect(stateStore.companions?.()).toBe(stateStore.companions?.());
  expect(stateStore.fuses?.gate).toBe(gate);
  expect(stateStore.fuses?.log).toBe(log);
  for (const part of Object.values(parts))
    expect([part?.kind, part?.reach, part?.contract]).toEqual(["redis", "distributed", 1]);
  expect(client.status).toBe("wait");
});

test("options that cannot be are named", () => {
  const { client } = ioredis(stores.url);
  const make = (options: object) => () => RedisDistributedStore.from(client, options);
  for (const [options, named] of [
    [{ leaseMs: 5 }, "leaseMs"],
    [{ keyPrefix: "{a}" }, "keyPrefix"],
    [{ tableprefix: "x" }, "tableprefix"],
  ] as const) {
    expect(make(options)).toThrowError(named);
    expect(make(options)).toThrowError(ConfigurationError);
  }
});

test("a warm turn is two commands, of which one takes the lease and one saves", async () => {
  const store = stores.open();
  const { gate, signals, stateStore } = store.companions();
  let revision: string | undefined;
  let messages = 0;
  const turn = async (callId: string): Promise<void> => {
    const subscription = await signals.listen(slot, callId, () => {}, { enters: gate });
    const lease = await gate.acquire(slot, { callId, known: () => revision });
    const loaded = { revision: revision ?? "", head: {}, messages: Array(messages) };
    const fields = { lease: lease.token, release: true };
    const record = { v: 1, id: callId, callId, at: "", kind: "mark", mark: { name: "x" } } as const;
    const write =
      lease.loaded === null
        ? firstWrite([callId], { ...fields, log: [record] })
        : nextWrite(loaded as never, [callId], { ...fields, log: [record] });
    revision = await stateStore.save(slot, write);
    messages++;
    await lease.release();
    await subscription.close();
  };
  for (let index = 0; index < 3; index++) await turn(`warm-${index}`);
  const sent = await commandsDuring(async () => {
    for (let index = 0; index < 5; index++) await turn(`turn-${index}`);
  });
  expect(sent).toEqual(Array(10).fill("evalsha"));
  expect((await loadWhole(stateStore, slot))?.messages.map(textOf)).toHaveLength(8);
});

/** The commands that clients sent meanwhile; the pings by which a subscriber watches its connection are not counted. */
async function commandsDuring(work: () => Promise<void>): Promise<string[]> {
  const sent: string[] = [];
  const monitor = await stores.client.duplicate().monitor();
  monitor.on("monitor", (_time, [command]: string[], source: string) => {
    if (source !== "lua" && command !== undefined) sent.push(command.toLowerCase());
  });
  await work();
  await stores.client.echo("over");
  await eventually(() => sent.includes("echo"));
  monitor.disconnect();
  return sent.filter((command) => !["echo", "ping", "hello", "info", "client"].includes(command));
}
