import type { Contender, TurnSample } from "../measure/contender.js";
import { figureOf, interleaved, type Measured } from "../measure/rounds.js";
import { TurnCase } from "../measure/turn-case.js";
import { warmUp } from "../measure/warm-up.js";
import type { Row, Table } from "../report/table.js";
import { rigContenders } from "../stores/contenders.js";
import type { Scenario, ScenarioContext } from "./scenario.js";
import { sizeColumns } from "./size-columns.js";
import { withRigs } from "./with-rigs.js";

/** Processor time for warming up a contender, per round that follows. */
const WARM_UP_MS = 250;

type MeasuredTurns = Measured<TurnCase, TurnSample>;

/** Cost of a turn by the length of the session and by the nodes that take its turns. */
export const turns: Scenario = {
  name: "turns",
  summary: "ms per turn: floor, one node, two in turn, three at random, by messages in the session",
  async run(context) {
    const measured = await withRigs(context, async (rigs) => {
      const ours = await Promise.all(rigs.map((rig) => rigContenders(rig)));
      return measure([...ours.flat(), ...context.peers], context);
    });
    return [
      tableOf(measured, context, {
        name: "turns",
        title: "A turn, ms",
        about:
          "Time of a call until its answer is stored, on a session that holds N messages. In brackets: times its floor.",
        of: ({ ms }) => ms,
      }),
      tableOf(measured, context, {
        name: "turns cpu",
        title: "Processor time of a turn, ms",
        about: "In the process that takes the turn, all threads; that of a server is not in it.",
        of: ({ cpuMs }) => cpuMs,
      }),
    ];
  },
};

async function measure(
  contenders: readonly Contender[],
  { sizes, quick, progress, ...given }: ScenarioContext,
): Promise<MeasuredTurns[]> {
  const effort = quick ? { batch: 6, maxMs: 400 } : { batch: 10, maxMs: 1_000 };
  const { rounds = quick ? 8 : 20 } = given;
  const cases = contenders.flatMap((contender) =>
    sizes.map((messages) => new TurnCase(contender, messages, effort)),
  );
  for (const contender of contenders) {
    progress(`turns: warming up ${contender.name} on ${contender.store}`);
    await warmUp(contender, rounds * WARM_UP_MS);
  }
  return interleaved<TurnSample, TurnCase>(cases, rounds, (round) =>
    progress(`turns: round ${round + 1} of ${rounds}`),
  );
}

interface Aspect extends Pick<Table, "name" | "title" | "about"> {
  readonly of: (sample: TurnSample) => number;
}

function tableOf(
  measured: readonly MeasuredTurns[],
  { sizes }: ScenarioContext,
  { of, ...names }: Aspect,
): Table {
  const contenders = [...new Set(measured.map((each) => each.of.contender))];
  return {
    ...names,
    columns: sizeColumns(sizes),
    rows: contenders.map((contender): Row => {
      const its = measured.filter((each) => each.of.contender === contender);
      return {
        store: contender.store,
        contender: contender.name,
        figures: its.map((each) => figureOf(each, of)),
        failure: its.find(({ failure }) => failure !== undefined)?.failure,
      };
    }),
    ratioTo: "floor",
  };
}
