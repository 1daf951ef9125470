import { setTimeout as wait } from "node:timers/promises";
import { spawnScript } from "@holdfast/testing";
import { seededRandom } from "../measure/random.js";
import { median } from "../measure/statistics.js";
import type { Row } from "../report/table.js";
import type { AgentNode } from "../stores/agent-node.js";
import type { Rig } from "../stores/rig.js";
import type { Scenario } from "./scenario.js";
import { withRigs } from "./with-rigs.js";

const program = new URL("./session-holder.js", import.meta.url);

/** Holders that are alive at once: each is a process of its own. */
const AT_ONCE = 5;
/** Longest life of a holder: kills come at any moment, not always right after a heartbeat. */
const MAX_AGE_MS = 3_000;

/** Time for which a session is without a node after the one that held it was killed. */
export const takeover: Scenario = {
  name: "takeover",
  summary: "seconds from a kill -9 of the node that holds a session to the next answer",
  async run(context) {
    const { kills, progress } = context;
    const rows = await withRigs(context, async (rigs) => {
      const rows: Row[] = [];
      for (const rig of rigs) {
        progress(`takeover: ${kills} kills on ${rig.store}`);
        rows.push(await takeoversOn(rig, kills));
      }
      return rows;
    });
    return [
      {
        name: "takeover",
        title: `Takeover after ${kills} kills with kill -9, seconds`,
        about:
          "A process holds the session in the middle of a model call and is killed; from the kill to the answer of a call on another node, which begins at once.",
        columns: [
          { name: "shortest", unit: "s" },
          { name: "median", unit: "s" },
          { name: "longest", unit: "s" },
        ],
        rows,
      },
    ];
  },
};

async function takeoversOn(rig: Rig, kills: number): Promise<Row> {
  const random = seededRandom(kills);
  const node = await rig.openNode();
  // Opens its connections and compiles what a call needs.
  await node.turn("takeover-warm-up");
  const seconds: number[] = [];
  for (let done = 0; done < kills; done += AT_ONCE) {
    const ages = Array.from(
      { length: Math.min(AT_ONCE, kills - done) },
      () => random() * MAX_AGE_MS,
    );
    const batch = ages.map((ageMs, n) => killed(rig, node, `takeover-${done + n}`, ageMs));
    seconds.push(...(await Promise.all(batch)));
  }
  const figures = [Math.min(...seconds), median(seconds), Math.max(...seconds)];
  return { store: rig.store, contender: "takeover", figures };
}

/** Kills a process that holds a session and returns the seconds until another node has answered there. */
async function killed(
  { store, place }: Rig,
  node: AgentNode,
  sessionId: string,
  ageMs: number,
): Promise<number> {
  await using holder = spawnScript(program, [store, JSON.stringify(place), sessionId]);
  await holder.line("holding");
  await wait(ageMs);
  await holder.kill9();
  const began = performance.now();
  await node.turn(sessionId);
  return (performance.now() - began) / 1_000;
}
