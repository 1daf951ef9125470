/** How two things compare that were measured in turns, so that noise hits both alike. */
export interface Comparison {
  /** Milliseconds of one run, median over the rounds. */
  readonly floorMs: number;
  readonly measuredMs: number;
  readonly ratio: number;
}

/** Runs both `rounds` times, `batch` runs at a time. */
export async function compare(
  floor: () => Promise<void>,
  measured: () => Promise<void>,
  { rounds, batch }: { readonly rounds: number; readonly batch: number },
): Promise<Comparison> {
  await timed(floor, batch);
  await timed(measured, batch);
  const [floors, measurements]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    floors.push(await timed(floor, batch));
    measurements.push(await timed(measured, batch));
  }
  const [floorMs, measuredMs] = [median(floors), median(measurements)];
  return { floorMs, measuredMs, ratio: measuredMs / floorMs };
}

async function timed(run: () => Promise<void>, count: number): Promise<number> {
  const began = performance.now();
  for (let n = 0; n < count; n++) await run();
  return (performance.now() - began) / count;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}
