// A process in which one peer lives, so that its garbage and its compiled code are its own affair.
// Usage: node peer-host.js <index of the peer> <directory with its packages> <directory for its data> <Redis URL>
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { takeTurns } from "../measure/take-turns.js";
import type { PeerAnswer, PeerRequest } from "./peer-process.js";
import { allPeers } from "./peers.js";

const [index = "", packages = "", directory = "", redisUrl = ""] = process.argv.slice(2);
const peer = allPeers(redisUrl)[Number(index)];
if (peer === undefined) throw new Error(`there is no peer ${index}`);
// Resolves modules where the packages are, which an import from here would not.
const { load } = await import(pathToFileURL(join(packages, "load.mjs")).href);
const contender = await peer.open({ load, directory });

async function carryOut({ kind, sessionId, ...request }: PeerRequest): Promise<unknown> {
  if (kind === "seed") return contender.seed(sessionId, request.messages ?? 0);
  if (kind === "turn") return contender.turn(sessionId);
  return takeTurns(contender, sessionId, request.effort ?? { batch: 1, maxMs: 0 });
}

function answer(message: PeerAnswer): void {
  process.send?.(message);
}

process.on("message", (request: PeerRequest) => {
  carryOut(request).then(
    (result) => answer({ id: request.id, result }),
    (error: unknown) =>
      answer({ id: request.id, error: error instanceof Error ? error.message : String(error) }),
  );
});
process.on("disconnect", () => process.exit());
answer({ id: 0 });
