// One node of a history: an agent on the shared store, told over the process's channel what to do.
// Usage: fork("main.mjs", [<NodeSettings as JSON>])
import { installSignalHandlers } from "@holdfast/core";
import { CrashPoints } from "./crash-points.mjs";
import { nodeAgent } from "./node-agent.mjs";
import { openNodeStore } from "./open-node-store.mjs";
import { carryOut } from "./operations.mjs";
import { flow, recordStore } from "./record-store.mjs";
import { TraceFile } from "./trace-file.mjs";

const settings = JSON.parse(process.argv[2]);
const trace = new TraceFile(settings.tracePath);
const points = new CrashPoints(trace);
const { store } = openNodeStore(settings.store);
recordStore(store, trace, points);
const agent = nodeAgent({ ...settings, store, trace, points });
installSignalHandlers(agent, { timeoutMs: settings.shutdownMs });

process.on("message", (message) => {
  const { arm } = message;
  if (arm !== undefined) return points.arm(arm.point, arm.signal, arm.delayMs);
  if (message.disarm === true) {
    points.disarm();
    return process.send?.({ disarmed: true });
  }
  void run(message.operation);
});
// A node ends with the process that started it.
process.on("disconnect", () => process.exit());

async function run(operation) {
  const { op, kind, session } = operation;
  trace.add({ e: "op", s: session, op, kind });
  const told = await flow.run({ op, fail: operation.fail, lease: undefined }, () =>
    carryOut(agent, operation).catch((error) => {
      const { lease } = flow.getStore();
      return {
        error: errorOf(error),
        leftMs: lease && Math.min(lease.validUntil - Date.now(), 1e9),
      };
    }),
  );
  trace.add({ e: "told", s: session, op, ...told });
  process.send?.({ op, told });
}

function errorOf(error) {
  const { code, message, name } = error;
  return { code: code ?? "UNKNOWN", name, message: String(message).slice(0, 300) };
}

trace.add({ e: "started", pid: process.pid });
process.send?.({ ready: true });
