import type { Contender } from "../measure/contender.js";
import { TURNS_UNTIL_LOADED } from "../measure/warm-up.js";
import type { Scenario } from "./scenario.js";
import { throughputScenario } from "./throughput.js";

const SESSIONS = 64;
const MESSAGES = 100;
/** Turns of each session in a round, after those that do not count. */
const TURNS = 2;

/** Turns per second of one process that serves many sessions at once. */
export const manySessions: Scenario = throughputScenario({
  name: "many-sessions",
  summary: `turns per second with ${SESSIONS} sessions at once`,
  title: `${SESSIONS} sessions at once, turns per second`,
  about: `Each with ${MESSAGES} messages; all nodes are in one process, so that more of them do not have more processors.`,
  peers: true,
  async prepare(contender, name) {
    const sessions = Array.from({ length: SESSIONS }, (_, n) => `${name}-${n}`);
    for (const session of sessions) await contender.seed(session, MESSAGES);
    const takeAll = (turns: number) =>
      Promise.all(sessions.map((session) => takeTurns(contender, session, turns)));
    await takeAll(TURNS_UNTIL_LOADED);
    return async () => {
      await takeAll(TURNS);
      return SESSIONS * TURNS;
    };
  },
});

async function takeTurns(contender: Contender, session: string, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await contender.turn(session);
}
