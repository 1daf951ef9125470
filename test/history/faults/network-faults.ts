import { setTimeout as sleep } from "node:timers/promises";
import type { ProxyMode } from "@holdfast/testing/servers";
import { type Fault, type Faults, type FaultTarget, nodeIndex, remotely } from "./fault.js";

/** Faults of the network between a node and its server. */
export const networkFaults: Faults = {
  "connections cut": [
    4,
    remotely(async ({ proxyOf }, { fleet, random }) => {
      proxyOf(nodeIndex(fleet, random)).reset();
    }),
  ],
  "network held": [3, proxied("hold")],
  "replies dropped": [3, proxied("drop-replies")],
  "connections cut on reply": [3, proxied("kill-on-reply")],
  "network slow": [
    2,
    remotely(async ({ proxyOf }, { fleet, random }) => {
      const proxy = proxyOf(nodeIndex(fleet, random));
      proxy.delayMs = random.between(10, 200);
      await sleep(random.between(300, 2_000));
      proxy.delayMs = 0;
    }),
  ],
  "node vanished without a word": [2, vanished],
  "server killed and restarted": [
    1,
    remotely(async ({ server }) => {
      await server.kill9();
      await server.restart();
    }),
  ],
  "server stopped for a while": [
    1,
    remotely(async ({ server }, { random }) => {
      server.pause();
      await sleep(random.between(200, 3_500));
      server.resume();
    }),
  ],
};

/** Command of MySQL's protocol that runs a prepared statement. */
const EXECUTE = 0x17;

/**
 * A node loses its network in the middle of a write and dies, as when its machine loses power: the server still has its
 * connections and what they hold.
 */
async function vanished({ fleet, rig, random }: FaultTarget): Promise<boolean> {
  const { remote } = rig;
  if (remote === undefined) return false;
  const index = nodeIndex(fleet, random);
  const proxy = remote.proxyOf(index);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, 1_500);
    const inTransaction = new Set<number>();
    proxy.losesReply = (request, connection) => {
      // On MySQL a transaction, or the one statement that saves a turn or puts its input.
      const isWrite =
        inTransaction.has(connection) ||
        request.includes("EVALSHA") ||
        (request[4] === EXECUTE && request.includes('"role":'));
      if (request.includes("START TRANSACTION")) inTransaction.add(connection);
      if (!isWrite) return false;
      proxy.mode = "hold";
      clearTimeout(timer);
      resolve();
      return false;
    };
  });
  proxy.mode = "hold";
  proxy.losesReply = undefined;
  await remote.replaceProxy(index);
  // Looked up only now: a successor that another fault had started meanwhile would stay on the dead network for good.
  await fleet.node(index).kill9();
  return true;
}

/** A proxy behaves in some way for a while, sometimes for longer than a lease. */
function proxied(mode: ProxyMode): Fault {
  return remotely(async ({ proxyOf }, { fleet, random, leaseMs }) => {
    const proxy = proxyOf(nodeIndex(fleet, random));
    const ms = random.chance(0.25) ? leaseMs * 1.5 : random.between(50, 1_500);
    proxy.mode = mode;
    await sleep(ms);
    // A connection that lost some bytes never gets later ones: TCP has no gaps.
    if (mode === "drop-replies") proxy.reset();
    proxy.mode = "pass";
  });
}
