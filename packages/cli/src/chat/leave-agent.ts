import type { HarnessAgent } from "@holdfast/harness";
import type { Stopper } from "./stopper.js";

/**
 * Closes the agent, which may take a while: what is worth remembering is noted. Another Ctrl-C does not wait for that; the
 * conversation itself is saved already.
 */
export async function leaveAgent(agent: HarnessAgent, stopper: Stopper): Promise<void> {
  if (stopper.hurry.aborted) return;
  const hurried = new Promise<void>((resolve) => {
    stopper.hurry.addEventListener("abort", () => resolve(), { once: true });
  });
  await Promise.race([stopper.drained.then(() => agent.close()), hurried]);
}
