import { TURNS_UNTIL_LOADED } from "../measure/warm-up.js";
import type { Scenario } from "./scenario.js";
import { throughputScenario } from "./throughput.js";

const CALLS = 32;
const MESSAGES = 100;

/** Turns per second of one session that many callers use at once. */
export const hotSession: Scenario = throughputScenario({
  name: "hot-session",
  summary: `turns per second of one session with ${CALLS} calls at once`,
  title: `One session, ${CALLS} calls at once, turns per second`,
  about: `The calls wait for each other. The floor has no queue: its turns are made one after the other. ${MESSAGES} messages.`,
  // Not every peer says what it does with calls at once on one session.
  peers: false,
  async prepare(contender, session) {
    await contender.seed(session, MESSAGES);
    for (let turn = 0; turn < TURNS_UNTIL_LOADED; turn++) await contender.turn(session);
    return async () => {
      if (contender.name === "floor")
        for (let call = 0; call < CALLS; call++) await contender.turn(session);
      else await Promise.all(Array.from({ length: CALLS }, () => contender.turn(session)));
      return CALLS;
    };
  },
});
