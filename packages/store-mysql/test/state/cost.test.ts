import { userMessage } from "@holdfast/core";
import { type InboxEntry, type StateWrite, uuidv7 } from "@holdfast/core/store-kit";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";
import { expect, inject, test } from "vitest";
import { dropTables, freshPrefix, proxiedPool, testPool } from "../log/fresh-tables.js";
import { headOf, slotNamed, turnWrite } from "./turns.js";

const pool = testPool();

test.each(["nothing", "its input, call record and facts"])(
  "a warm turn with %s takes as many statements and bytes whatever the length of the session",
  async (kind) => {
    const tablePrefix = freshPrefix();
    await using network = await proxiedPool();
    // One connection, so that every statement is prepared once.
    const { proxy } = network;
    const url = new URL(inject("mysqlUrl"));
    url.host = `${proxy.host}:${proxy.port}`;
    const single = createPool({ uri: url.href, connectionLimit: 1 });
    const store = MysqlDistributedStore.from(single, { tablePrefix });
    const costOf = async (messages: number) => {
      const slot = slotNamed(`with ${messages}`);
      const append = Array.from({ length: messages }, (_, index) => userMessage(`m${index}`));
      let revision = await store.stateStore.save(slot, {
        op: uuidv7(),
        expected: null,
        head: headOf(slot),
        keep: 0,
        replace: [],
        append,
      });
      const turn = async (count: number): Promise<void> => {
        const more = kind === "nothing" ? undefined : besides();
        const lease = await store.gate.acquire(slot, {
          callId: uuidv7(),
          known: () => revision,
          put: more?.put,
        });
        expect(lease.loaded).toBe("unchanged");
        expect(lease.inbox).toEqual(more === undefined ? [] : [more.put]);
        const write = turnWrite(slot, revision, count, {
          ...{ lease: lease.token, release: true },
          ...more?.fields,
        });
        revision = await store.stateStore.save(slot, write);
        await lease.release();
      };
      // The ring of ops is full then, and does not grow any more.
      for (let index = 0; index < 20; index++) await turn(messages + index);
      const commands: (number | undefined)[] = [];
      proxy.losesReply = (request) => commands.push(request[4]) < 0;
      const before = proxy.bytesUp + proxy.bytesDown;
      await turn(messages + 20);
      proxy.losesReply = undefined;
      return { commands, bytes: proxy.bytesUp + proxy.bytesDown - before };
    };
    const short = await costOf(10);
    const long = await costOf(2_000);
    const execute = 0x17;
    const turn = [execute, execute];
    expect(short.commands, "one to take the lease, one to save").toEqual(turn);
    expect(long.commands).toEqual(turn);
    // Numbers of messages have more digits, and ids may hold more that UTF-8 or JSON lengthens.
    expect(Math.abs(long.bytes - short.bytes)).toBeLessThan(64);
    await single.end();
    await dropTables(pool, tablePrefix);
  },
);

/** An input, and what the save that takes it in says about its call. */
function besides() {
  const put: InboxEntry = {
    ...{ id: uuidv7(), kind: "input", callId: uuidv7(), at: new Date().toISOString() },
    body: { text: "hello" },
  };
  const fields: Partial<StateWrite> = {
    takes: [put.id],
    callRecord: { record: { callId: put.callId, reply: "hello" }, keep: 16 },
    info: { unfinished: false, counts: { messages: 1 } },
  };
  return { put, fields };
}
