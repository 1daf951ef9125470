import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet } from "./fleet.js";
import type { WorkerRequest } from "./worker.js";

/** Answer that a caller gets. */
export interface Answer {
  readonly text: string;
  /** Number of times that another process had to be asked. */
  readonly repeats: number;
}

const retryMs = 20;
const maxRepeats = 500;

/**
 * Sends a call to one of the processes, and to another one when it is refused, cut off or cut short. The call id stays
 * the same, so a call that was answered after all is not answered twice.
 */
export async function ask(fleet: Fleet, request: WorkerRequest): Promise<Answer> {
  for (let repeats = 0; repeats < maxRepeats; repeats++) {
    const { workers } = fleet;
    const worker = workers[Math.floor(Math.random() * workers.length)];
    if (worker !== undefined)
      try {
        const response = await fetch(`http://127.0.0.1:${worker.port}`, {
          method: "POST",
          body: JSON.stringify(request),
        });
        const reply = (await response.json()) as { text: string };
        if (response.ok) return { text: reply.text, repeats };
      } catch {
        // The process is going, or gone: another one takes the call.
      }
    await sleep(retryMs);
  }
  throw new Error(`call ${request.callId} found nobody to answer it`);
}
