// Runs in a worker thread: looks through the files it is told to, and says what it found.
import { parentPort } from "node:worker_threads";
import { createKernel } from "./kernel.js";
import { type Probe, probeOf } from "./probe.js";
import { scanNow } from "./scan-now.js";
import type { ScanAnswer, ScanOrder } from "./scan-order.js";

const kernel = createKernel();
let known: { readonly text: string; readonly probe: Probe } | undefined;

parentPort?.on("message", (order: ScanOrder) => parentPort?.postMessage(answerTo(order)));

function answerTo({ id, text, ranges }: ScanOrder): ScanAnswer {
  try {
    if (known?.text !== text) known = { text, probe: probeOf(text) };
    const { probe } = known;
    return { id, finds: ranges.map((range) => scanNow(kernel, probe, range)) };
  } catch {
    // Whoever ordered it tries it too, and learns what is wrong.
    return { id, finds: null };
  }
}
