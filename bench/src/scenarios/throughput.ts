import type { Contender } from "../measure/contender.js";
import { type Case, figureOf, interleaved } from "../measure/rounds.js";
import type { Row } from "../report/table.js";
import { rigContenders } from "../stores/contenders.js";
import type { Scenario } from "./scenario.js";
import { withRigs } from "./with-rigs.js";

/** A situation in which turns per second count. */
export interface Throughput {
  readonly name: string;
  readonly summary: string;
  readonly title: string;
  readonly about: string;
  /** Peers take part. */
  readonly peers: boolean;
  /**
   * Makes sessions for one round and returns what is timed, which resolves to the turns it took.
   *
   * @param session - name for a session, or the first part of several names
   */
  prepare(contender: Contender, session: string): Promise<() => Promise<number>>;
}

/** Makes a scenario that measures turns per second of all contenders. */
export function throughputScenario(throughput: Throughput): Scenario {
  const { name, summary, title, about } = throughput;
  return {
    name,
    summary,
    async run(context) {
      const { quick, progress, rounds = quick ? 4 : 8 } = context;
      const rows = await withRigs(context, async (rigs) => {
        const ours = await Promise.all(rigs.map((rig) => rigContenders(rig)));
        const peers = throughput.peers ? context.peers : [];
        const cases = [...ours.flat(), ...peers].map((each) => caseOf(throughput, each));
        const measured = await interleaved<number, ContenderCase>(cases, rounds, (round) =>
          progress(`${name}: round ${round + 1} of ${rounds}`),
        );
        return measured.map((each): Row => {
          const seconds = figureOf(each, (sample) => sample);
          return {
            store: each.of.contender.store,
            contender: each.of.contender.name,
            figures: [seconds === null ? null : 1 / seconds],
            failure: each.failure,
          };
        });
      });
      const columns = [{ name: "turns/s", unit: "turns/s" as const }];
      return [{ name, title, about, columns, rows, ratioTo: "floor" }];
    },
  };
}

interface ContenderCase extends Case<number> {
  readonly contender: Contender;
}

/** A case whose rounds are seconds per turn. */
function caseOf({ name, prepare }: Throughput, contender: Contender): ContenderCase {
  let sessions = 0;
  return {
    contender,
    async round() {
      const session = `${name}-${contender.name.replaceAll(" ", "-")}-${sessions++}`;
      const work = await prepare(contender, session);
      const began = performance.now();
      const turns = await work();
      return (performance.now() - began) / 1_000 / turns;
    },
  };
}
