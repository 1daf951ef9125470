import type { TcpProxy } from "./tcp-proxy.js";

/**
 * Counts how often something is sent through a proxy and its answer waited for, while `run` runs. What is sent before an answer
 * to anything has come counts once, on however many connections. Run it before: a first run connects and prepares.
 *
 * @example
 * expect(await roundTripsOf(proxy, () => agent.call("Hello"))).toBe(2);
 */
export async function roundTripsOf(proxy: TcpProxy, run: () => Promise<unknown>): Promise<number> {
  let count = 0;
  let answered = -1;
  proxy.losesReply = () => {
    // A further piece of a request comes before any answer.
    if (proxy.bytesDown !== answered) count++;
    answered = proxy.bytesDown;
    return false;
  };
  try {
    await run();
  } finally {
    proxy.losesReply = undefined;
  }
  return count;
}
