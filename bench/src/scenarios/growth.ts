import type { Contender } from "../measure/contender.js";
import type { Column, Row } from "../report/table.js";
import { rigContenders } from "../stores/contenders.js";
import { Rig } from "../stores/rig.js";
import type { StoreCounters, StoreName, StoreSide } from "../stores/store-side.js";
import type { Scenario, ScenarioContext } from "./scenario.js";

const TURNS = 200;
const MESSAGES = 100;
/** Turns before anything counts: statements are prepared, scripts loaded, every node has seen the session. */
const WARM_UP = 4;

const columns: readonly Column[] = [
  { name: "bytes sent", unit: "bytes" },
  { name: "round trips", unit: "count" },
  { name: "commands", unit: "count" },
  { name: "redo", unit: "bytes" },
  { name: `grows by, ${TURNS} turns`, unit: "bytes" },
];

/** Traffic of a turn, and how much a store grows. These are counts: a busy machine does not change them. */
export const growth: Scenario = {
  name: "growth",
  summary: `bytes, round trips and commands per turn, and growth of the store over ${TURNS} turns`,
  async run(context) {
    const rows: Row[] = [];
    for (const store of context.stores)
      for (const name of ["floor", "one node", "two nodes in turn"] as const)
        rows.push(await grow(store, name, context));
    // What a peer keeps in memory is not stored anywhere.
    for (const peer of context.peers.filter((each) => each.store !== "memory"))
      rows.push({
        store: peer.store,
        contender: peer.name,
        figures: await countsOf(peer, peer),
      });
    return [
      {
        name: "growth",
        title: `What a turn sends and stores, over ${TURNS} turns from ${MESSAGES} messages`,
        about:
          "Bytes sent to the server (files: written), commands that clients sent, redo log of the server; growth: MEMORY USAGE of all keys, lengths of all columns, sizes of all files.",
        columns,
        rows,
        ratioTo: "floor",
      },
    ];
  },
};

async function grow(
  store: StoreName,
  name: "floor" | "one node" | "two nodes in turn",
  { servers, progress }: ScenarioContext,
): Promise<Row> {
  progress(`growth: ${name} on ${store}`);
  const rig = await Rig.open(store, servers, { watched: true });
  try {
    const [floor, ours] = await rigContenders(rig, name === "floor" ? [] : [name]);
    const figures = await countsOf(rig.side, (ours ?? floor) as Contender);
    return { store, contender: name, figures };
  } finally {
    await rig.close();
  }
}

async function countsOf(
  side: Pick<StoreSide, "storedBytes" | "counters">,
  contender: Contender,
): Promise<(number | null)[]> {
  await contender.seed("growth", MESSAGES);
  for (let turn = 0; turn < WARM_UP; turn++) await contender.turn("growth");
  const [bytesBefore, before] = [await side.storedBytes(), await side.counters()];
  for (let turn = 0; turn < TURNS; turn++) await contender.turn("growth");
  const [after, bytesAfter] = [await side.counters(), await side.storedBytes()];
  const perTurn = (name: keyof StoreCounters): number | null => {
    const [from, to] = [before[name], after[name]];
    return from === undefined || to === undefined ? null : (to - from) / TURNS;
  };
  return [
    perTurn("bytesSent"),
    perTurn("roundTrips"),
    perTurn("commands"),
    perTurn("redoBytes"),
    bytesAfter - bytesBefore,
  ];
}
