import {
  AgentState,
  characterEstimate,
  type DataBlock,
  InMemoryAgentStateStore,
  InMemoryConversationLog,
  InMemoryFilesystem,
  InMemoryKeyValueStore,
  InMemoryOffloader,
  InMemorySignalBus,
  InProcessSessionGate,
  keepLastCompactor,
  listGuard,
  type Offloader,
  type Slot,
  type TextBlock,
  tool,
} from "@holdfast/core";
import { isExplicitToolResult } from "@holdfast/core/plugin-kit";
import {
  type DocumentClient,
  type DocumentKeys,
  documentStore,
  InMemoryEventFeed,
  type StoredDocument,
  slotKey,
} from "@holdfast/core/store-kit";
import {
  describeAgentStateStore,
  describeCompactor,
  describeConversationLog,
  describeEventFeed,
  describeFilesystem,
  describeKeyValueStore,
  describeOffloader,
  describeSessionGate,
  describeSignalBus,
  describeTokenCounter,
  describeToolGuard,
  toolCallContext,
} from "@holdfast/testing";
import { expect } from "vitest";
import { z } from "zod";

/** Clocks of stores whose sessions expire. */
const clocks = new WeakMap<object, { ms: number }>();

function expiringStore(fused: boolean) {
  return {
    hasClock: true,
    create(ttlMs: number) {
      const clock = { ms: Date.now() };
      const store = new InMemoryAgentStateStore({ fused, ttlMs, clock: () => new Date(clock.ms) });
      clocks.set(store, clock);
      return store;
    },
    pass(store: object, _slot: Slot, ms: number) {
      const clock = clocks.get(store);
      if (clock !== undefined) clock.ms += ms;
    },
  };
}

describeAgentStateStore("in-memory", {
  deltaLoads: true,
  create: () => new InMemoryAgentStateStore(),
  expiring: expiringStore(true),
  fuses: ["gate", "log"],
  inbox: true,
  callRecords: true,
});

describeAgentStateStore("in-memory, not fused", {
  deltaLoads: true,
  create: () => new InMemoryAgentStateStore({ fused: false }),
  expiring: expiringStore(false),
  inbox: true,
  callRecords: true,
});

/** The least a user of `documentStore` can write: a key-value client over a map. */
class MapClient implements DocumentClient {
  readonly values = new Map<string, StoredDocument>();
  /** From now on every command fails. */
  broken = false;
  #versions = 0;

  async get(key: string): Promise<StoredDocument | null> {
    await this.#roundTrip();
    return this.values.get(key) ?? null;
  }

  async compareAndSet(key: string, value: string, expected: string | null): Promise<boolean> {
    await this.#roundTrip();
    if ((this.values.get(key)?.version ?? null) !== expected) return false;
    this.values.set(key, { value, version: String(++this.#versions) });
    return true;
  }

  async delete(key: string): Promise<boolean> {
    await this.#roundTrip();
    return this.values.delete(key);
  }

  async list(cursor = ""): Promise<DocumentKeys> {
    await this.#roundTrip();
    const keys = [...this.values.keys()].sort().filter((key) => key > cursor);
    return keys.length > 50 ? { keys: keys.slice(0, 50), cursor: keys[49] } : { keys };
  }

  // Gives other commands a chance to come in between.
  async #roundTrip(): Promise<void> {
    await Promise.resolve();
    if (this.broken) throw new Error("connection refused");
  }
}

const clients = new WeakMap<object, MapClient>();

describeAgentStateStore("documentStore over a map", {
  create: () => storeOver(new MapClient()),
  reopen: (store) => storeOver(clientOf(store)),
  callRecords: true,
  corrupt(store, slot) {
    const { values } = clientOf(store);
    const stored = values.get(slotKey(slot));
    values.set(slotKey(slot), { value: stored?.value.slice(0, -9) ?? "", version: "damaged" });
  },
  breakBackend(store) {
    clientOf(store).broken = true;
  },
});

function storeOver(client: MapClient) {
  const store = documentStore(client);
  clients.set(store, client);
  return store;
}

function clientOf(store: object): MapClient {
  const client = clients.get(store);
  expect(client).toBeDefined();
  return client as MapClient;
}

describeSessionGate("in-process", { create: () => new InProcessSessionGate() });
describeSessionGate("in-memory, fused", {
  create: () => new InMemoryAgentStateStore().companions().gate,
});

describeConversationLog("in-memory", { create: () => new InMemoryConversationLog() });
describeKeyValueStore("in-memory", { create: () => new InMemoryKeyValueStore() });
describeEventFeed("in-memory", {
  create: (limits) => new InMemoryEventFeed(limits),
  reopen: (feed) => feed,
});
describeSignalBus("in-memory", { create: () => new InMemorySignalBus() });
describeFilesystem("in-memory", { create: () => new InMemoryFilesystem() });
describeTokenCounter("character estimate", { create: () => characterEstimate() });
describeCompactor("keep-last", { create: () => keepLastCompactor({ keepMessages: 20 }) });
describeCompactor("keep-last, one message", {
  create: () => keepLastCompactor({ keepMessages: 1 }),
});

const named = (name: string) => tool({ name, description: "A tool.", input: z.object({}) });
describeToolGuard("list", {
  create: () => listGuard({ deny: ["drop_table"], ask: ["send_mail"] }),
  calls: [
    { tool: named("drop_table"), input: {}, decision: "deny" },
    { tool: named("send_mail"), input: {}, decision: "ask" },
    { tool: named("read_file"), input: {}, decision: "allow" },
  ],
});

describeOffloader("in-memory", {
  create: () => new InMemoryOffloader(),
  readBack: async (offloader, slot, { reference }) => {
    let whole = "";
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const answer = await readPage(offloader, slot, { reference, offset });
      if (isExplicitToolResult(answer)) return null;
      const [first, more] = answer as readonly [TextBlock | DataBlock, TextBlock?];
      whole += first.type === "text" ? first.text : JSON.stringify(first);
      const next = /Go on with offset (\d+)/.exec(more?.text ?? "")?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    return whole;
  },
});

/** One call of the read-back tool, as the engine would make it for a call of that session. */
async function readPage(offloader: Offloader, slot: Slot, input: object): Promise<unknown> {
  const ctx = toolCallContext({ userId: slot.userId, sessionId: slot.sessionId });
  ctx.agentState = AgentState.create(slot);
  return offloader.readBackTool?.execute?.(input as never, ctx);
}
