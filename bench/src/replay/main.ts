// Usage: node dist/replay/main.js [--json] [--brief] [--conversations 100]; --brief compares like for like alone, each peer
// once. HOLDFAST_LONG=1 plays in three windows.
import { parseArgs } from "node:util";
import { replayWindows, runReplay } from "./run-replay.js";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    brief: { type: "boolean", default: false },
    conversations: { type: "string" },
  },
});
const { json: asJson, brief: isBrief } = values;
const results = await runReplay({
  windows: replayWindows(),
  settings: isBrief ? ["alike"] : ["alike", "defaults"],
  conversations: values.conversations === undefined ? undefined : Number(values.conversations),
  extras: !isBrief,
  print: asJson ? () => undefined : console.log,
});
if (asJson) console.log(JSON.stringify(results));
