import type { OnBusy } from "@holdfast/core";
import type { Script, ScriptedTool } from "./question.mjs";
import type { SeededRandom } from "./seeded-random.js";

/** Kinds of operations, and how often each is made. */
const weights = {
  call: 50,
  hedge: 5,
  repeat: 12,
  reuse: 4,
  interrupt: 14,
  settle: 6,
  resume: 5,
  update: 3,
  compact: 2,
  delete: 2,
  unfinished: 1,
} as const;

/** Operation a client is about to make. Shares (0 to 1) pick from what there is at that time. */
export interface Plan {
  readonly kind: keyof typeof weights;
  readonly session: number;
  readonly node: number;
  readonly otherNode: number;
  /** Picks one of the session's last named calls. */
  readonly earlier: number;
  readonly named: boolean;
  readonly onBusy: OnBusy;
  readonly script: Script;
  readonly fail: boolean;
  readonly streamed: boolean;
  readonly abortAfterMs: number | undefined;
  readonly withMessage: boolean;
  readonly approve: boolean;
  /** Repeat the call elsewhere when its node ends or its outcome is unknown. */
  readonly persistent: boolean;
  readonly pauseMs: number;
}

/** Returns a client's next plan: the same ones for the same seed, whatever happens meanwhile. */
export function nextPlan(random: SeededRandom): Plan {
  return {
    kind: random.weighted(weights),
    session: random.next(),
    node: random.next(),
    otherNode: random.next(),
    earlier: random.next(),
    named: random.chance(0.6),
    onBusy: random.weighted({ enqueue: 60, reject: 10, interrupt: 15, rollback: 15 }),
    script: nextScript(random),
    fail: random.chance(0.08),
    streamed: random.chance(0.3),
    abortAfterMs: abortTime(random),
    withMessage: random.chance(0.8),
    approve: random.chance(0.8),
    persistent: random.chance(0.7),
    pauseMs: random.between(0, 80),
  };
}

function abortTime(random: SeededRandom): number | undefined {
  const ms = random.between(5, 400);
  return random.chance(0.08) ? ms : undefined;
}

function nextScript(random: SeededRandom): Script {
  const shape = random.weighted({ plain: 40, streamed: 20, work: 30, approve: 5, remote: 5 });
  const [quick, slow] = [random.between(0, 40), random.between(0, 300)];
  const work = (ms: number): ScriptedTool => ({ tool: "work", ms });
  // One tool that ends soon beside one that takes long: what is done must stay done when the process dies in between.
  const together = [work(quick), work(random.chance(0.3) ? 2_500 : slow)];
  const rounds = {
    plain: [],
    streamed: [],
    work: random.chance(0.5) ? [together] : [[work(quick)], [work(slow)]],
    approve: [[work(quick), { tool: "approve", ms: quick } as const]],
    remote: [[work(quick), { tool: "remote", ms: 0 } as const]],
  };
  return {
    rounds: rounds[shape],
    delayMs: random.chance(0.8) ? quick : slow,
    words: shape === "streamed" ? 4 : 0,
  };
}
