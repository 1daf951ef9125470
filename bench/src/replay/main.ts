// Usage: node dist/replay/main.js [--json] [--brief]; --brief compares like for like alone, each peer once.
// HOLDFAST_LONG=1 plays in three windows.
import { replayWindows, runReplay } from "./run-replay.js";

const [asJson, isBrief] = [process.argv.includes("--json"), process.argv.includes("--brief")];
const results = await runReplay({
  windows: replayWindows(),
  settings: isBrief ? ["alike"] : ["alike", "defaults"],
  extras: !isBrief,
  print: asJson ? () => undefined : console.log,
});
if (asJson) console.log(JSON.stringify(results));
