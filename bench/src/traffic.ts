import type { AgentStateStore } from "@holdfast/core";
import type { TcpProxy } from "@holdfast/testing/servers";
import { StoreTurns } from "./store-turn.js";

const runs = 20;

/** What goes over the network for one run; no machine is too slow or too busy to tell. */
export interface Traffic {
  /** How often something is sent and its answer waited for. */
  readonly roundTrips: number;
  /** Bytes sent to the server. */
  readonly bytes: number;
}

/** Watches a proxy while something is run through it, again and again. */
export async function trafficOf(proxy: TcpProxy, run: () => Promise<void>): Promise<Traffic> {
  // The first run may prepare statements or load scripts.
  await run();
  const bytesBefore = proxy.bytesUp;
  let roundTrips = 0;
  let answered = -1;
  proxy.losesReply = () => {
    // A further piece of a request comes before any answer.
    if (proxy.bytesDown !== answered) roundTrips++;
    answered = proxy.bytesDown;
    return false;
  };
  for (let n = 0; n < runs; n++) await run();
  proxy.losesReply = undefined;
  return { roundTrips: roundTrips / runs, bytes: (proxy.bytesUp - bytesBefore) / runs };
}

/** The traffic of a warm turn on a session that holds as many messages. */
export async function turnTraffic(
  store: AgentStateStore,
  proxy: TcpProxy,
  messages: number,
): Promise<Traffic> {
  const session = new StoreTurns(store, `traffic-${messages}`);
  await session.fill(messages);
  return trafficOf(proxy, () => session.turn());
}
