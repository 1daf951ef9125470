import { spawnScript } from "@holdfast/testing";
import { type Case, figureOf, interleaved } from "../measure/rounds.js";
import type { Row } from "../report/table.js";
import { openNode } from "../stores/open-node.js";
import type { Rig } from "../stores/rig.js";
import type { Scenario } from "./scenario.js";
import { sizeColumns } from "./size-columns.js";
import { withRigs } from "./with-rigs.js";

const program = new URL("./cold-process.js", import.meta.url);

/** Ways to take a turn where nothing is known of the session yet; each returns milliseconds. */
const starts: Readonly<Record<string, (rig: Rig, sessionId: string) => Promise<number>>> = {
  "new node": newNode,
  "new process": newProcess,
};

/** Time to the first answer of a node that does not know the session. */
export const coldStart: Scenario = {
  name: "cold-start",
  summary: "ms to the first answer of a new node and of a new process",
  async run(context) {
    const { sizes, quick, progress, rounds = quick ? 3 : 6 } = context;
    const rows = await withRigs(context, async (rigs) => {
      const cases = rigs.flatMap((rig) =>
        Object.keys(starts).flatMap((name) => sizes.map((size) => new ColdCase(rig, name, size))),
      );
      for (const each of cases) await each.prepare();
      const measured = await interleaved<number, ColdCase>(cases, rounds, (round) =>
        progress(`cold-start: round ${round + 1} of ${rounds}`),
      );
      return rigs.flatMap(({ store }) =>
        Object.keys(starts).map((name): Row => {
          const its = measured.filter(({ of }) => of.rig.store === store && of.name === name);
          return {
            store,
            contender: name,
            figures: its.map((each) => figureOf(each, (ms) => ms)),
            failure: its.find(({ failure }) => failure !== undefined)?.failure,
          };
        }),
      );
    });
    return [
      {
        name: "cold-start",
        title: "Cold start, ms",
        about:
          "First answer on a session that holds N messages: of a new agent with new connections in a running process, and of a new process, from its start on.",
        columns: sizeColumns(sizes),
        rows,
      },
    ];
  },
};

class ColdCase implements Case<number> {
  readonly rig: Rig;
  readonly name: string;
  readonly #messages: number;
  readonly #session: string;

  constructor(rig: Rig, name: string, messages: number) {
    this.rig = rig;
    this.name = name;
    this.#messages = messages;
    this.#session = `cold-${name.replaceAll(" ", "-")}-${messages}`;
  }

  prepare(): Promise<void> {
    return this.rig.side.seed(this.#session, this.#messages);
  }

  async round(): Promise<number> {
    return (await starts[this.name]?.(this.rig, this.#session)) ?? Number.NaN;
  }
}

async function newNode({ store, place }: Rig, sessionId: string): Promise<number> {
  const began = performance.now();
  const node = await openNode(store, place);
  await node.turn(sessionId);
  const ms = performance.now() - began;
  await node.close();
  return ms;
}

async function newProcess({ store, place }: Rig, sessionId: string): Promise<number> {
  const began = performance.now();
  await using child = spawnScript(program, [store, JSON.stringify(place), sessionId]);
  await child.line("answered");
  const ms = performance.now() - began;
  await child.exited;
  return ms;
}
