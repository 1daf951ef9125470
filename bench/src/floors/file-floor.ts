import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Contender } from "../measure/contender.js";
import { FLOOR_WINDOW } from "../stores/store-side.js";
import { floorHistory, floorTurn, parseAll } from "./floor-messages.js";

/** Bytes at the end of a file that hold the last messages. */
const TAIL_BYTES = 32_768;

/** Floor on files: read the end of a file of JSON lines, append two lines, fdatasync. */
export function fileFloor(directory: string): Contender {
  const path = (sessionId: string) => join(directory, "floor", `${sessionId}.jsonl`);
  return {
    store: "json",
    name: "floor",
    async seed(sessionId, messages) {
      await mkdir(join(directory, "floor"), { recursive: true });
      await writeFile(path(sessionId), linesOf(floorHistory(messages)));
    },
    async turn(sessionId) {
      const file = await open(path(sessionId), "a+");
      try {
        const { size } = await file.stat();
        const start = Math.max(0, size - TAIL_BYTES);
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size - start), {
          position: start,
        });
        const lines = buffer.toString("utf8", 0, bytesRead).trimEnd().split("\n");
        parseAll(lines.slice(-FLOOR_WINDOW));
        await file.appendFile(linesOf(floorTurn()));
        await file.datasync();
      } finally {
        await file.close();
      }
    },
  };
}

function linesOf(messages: readonly string[]): string {
  return messages.map((message) => `${message}\n`).join("");
}
