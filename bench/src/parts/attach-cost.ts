import { randomUUID } from "node:crypto";
import { type DistributedStore, InMemoryAgentStateStore, ReActAgent } from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { scriptedModel } from "@holdfast/testing";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { type Case, figureOf, interleaved } from "../measure/rounds.js";
import type { Row, Table } from "../report/table.js";
import type { ScenarioContext } from "../scenarios/scenario.js";

/** Reply of each call: 20 KB in 400 pieces, as a long answer streams. */
const REPLY = { text: "word ".repeat(4_000), chunkSize: 50 };

/** Ways to run the same call. */
const ways = [
  { name: "off", eventFeed: false, readers: 0 },
  { name: "on, no reader", eventFeed: true, readers: 0 },
  { name: "on, 1 reader", eventFeed: true, readers: 1 },
  { name: "on, 100 readers", eventFeed: true, readers: 100 },
] as const;

/** A store, opened for this bench. */
interface OpenStore {
  readonly store: DistributedStore;
  close(): Promise<unknown>;
}

/** Measures what a call costs whose events are kept and read, against the same without. */
export async function measureAttach(context: ScenarioContext): Promise<Table> {
  const { quick, stores, progress } = context;
  const rounds = context.rounds ?? (quick ? 8 : 40);
  const rows: Row[] = [];
  for (const name of ["memory", ...stores] as const) {
    const { store, close } = await openStore(name, context);
    const cases = ways.map((way) => new AttachCase(way, store, name === "memory"));
    for (const each of cases) for (let warmUp = 0; warmUp < 20; warmUp++) await each.round();
    const measured = await interleaved<number, AttachCase>(cases, rounds, (round) =>
      progress(`attach on ${name}: round ${round + 1} of ${rounds}`),
    );
    for (const each of measured)
      rows.push({
        store: name,
        contender: each.of.name,
        figures: [figureOf(each, (ms) => ms)],
        failure: each.failure,
      });
    await Promise.all(cases.map((each) => each.close()));
    await close();
  }
  return {
    name: "attach",
    title: "A call whose events are kept and read, ms",
    about:
      "Until the call returns; its reply is 20 KB in 400 pieces, streamed as fast as it goes. Readers are in the same process. In brackets: times the call without a feed.",
    columns: [{ name: "time", unit: "ms" }],
    rows,
    ratioTo: "off",
  };
}

class AttachCase implements Case<number> {
  readonly name: string;
  readonly #readers: number;
  readonly #agent: ReActAgent;

  constructor(way: (typeof ways)[number], store: DistributedStore, isLocal: boolean) {
    this.name = way.name;
    this.#readers = way.readers;
    this.#agent = new ReActAgent({
      ...{ name: "bench", model: scriptedModel(() => REPLY, { keepRequests: 1 }) },
      ...{ distributedStore: store, eventFeed: way.eventFeed, singleNode: isLocal },
    });
  }

  async round(): Promise<number> {
    const session = { userId: "u", sessionId: randomUUID() };
    const began = performance.now();
    const call = this.#agent.call("Go on.", { ...session, callId: session.sessionId });
    const reading = Promise.all(Array.from({ length: this.#readers }, () => this.#read(session)));
    await call;
    const ms = performance.now() - began;
    await reading;
    return ms;
  }

  close(): Promise<void> {
    return this.#agent.close();
  }

  async #read(session: { readonly userId: string; readonly sessionId: string }): Promise<void> {
    // It may not have begun yet.
    for (;;) {
      const run = await this.#agent.attach(session, { callId: session.sessionId });
      for await (const event of run ?? []) if (event.type === "call_end") return;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

async function openStore(
  name: "memory" | ScenarioContext["stores"][number],
  { servers }: ScenarioContext,
): Promise<OpenStore> {
  const prefix = `a${randomUUID().slice(0, 8)}_`;
  if (name === "memory" || name === "json") {
    const root = `${servers.directory}/${prefix}`;
    const stateStore =
      name === "json" ? new JsonFileAgentStateStore({ root }) : new InMemoryAgentStateStore();
    return { store: stateStore.companions(), close: () => stateStore.close() };
  }
  const url = await servers.url(name);
  if (name === "redis") {
    const client = new Redis(url, { lazyConnect: true });
    const store = RedisDistributedStore.from(client, { keyPrefix: prefix });
    return { store, close: () => store.close().then(() => client.disconnect()) };
  }
  const pool = createPool({ uri: url, connectionLimit: 10 });
  const store = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
  return { store, close: () => store.close().then(() => pool.end()) };
}
