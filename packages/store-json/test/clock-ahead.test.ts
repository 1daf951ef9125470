import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { movedClock, spawnScript } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Disk } from "../src/io/disk.js";
import { append, sessionDirectory, slot } from "./session.js";
import { temporaryRoot } from "./temporary-root.js";

const child = new URL("./children/clock-ahead.mjs", import.meta.url);

test.each(["+30h", "-30h"])(
  "a process whose clock is %s off leaves what others use alone",
  async (offset) => {
    const root = temporaryRoot();
    const store = new JsonFileAgentStateStore({ root });
    const { gate, signals } = store.companions();
    await append(store, ["one"]);
    const lease = await gate.acquire(slot, { callId: "call" });
    const heard: string[] = [];
    const subscription = await signals.listen(slot, "call", ({ kind }) => heard.push(kind));

    // Of a process that cannot be looked up: in another container, where pids mean something else.
    const elsewhere = { pid: 4_194_399, start: null, host: "elsewhere" };
    const ticket = join(root, "@gates", "agent", "user-user", "elsewhere", "1.json");
    const mailbox = join(root, "@signals", "agent", "user-user", "session", "call%20elsewhere@1");
    for (const directory of [dirname(ticket), mailbox]) mkdirSync(directory, { recursive: true });
    const holds = { callId: "c", token: "t", gate: "g", leaseMs: 600_000, released: false };
    writeFileSync(ticket, JSON.stringify({ ...elsewhere, ...holds }));
    writeFileSync(join(mailbox, "listener.json"), JSON.stringify(elsewhere));
    const temporary = join(sessionDirectory(root), "tmp.4194399.0123456789abcdef");
    writeFileSync(temporary, "");
    // The directory of a session that was deleted just now.
    const deleted = { ...slot, sessionId: "deleted" };
    await store.save(deleted, {
      op: "1",
      expected: null,
      head: {},
      keep: 0,
      replace: [],
      append: [],
    });
    await store.delete(deleted);
    const tombstone = join(dirname(sessionDirectory(root)), "deleted");

    await new Disk("os").withTemporary(sessionDirectory(root), Buffer.from("own"), async (own) => {
      await using other = spawnScript(child, [root], { env: movedClock(offset) });
      await other.line("done");
      const hours = Number(other.lines[0]?.split(" ")[1]) - Math.round(Date.now() / 3_600_000);
      expect(Math.abs(Math.abs(hours) - 30), "its clock is off").toBeLessThanOrEqual(1);
      expect(other.lines.slice(1, 5)).toEqual([
        "session SESSION_BUSY",
        "elsewhere SESSION_BUSY",
        "call true",
        "call elsewhere true",
      ]);
      expect(statSync(own).size).toBe(3);
    });
    for (const path of [temporary, ticket, join(mailbox, "listener.json"), tombstone])
      expect(existsSync(path), path).toBe(true);
    expect(readdirSync(tombstone)).toHaveLength(1);
    expect(lease.lost.aborted).toBe(false);
    expect(heard).toEqual(["interrupt"]);
    await append(store, ["two"]);
    await subscription.close();
    await lease.release();
    await store.close();
  },
);
