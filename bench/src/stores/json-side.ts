import { join } from "node:path";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { fileFloor } from "../floors/file-floor.js";
import { directoryBytes } from "./directory-bytes.js";
import type { NodePlace } from "./node-place.js";
import { benchSlot, seedSession } from "./seed-session.js";
import type { StoreSide } from "./store-side.js";
import { writtenBytes } from "./written-bytes.js";

/** Opens a directory of JSON files beside the nodes; these are processes of one host, so they share it. */
export async function jsonSide({ directory }: NodePlace): Promise<StoreSide> {
  const seeder = new JsonFileAgentStateStore({ root: join(directory, "state") });
  return {
    floor: fileFloor(directory),
    seed: async (sessionId, messages) => {
      await seedSession(seeder, benchSlot(sessionId), messages);
    },
    storedBytes: () => directoryBytes(directory),
    counters: async () => ({ bytesSent: await writtenBytes() }),
    close: () => seeder.close(),
  };
}
