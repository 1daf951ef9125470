import type { AgentStateStore } from "@holdfast/core";
import type { TcpProxy } from "@holdfast/testing/servers";
import { StoreTurns } from "./store-turn.js";

const turns = 20;

/** Bytes sent to the server per warm turn on a session that holds as many messages. */
export async function bytesPerTurn(
  store: AgentStateStore,
  proxy: TcpProxy,
  messages: number,
): Promise<number> {
  const session = new StoreTurns(store, `bytes-${messages}`);
  await session.fill(messages);
  // The first turn may prepare statements or load scripts.
  await session.turn();
  const before = proxy.bytesUp;
  for (let turn = 0; turn < turns; turn++) await session.turn();
  return (proxy.bytesUp - before) / turns;
}
