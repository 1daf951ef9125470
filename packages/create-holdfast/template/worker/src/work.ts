import type { HarnessAgent } from "@holdfast/harness";
import type { JobQueue, TakenJob } from "./job-queue.js";

/** Time between two heartbeats of a job. */
const HEARTBEAT_MS = 20_000;
/** A job that failed so often is answered with its error. */
const MAX_ATTEMPTS = 5;

/** Answers jobs one after another, until `signal` says to stop. */
export async function work(
  agent: HarnessAgent,
  queue: JobQueue,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const taken = await queue.take();
    if (taken === null) continue;
    const heartbeat = setInterval(() => queue.keep(taken).catch(report), HEARTBEAT_MS);
    try {
      await answer(agent, queue, taken);
    } catch (error) {
      report(error);
      // Left where it is, the job is taken again after a while.
      if (signal.aborted) await queue.giveBack(taken);
      else if ((await queue.attempts(taken)) >= MAX_ATTEMPTS)
        await queue.finish(taken, `This could not be answered: ${messageOf(error)}`);
    } finally {
      clearInterval(heartbeat);
    }
  }
}

async function answer(agent: HarnessAgent, queue: JobQueue, taken: TakenJob): Promise<void> {
  const { id, userId, sessionId, text } = taken.job;
  // The id of the job names the call: a worker that takes the job again goes on with it, or gets the reply that it has already.
  const reply = await agent.call(text, { userId, sessionId, callId: id });
  if (reply.reason === "shutdown") return queue.giveBack(taken);
  const names =
    reply.reason === "permission_asking" ? reply.pending.map(({ name }) => name).join(", ") : "";
  await queue.finish(taken, names === "" ? reply.text : `Waiting for approval of ${names}.`);
}

function report(error: unknown): void {
  console.error(`worker ${process.pid}: ${messageOf(error)}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
