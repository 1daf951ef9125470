import { randomUUID } from "node:crypto";
import { AgentState, HoldfastError, type Slot, userMessage } from "@holdfast/core";
import { isWhole, uuidv7 } from "@holdfast/core/store-kit";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { type MariadbServer, privateMariadb, tcpProxy } from "@holdfast/testing/servers";
import { createPool } from "mysql2/promise";

/** Sessions that begin a call at any moment: more than every pool below can serve at once. */
const SESSIONS = 200;
const RUN_MS = 20_000;
const LATENCY_MS = 20;
const LEASE_MS = 6_000;
/** Time for which a call holds its lease, as a model call would. */
const WORK_MS = 1_000;

/** Result of one pool size. */
interface Figures {
  readonly pool: number;
  readonly "calls/s": number;
  readonly "calls that were refused": number;
  readonly "leases lost": number;
  readonly "saves that failed": number;
}

/** Measures turns per second and lost leases of a node whose pool is too small for its load, by the size of the pool. */
export async function measurePools(print: (line: string) => void): Promise<void> {
  await using server = await privateMariadb();
  for (const size of [2, 5, 10, 20]) {
    const figures = Object.entries(await measure(server, size));
    print(figures.map(([name, figure]) => `${name}: ${figure}`).join(", "));
  }
}

async function measure(server: MariadbServer, size: number): Promise<Figures> {
  await using proxy = await tcpProxy(server);
  const url = new URL(server.url);
  url.host = `${proxy.host}:${proxy.port}`;
  const pool = createPool({ uri: url.href, connectionLimit: size });
  const tablePrefix = `p${randomUUID().slice(0, 8)}_`;
  const store = MysqlDistributedStore.from(pool, { tablePrefix, leaseMs: LEASE_MS });
  await store.stateStore.list();
  // The latency of a round trip, half in each direction.
  proxy.delayMs = LATENCY_MS / 2;
  const count = { calls: 0, refused: 0, lost: 0, failed: 0 };
  const until = performance.now() + RUN_MS;
  const sessions = Array.from({ length: SESSIONS }, async (_, index) => {
    const slot: Slot = { agentId: "agent", userId: "user", sessionId: `s${index}` };
    let revision: string | null = null;
    for (let kept = 0; performance.now() < until; ) {
      const lease = await store.gate
        .acquire(slot, { callId: uuidv7(), known: () => revision ?? "" })
        .catch(() => undefined);
      if (lease === undefined) {
        count.refused++;
        continue;
      }
      if (lease.loaded === null) [revision, kept] = [null, 0];
      else if (typeof lease.loaded === "object") {
        const { loaded } = lease;
        const messages = isWhole(loaded)
          ? loaded.messages.length
          : loaded.keep + loaded.append.length;
        [revision, kept] = [loaded.revision, messages];
      }
      await new Promise((resolve) => setTimeout(resolve, WORK_MS));
      try {
        revision = await store.stateStore.save(slot, {
          ...{ op: uuidv7(), expected: revision, keep: kept, replace: [] },
          head: JSON.parse(JSON.stringify(AgentState.create(slot).head())),
          append: [userMessage("text")],
          ...{ lease: lease.token, release: true },
        });
        kept++;
        count.calls++;
      } catch (error) {
        if (HoldfastError.is(error) && error.code === "LEASE_LOST") count.lost++;
        else count.failed++;
        if (lease.lost.aborted) count.lost++;
      }
      await lease.release().catch(() => undefined);
    }
  });
  await Promise.all(sessions);
  // Not waited for: calls that were refused may still leave the queue.
  void store.close();
  pool.end().catch(() => undefined);
  return {
    pool: size,
    "calls/s": Math.round((count.calls / RUN_MS) * 1_000),
    "calls that were refused": count.refused,
    "leases lost": count.lost,
    "saves that failed": count.failed,
  };
}
