import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { tempDirectory } from "@holdfast/testing";
import { createPool } from "mysql2/promise";
import { describe, expect, inject, test } from "vitest";
import { numberOption, parseStoreUrl, type ServerStoreUrl } from "../../src/store/store-url.js";
import { holdfast } from "../support/in-process.js";
import { freshStore } from "../support/stores.js";
import { talk } from "../support/talk.js";

describe("a store's URL", () => {
  test("names a directory, also one with odd characters", () => {
    expect(parseStoreUrl("json:./a b?c#d%")).toMatchObject({
      kind: "json",
      root: resolve("a b?c#d%"),
    });
    expect(parseStoreUrl("json:~/x")).toMatchObject({ root: join(homedir(), "x") });
  });

  test("names a server with everything that is needed to reach it", () => {
    expect(parseStoreUrl("redis://127.0.0.1")).toMatchObject({ port: 6379, tls: false });
    expect(parseStoreUrl("rediss://u:p%40ss@[::1]:7000/3?prefix=a:&ttlMs=5")).toMatchObject({
      kind: "redis",
      host: "::1",
      port: 7000,
      user: "u",
      password: "p@ss",
      database: "3",
      tls: true,
      options: { prefix: "a:", ttlMs: "5" },
    });
    expect(parseStoreUrl("mysql://u@db/agents?ssl=true")).toMatchObject({
      kind: "mysql",
      port: 3306,
      database: "agents",
      tls: true,
    });
  });

  test("is shown without its password, in errors too", () => {
    expect(parseStoreUrl("redis://u:secret@h:1/0").url).toBe("redis://u@h:1/0");
    for (const bad of [
      "redis://u:secret@h/words",
      "mysql://u:secret@h",
      "redis://u:secret@h?nonsense=1",
      "postgres://u:secret@h/db",
      "redis//u:secret@h",
      "secret",
      "json:",
      "redis://u:%E0%A4%A@h",
      "redis://u:12#secret@h:1/0",
      "redis://u:12/secret@h:1/0",
      "redis://u:pass/secret@h",
      "mysql://u:1/secret@h/db",
      "mysql://u:1?secret@h/db",
      "mysql://u:1/db?secret@h/db",
    ]) {
      let message = "";
      try {
        parseStoreUrl(bad);
      } catch (error) {
        message = String(error);
      }
      expect(message).toContain("--store:");
      expect(message).not.toContain("secret");
    }
  });

  test("has options that are checked", () => {
    const url = parseStoreUrl("redis://h?ttlMs=1e3") as ServerStoreUrl;
    expect(() => numberOption(url, "ttlMs")).toThrow("whole number");
    expect(numberOption(url, "leaseMs")).toBeUndefined();
  });

  test("asks for TLS in so many words, or is refused", () => {
    expect(parseStoreUrl("mysql://u@db/agents?ssl=false")).toMatchObject({ tls: false });
    for (const almost of ["yes", "1", "TRUE", ""])
      expect(() => parseStoreUrl(`mysql://u@db/agents?ssl=${almost}`), almost).toThrow(
        "ssl is true or false",
      );
  });

  test("names a directory that is there, unless something is to be saved in it", async () => {
    await using directory = await tempDirectory();
    const store = ["--store", `json:${directory.path}/typo`];
    const out = join(directory.path, "backup.ndjson");
    for (const command of [
      ["list"],
      ["show", "s"],
      ["search", "x"],
      ["export", "-o", out],
      ["delete", "s", "--yes"],
    ]) {
      const { code, stderr } = await holdfast(["sessions", ...command, ...store]);
      expect([code, stderr], command.join(" ")).toEqual([
        3,
        expect.stringContaining("no such directory"),
      ]);
    }
    expect(await readdir(directory.path)).toEqual([]);
    expect(await holdfast(["sessions", "list", "--store", `json:${directory.path}`])).toMatchObject(
      {
        code: 0,
      },
    );
  });

  test("names tables that are there, and makes none to look for them", async () => {
    const prefix = `typo${randomUUID().slice(0, 8)}_`;
    const pool = createPool(inject("mysqlUrl"));
    try {
      const store = `${inject("mysqlUrl")}?prefix=${prefix}`;
      for (const command of [["list"], ["show", "s"], ["delete", "s", "--yes"]]) {
        const { code, stderr } = await holdfast(["sessions", ...command, "--store", store]);
        expect([code, stderr], command.join(" ")).toEqual([3, expect.stringContaining(prefix)]);
      }
      const [tables] = await pool.query("SHOW TABLES LIKE ?", [`${prefix}%`]);
      expect(tables).toEqual([]);
    } finally {
      await pool.end();
    }
  });

  test("may stand in the environment, where no list of processes shows it", async () => {
    await using store = await freshStore("redis");
    await talk(store, { user: "ada", session: "one", says: ["hello"] });
    const listed = await holdfast(["sessions", "list", "--json"], {
      env: { HOLDFAST_STORE: store.url },
    });
    expect(listed.json()).toMatchObject({ sessions: [{ sessionId: "one" }] });
  });

  test("is the harness's default when none is given, and the command says so", async () => {
    await using store = await freshStore("json");
    const env = { HOLDFAST_STATE_HOME: join(store.workspace, "home") };
    const said = await holdfast(
      ["chat", "-m", "hello", "--user", "ada", "--workspace", store.workspace],
      { env },
    );
    expect(said).toMatchObject({ code: 0, stderr: expect.stringContaining("the default") });
    const listed = await holdfast(
      ["sessions", "show", "default", "--json", "--workspace", store.workspace],
      { env },
    );
    const { state, records } = listed.json<{ state: object; records: readonly object[] }>();
    expect(state).toMatchObject({ messages: 2 });
    expect(records.length).toBeGreaterThanOrEqual(3);
    expect(await readdir(env.HOLDFAST_STATE_HOME)).toContain("assistant");
  });
});
