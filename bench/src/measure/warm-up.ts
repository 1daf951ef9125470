import type { Contender } from "./contender.js";

/** Turns before anything counts on a new session: every node of three at random has loaded it by then, most likely. */
export const TURNS_UNTIL_LOADED = 6;
/** Turns after which a process that serves for long has compiled and optimised what a turn needs. */
const TURNS = 800;
/** Turns on one session, so that none grows long. */
const TURNS_PER_SESSION = 20;
/** Most seconds for a second of work, on a machine that is busy with other things. */
const PATIENCE = 4;

/**
 * Takes turns that do not count, as many as optimise the code or as time allows.
 *
 * @param workMs - processor time to spend on it
 */
export async function warmUp(contender: Contender, workMs: number): Promise<void> {
  const until = performance.now() + PATIENCE * workMs;
  const cpu = process.cpuUsage();
  const isOver = () => {
    const { user, system } = process.cpuUsage(cpu);
    return (user + system) / 1_000 > workMs || performance.now() > until;
  };
  for (let turn = 0; turn < TURNS && !isOver(); turn++) {
    const session = `warm-up-${contender.name.replaceAll(" ", "-")}-${Math.floor(turn / TURNS_PER_SESSION)}`;
    if (turn % TURNS_PER_SESSION === 0) await contender.seed(session, 10);
    await contender.turn(session);
  }
}
