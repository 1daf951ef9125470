import { hostname } from "node:os";
import { offlineModel } from "@holdfast/demo/offline-model";
import { Redis } from "ioredis";
import { createAgent } from "./agent.js";
import { JobQueue } from "./job-queue.js";
import { chooseModel } from "./model.js";
import { openStore, storeUrl } from "./store.js";
import { work } from "./work.js";

/** Runs one process: it answers several jobs at a time until it is told to stop, and then leaves none behind. */
export async function runWorker(concurrency: number): Promise<void> {
  const { store, close } = openStore();
  const agent = createAgent(chooseModel(offlineModel()), store);
  const stop = new AbortController();
  const connections = Array.from({ length: concurrency }, () => new Redis(storeUrl));
  const loops = connections.map((connection, index) => {
    connection.on("error", () => undefined);
    const queue = new JobQueue(connection, `${hostname()}-${process.pid}-${index}`);
    return work(agent, queue, stop.signal);
  });

  // No further job is taken; calls in flight stop at a safe point, and their jobs are given back.
  const end = async (): Promise<void> => {
    if (stop.signal.aborted) return;
    stop.abort();
    await agent.shutdown();
    await Promise.all(loops);
    for (const connection of connections) connection.disconnect();
    await close();
    process.exit(0);
  };
  for (const sign of ["SIGTERM", "SIGINT", "disconnect"]) process.on(sign, () => void end());
  await agent.ready();
  process.send?.("ready");
  await Promise.all(loops);
}
