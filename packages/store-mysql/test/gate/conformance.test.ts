import type { SessionGate } from "@holdfast/core";
import { MysqlSessionGate } from "@holdfast/store-mysql";
import { describeSessionGate } from "@holdfast/testing";
import { dropTables, freshPrefix, testPool } from "../log/fresh-tables.js";

const pool = testPool();
const prefixes = new WeakMap<SessionGate, string>();

describeSessionGate("MysqlSessionGate", {
  create: () => gateAt(freshPrefix()),
  reopen: (gate) => gateAt(prefixes.get(gate) as string),
  // Nothing is renewed any more, and nothing given back.
  killHolder: (gate) => (gate as MysqlSessionGate).close(),
  async cleanup(gate) {
    await (gate as MysqlSessionGate).close();
    await dropTables(pool, prefixes.get(gate) as string);
  },
});

function gateAt(tablePrefix: string): MysqlSessionGate {
  const gate = new MysqlSessionGate({ pool, tablePrefix, leaseMs: 6_000 });
  prefixes.set(gate, tablePrefix);
  return gate;
}
