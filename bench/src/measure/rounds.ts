import { seededRandom, shuffled } from "./random.js";
import { lowerQuartile } from "./statistics.js";

/** One thing that is measured in rounds. */
export interface Case<Sample> {
  /** Runs one round and returns what it measured. */
  round(): Promise<Sample>;
}

/** A case and what its rounds measured. */
export interface Measured<C, Sample> {
  readonly of: C;
  readonly samples: readonly Sample[];
  /** Why it was given up; samples until then count. */
  readonly failure?: string | undefined;
}

/**
 * Runs rounds of all cases in turns, so that other work on the machine hits all of them alike and their ratios hold.
 *
 * Their order changes with every round: what a case leaves behind, such as garbage, is not always the same one's burden. A case
 * that fails is not run again and does not end the others.
 */
export async function interleaved<Sample, C extends Case<Sample>>(
  cases: readonly C[],
  rounds: number,
  onRound: (round: number) => void = () => {},
): Promise<Measured<C, Sample>[]> {
  const measured = cases.map((each) => ({
    of: each,
    samples: [] as Sample[],
    failure: undefined as string | undefined,
  }));
  const random = seededRandom(rounds);
  for (let round = 0; round < rounds; round++) {
    onRound(round);
    for (const each of shuffled(measured, random)) {
      if (each.failure !== undefined) continue;
      try {
        each.samples.push(await each.of.round());
      } catch (error) {
        each.failure = error instanceof Error ? error.message : String(error);
      }
    }
  }
  return measured;
}

/** Figure of a measured case: the lower quartile of its rounds; null when there is none. */
export function figureOf<C, Sample>(
  { samples }: Measured<C, Sample>,
  of: (sample: Sample) => number,
): number | null {
  return samples.length === 0 ? null : lowerQuartile(samples.map(of));
}
