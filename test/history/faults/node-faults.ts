import { setTimeout as sleep } from "node:timers/promises";
import { movedClock, movesClocks } from "@holdfast/testing";
import type { CrashPoint } from "../node-process.js";
import { type Faults, type FaultTarget, nodeIndex } from "./fault.js";

const killPoints: readonly CrashPoint[] = [
  "granted",
  "model",
  "tool",
  "tool-end",
  "before-log",
  "after-log",
  "before-save",
  "after-save",
];

/** Faults of the node processes. */
export const nodeFaults: Faults = {
  "kill -9": [6, ({ fleet, random }) => fleet.node(nodeIndex(fleet, random)).kill9().then(yes)],
  "kill -9 at a chosen instant": [
    8,
    async ({ fleet, random }) => {
      const node = fleet.node(nodeIndex(fleet, random));
      const point = random.pick(killPoints);
      node.arm(point, "SIGKILL");
      const killed = await Promise.race([node.exited.then(yes), sleep(3_000).then(no)]);
      void node.disarm();
      return killed;
    },
  ],
  "kill -9 while a tool runs whose sibling has finished": [
    3,
    async ({ fleet, random }) => {
      const node = fleet.node(nodeIndex(fleet, random));
      node.arm("tool-end-beside-another", "SIGKILL", 1_300);
      const killed = await Promise.race([node.exited.then(yes), sleep(5_000).then(no)]);
      void node.disarm();
      return killed;
    },
  ],
  SIGTERM: [
    3,
    async ({ fleet, random }) => {
      const node = fleet.node(nodeIndex(fleet, random));
      node.signal("SIGTERM");
      await Promise.race([node.exited, sleep(8_000)]);
      await node.kill9();
      return true;
    },
  ],
  "SIGSTOP past the lease": [
    2,
    async ({ fleet, random, leaseMs }) => {
      const node = fleet.node(nodeIndex(fleet, random));
      node.signal("SIGSTOP");
      await sleep(leaseMs * 1.5);
      node.signal("SIGCONT");
      return true;
    },
  ],
  "SIGSTOP past the lease at a chosen instant": [
    5,
    async ({ fleet, random, leaseMs }) => {
      const node = fleet.node(nodeIndex(fleet, random));
      const point = random.pick(["model", "tool", "before-save", "granted"] as const);
      node.arm(point, "SIGSTOP");
      const stopped = await node.stopped(3_000);
      if (stopped) await sleep(leaseMs * 1.5);
      // It may come to the instant before it reads that it is armed no more, and would stand still for good.
      const waking = setInterval(() => node.signal("SIGCONT"), 100);
      node.signal("SIGCONT");
      await node.disarm();
      clearInterval(waking);
      return stopped;
    },
  ],
  ...(movesClocks && { "clock moved by 2 h": [2, moveClock] as const }),
};

/** The successor of a killed node has another time of day. */
async function moveClock({ fleet, random }: FaultTarget): Promise<boolean> {
  const index = nodeIndex(fleet, random);
  const offset = random.pick(["+2h", "-2h", "+0"]);
  fleet.setEnvironment(index, movedClock(offset));
  await fleet.node(index).kill9();
  return true;
}

function yes(): boolean {
  return true;
}

function no(): boolean {
  return false;
}
