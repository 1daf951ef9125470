import type { SignalBus } from "@holdfast/core";
import { MysqlSignalBus } from "@holdfast/store-mysql";
import { describeSignalBus } from "@holdfast/testing";
import { dropTables, freshPrefix, testPool } from "../log/fresh-tables.js";

const pool = testPool();
const prefixes = new WeakMap<SignalBus, string>();

describeSignalBus("MysqlSignalBus", {
  create: () => busAt(freshPrefix()),
  reopen: (bus) => busAt(prefixes.get(bus) as string),
  async cleanup(bus) {
    await (bus as MysqlSignalBus).close();
    await dropTables(pool, prefixes.get(bus) as string);
  },
});

function busAt(tablePrefix: string): MysqlSignalBus {
  const bus = new MysqlSignalBus({ pool, tablePrefix, signalPollMs: 50 });
  prefixes.set(bus, tablePrefix);
  return bus;
}
