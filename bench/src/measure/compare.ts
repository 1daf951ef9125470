import { lowerQuartile } from "./statistics.js";

/** Comparison of two things that were measured in turns, so that noise hits both alike. */
export interface Comparison {
  /** Milliseconds of one run; of all rounds the one at the lower quartile, as other work on the machine only ever adds. */
  readonly floorMs: number;
  readonly measuredMs: number;
  readonly ratio: number;
}

/** Number of times that things are run. */
export interface Effort {
  /** Runs before anything counts: a server's processes have long been compiled and optimised, and so must these be. */
  readonly warmUp: number;
  readonly rounds: number;
  /** Runs per round. */
  readonly batch: number;
}

/** Runs both in turns. */
export async function compare(
  floor: () => Promise<void>,
  measured: () => Promise<void>,
  { warmUp, rounds, batch }: Effort,
): Promise<Comparison> {
  await timed(floor, warmUp);
  await timed(measured, warmUp);
  const [floors, measurements]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    floors.push(await timed(floor, batch));
    measurements.push(await timed(measured, batch));
  }
  const [floorMs, measuredMs] = [lowerQuartile(floors), lowerQuartile(measurements)];
  return { floorMs, measuredMs, ratio: measuredMs / floorMs };
}

async function timed(run: () => Promise<void>, count: number): Promise<number> {
  const began = performance.now();
  for (let n = 0; n < count; n++) await run();
  return (performance.now() - began) / count;
}
