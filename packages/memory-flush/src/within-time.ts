import { timeLimit } from "@holdfast/core/plugin-kit";
import { MemoryFailure } from "./failure-of.js";

/** What `run` resolves to. Its signal aborts after `timeoutMs`, or as soon as one of `stops` does; it must heed it. */
export async function withinTime<T>(
  timeoutMs: number,
  stops: readonly AbortSignal[],
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const reason = () => new MemoryFailure(`the model gave no answer within ${timeoutMs} ms`);
  using limit = timeLimit(timeoutMs, { stops, reason });
  return await run(limit.signal);
}
