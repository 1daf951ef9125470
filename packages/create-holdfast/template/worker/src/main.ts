import cluster from "node:cluster";
import { once } from "node:events";
import { Redis } from "ioredis";
import { JobQueue } from "./job-queue.js";
import { missingKey } from "./model.js";
import { storeHint, storeUrl } from "./store.js";
import { runWorker } from "./worker.js";

/** Processes, and jobs that each answers at a time. */
const processes = Number(process.env["WORKERS"] || 2);
const concurrency = Number(process.env["CONCURRENCY"] || 4);
/** Pause before a process that died is replaced. */
const RESTART_MS = 1_000;

if (cluster.isPrimary) await supervise();
else await runWorker(concurrency);

/** Keeps the processes running until this one is told to stop. */
async function supervise(): Promise<void> {
  const advice = missingKey();
  if (advice !== null) console.error(`${advice}\n`);
  await prepareQueue();
  let isStopping = false;
  const leave = (): void => {
    const workers = Object.values(cluster.workers ?? {});
    if (isStopping && workers.every((worker) => worker?.isDead())) process.exit(0);
  };
  cluster.on("exit", ({ process: { pid } }) => {
    if (isStopping) return leave();
    console.error(`worker ${pid} died; another one takes its place`);
    // Not at once: a process that dies as soon as it starts would keep the machine busy.
    setTimeout(() => isStopping || cluster.fork(), RESTART_MS);
  });
  const stop = (): void => {
    isStopping = true;
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill("SIGTERM");
    leave();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  const workers = Array.from({ length: processes }, () => cluster.fork());
  await Promise.all(workers.map((worker) => once(worker, "message")));
  const pids = workers.map((worker) => worker.process.pid).join(", ");
  console.log(`${processes} processes (${pids}) take jobs from Redis. Ctrl-C stops them.`);
}

/** Ends this process with a plain sentence when there is no Redis. */
async function prepareQueue(): Promise<void> {
  const client = new Redis(storeUrl, { lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await new JobQueue(client, "supervisor").open();
  } catch (error) {
    console.error(`Redis does not answer: ${(error as Error).message}\n${storeHint}`);
    process.exit(1);
  } finally {
    client.disconnect();
  }
}
