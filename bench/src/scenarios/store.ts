import type { Row } from "../report/table.js";
import { measureStore } from "../store-turns/measure-store.js";
import type { StoreName } from "../stores/store-side.js";
import type { Scenario } from "./scenario.js";

/** Cost of a turn on a store alone, with no engine around it. */
export const store: Scenario = {
  name: "store",
  summary: "a warm turn on Redis and MySQL without an engine, against the least a save can be",
  async run({ stores, servers, quick }) {
    const rows: Row[] = [];
    for (const name of stores.filter(isServer)) {
      const url = await servers.url(name);
      const { warmTurn, traffic } = await measureStore(name, url, quick ? "brief" : "thorough");
      const row = (contender: string, ms: number | null, of: keyof typeof traffic): Row => {
        const { roundTrips, bytes } = traffic[of];
        return { store: name, contender, figures: [ms, roundTrips, bytes] };
      };
      rows.push(
        row("floor", warmTurn.floorMs, "floor"),
        row("turn, N=10", warmTurn.measuredMs, "at10"),
        row("turn, N=5,000", null, "at5000"),
      );
    }
    return [
      {
        name: "store",
        title: "A warm turn on the store alone",
        about:
          "Gate, revision check, save, log and release, against a revision check and a save (floor).",
        columns: [
          { name: "time", unit: "ms" },
          { name: "round trips", unit: "count" },
          { name: "bytes sent", unit: "bytes" },
        ],
        rows,
        ratioTo: "floor",
      },
    ];
  },
};

function isServer(name: StoreName): name is "redis" | "mysql" {
  return name !== "json";
}
