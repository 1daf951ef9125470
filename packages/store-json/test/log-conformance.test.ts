import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ConversationLog } from "@holdfast/core";
import { JsonlConversationLog } from "@holdfast/store-json";
import { describeConversationLog, scaled } from "@holdfast/testing";
import { temporaryRoot } from "./temporary-root.js";

for (const durability of scaled(["fsync"], ["fsync", "os"] as const))
  describeConversationLog(`JsonlConversationLog, durability ${durability}`, {
    create: () => new JsonlConversationLog({ root: join(temporaryRoot(), "logs"), durability }),
    reopen: (log) => new JsonlConversationLog({ root: rootOf(log), durability }),
    cleanup: (log) => rmSync(dirname(rootOf(log)), { recursive: true, force: true }),
    breakBackend(log) {
      // A file where the root belongs: every path below it fails, also for a superuser whom no permission stops.
      renameSync(rootOf(log), `${rootOf(log)}.gone`);
      writeFileSync(rootOf(log), "");
    },
  });

function rootOf(log: ConversationLog): string {
  return (log as JsonlConversationLog).root;
}
