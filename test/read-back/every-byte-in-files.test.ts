import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemorySignalBus, InProcessSessionGate } from "@holdfast/core";
import { JsonFileAgentStateStore, JsonlConversationLog } from "@holdfast/store-json";
import { test } from "vitest";
import { giveBackEveryByte, timeout } from "./every-byte.js";

test("whatever happened to a context, the agent's own tools give back every byte of it from files", {
  timeout,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-history-"));
  const stateStore = new JsonFileAgentStateStore({
    root: join(directory, "state"),
    durability: "os",
  });
  try {
    const parts = {
      ...stateStore.companions(),
      stateStore,
      log: new JsonlConversationLog({ root: join(directory, "workspace"), durability: "os" }),
      // One process: what keeps several apart is tested elsewhere, and takes its time.
      gate: new InProcessSessionGate(),
      signals: new InMemorySignalBus(),
    };
    await giveBackEveryByte(parts, directory);
  } finally {
    await stateStore.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
