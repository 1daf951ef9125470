import { MysqlAgentStateStore } from "@holdfast/store-mysql";
import { spawnScript } from "@holdfast/testing";
import { expect, inject, test } from "vitest";
import { dropTables, freshPrefix, testPool } from "../log/fresh-tables.js";

const pool = testPool();
const counter = new URL("./children/counter.mjs", import.meta.url);
const times = process.env["HOLDFAST_LONG"] === "1" ? 2_000 : 20;

test.each(["bare", "lease"])(
  "three processes that add to one number lose nothing (%s)",
  async (mode) => {
    const prefix = freshPrefix();
    const args = [inject("mysqlUrl"), prefix, String(times), mode];
    const children = [1, 2, 3].map(() => spawnScript(counter, args));
    const lines = await Promise.all(
      children.map((child) => child.line((line) => line.startsWith("conflicts"), 500_000)),
    );
    const store = new MysqlAgentStateStore({ pool, tablePrefix: prefix });
    const loaded = await store.load({ agentId: "agent", userId: "user", sessionId: "counted" });
    expect(loaded).toMatchObject({ head: { extensions: { count: 3 * times } } });
    if (mode === "lease") expect(lines).toEqual(Array(3).fill("conflicts 0"));
    for (const child of children) expect(await child.exited).toEqual({ code: 0, signal: null });
    await dropTables(pool, prefix);
  },
);
