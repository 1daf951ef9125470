import type { Contender, TurnEffort, TurnSample } from "./contender.js";
import { median } from "./statistics.js";

/** Takes turns on a session one after the other and measures them. */
export async function takeTurns(
  contender: Pick<Contender, "turn">,
  sessionId: string,
  { batch, maxMs }: TurnEffort,
): Promise<TurnSample> {
  const times: number[] = [];
  const cpu = process.cpuUsage();
  const began = performance.now();
  let last = began;
  do {
    await contender.turn(sessionId);
    const now = performance.now();
    times.push(now - last);
    last = now;
  } while (times.length < batch && last - began < maxMs);
  const { user, system } = process.cpuUsage(cpu);
  return {
    turns: times.length,
    ms: median(times),
    cpuMs: (user + system) / 1_000 / times.length,
  };
}
