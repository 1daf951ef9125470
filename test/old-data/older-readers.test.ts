import { type JsonObject, StateTooNewError } from "@holdfast/core";
import { loadWhole, slotKey } from "@holdfast/core/store-kit";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { describe, expect, inject, test } from "vitest";
import { door } from "../engine/door.js";
import { newPlace, type StorePlace, sharedStores } from "../fleet/every-store.js";
import { keeper } from "../fleet/keeper.mjs";

const slot = { agentId: "keeper", userId: "u", sessionId: "s" };
const session = { userId: "u", sessionId: "s" };

/** Schema of the release before records of calls were kept beside the head. */
const olderSchema = 1;

/** A state is read by every release from its `minReader` on, and refused by older ones. */
describe.each(sharedStores)("on %s: a process of the release before", (kind) => {
  async function setUp() {
    const place = await newPlace(kind, 30_000);
    const store = place.open();
    const isRead = async () => {
      const loaded = await loadWhole(store.stateStore, slot);
      if (loaded === null) throw new Error("nothing stored");
      const heads = [loaded.head, await headBefore(place)];
      return heads.every((head) => Number(head["minReader"]) <= olderSchema);
    };
    return { store, isRead, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
  }

  // It cannot resolve references to the log, which the servers' stores have.
  const isUnnamedRead = kind === "files";

  const reads = isUnnamedRead ? "reads" : "refuses";
  test(`${reads} sessions whose calls have no names, also after a failure and a shutdown`, async () => {
    await using world = await setUp();
    await keeper(world.store).call("use pay: it", session);
    expect(await world.isRead()).toBe(isUnnamedRead);
    const failing = keeper(world.store, {
      middleware: [
        {
          name: "failing",
          onReasoning: () => {
            throw new Error("no reasoning");
          },
        },
      ],
    });
    await expect(failing.call("again", session)).rejects.toThrow("no reasoning");
    expect(await world.isRead()).toBe(isUnnamedRead);
    const reached = door();
    const agent = keeper(world.store, {
      tell: (what) => {
        if (what !== "asked third") return undefined;
        reached.open();
        return new Promise(() => undefined);
      },
    });
    const running = agent.call("third", session);
    await reached.opened;
    await agent.shutdown({ timeoutMs: 0 });
    expect((await running).reason).toBe("shutdown");
    expect(await world.isRead()).toBe(isUnnamedRead);
  });

  test("refuses a session that has records of calls beside its head, for good", async () => {
    await using world = await setUp();
    const agent = keeper(world.store);
    await agent.call("named", { ...session, callId: "mine" });
    expect(await world.isRead()).toBe(false);
    await agent.call("nameless", session);
    expect(await world.isRead()).toBe(false);
  });

  test("refuses a session while its head holds the input of a running call", async () => {
    await using world = await setUp();
    const [reached, release] = [door(), door()];
    const agent = keeper(world.store, {
      tell: async (what) => {
        if (what !== "asked question") return;
        reached.open();
        await release.opened;
      },
    });
    await agent.call("before", session);
    const running = agent.call("question", session);
    await reached.opened;
    expect(await world.isRead()).toBe(false);
    release.open();
    await running;
    expect(await world.isRead()).toBe(isUnnamedRead);
  });

  test("would be refused by this one, were it newer still", async () => {
    await using world = await setUp();
    const agent = keeper(world.store);
    await agent.call("question", session);
    const loaded = await loadWhole(world.store.stateStore, slot);
    if (loaded === null) throw new Error("nothing stored");
    await world.store.stateStore.save(slot, {
      op: "future",
      expected: loaded.revision,
      head: { ...loaded.head, schemaVersion: 99, minReader: 99 },
      keep: loaded.messages.length,
      replace: [],
      append: [],
    });
    await expect(agent.call("again", session)).rejects.toSatisfy(StateTooNewError.is);
    await expect(agent.getAgentState("u", "s")).rejects.toSatisfy(StateTooNewError.is);
  });
});

/** Head that a process of the release before finds on a server, where that is not the one that is loaded. */
async function headBefore({ choice }: StorePlace): Promise<JsonObject> {
  if (choice.kind === "redis") {
    const client = new Redis(inject("redisUrl"));
    const head = await client.hget(`${choice.prefix}v1:{${slotKey(slot)}}:state`, "head");
    client.disconnect();
    return JSON.parse(head ?? "null") as JsonObject;
  }
  if (choice.kind !== "mysql") return { minReader: 0 };
  const pool = createPool(inject("mysqlUrl"));
  const reading = pool.query(`SELECT head FROM ${choice.prefix}slots`);
  // Nor does it find one there, whatever it checked when it started.
  await expect(reading).rejects.toMatchObject({ code: "ER_BAD_FIELD_ERROR" });
  await pool.end();
  return { minReader: olderSchema + 1 };
}
