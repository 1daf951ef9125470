import { setTimeout as sleep } from "node:timers/promises";
import type { RemoteStore, StoreKind } from "../store-rig.js";
import { type Fault, type Faults, remotely } from "./fault.js";

/** Faults of a server that only its administrator can cause. */
export const serverFaults: Readonly<Record<StoreKind, Faults>> = {
  json: {},
  redis: {
    "SCRIPT FLUSH": [3, remotely(({ admin }) => untilDone(() => admin(["SCRIPT", "FLUSH"])))],
    "CLIENT KILL": [2, remotely(({ admin }) => admin(["CLIENT", "KILL", "TYPE", "normal"]))],
    "server read-only": [
      2,
      switched(
        ["CONFIG", "SET", "min-replicas-to-write", 1],
        ["CONFIG", "SET", "min-replicas-to-write", 0],
      ),
    ],
    "server out of memory": [
      1,
      switched(["CONFIG", "SET", "maxmemory", 1], ["CONFIG", "SET", "maxmemory", 0]),
    ],
    "no more connections": [
      1,
      switched(
        ["CONFIG", "SET", "maxclients", 3],
        ["CONFIG", "SET", "maxclients", 10_000],
        ({ admin }) => admin(["CLIENT", "KILL", "TYPE", "normal"]),
      ),
    ],
  },
  mysql: {
    "connections killed": [3, remotely(killConnections)],
    "server read-only": [2, switched(["SET GLOBAL read_only = 1"], ["SET GLOBAL read_only = 0"])],
    "no more connections": [
      1,
      switched(
        ["SET GLOBAL max_connections = 10"],
        ["SET GLOBAL max_connections = 151"],
        killConnections,
      ),
    ],
  },
};

/** Kills what the nodes have open; a connection may be gone already. */
async function killConnections({ admin }: RemoteStore): Promise<void> {
  const query = "SELECT id FROM information_schema.processlist WHERE user = 'app'";
  const rows = await untilDone(() => admin([query]));
  for (const { id } of rows as { id: number }[]) await admin(["KILL", id]).catch(() => undefined);
}

/** A setting of the server is changed for a while. */
function switched(
  on: readonly (string | number)[],
  off: readonly (string | number)[],
  then: (remote: RemoteStore) => Promise<unknown> = async () => undefined,
): Fault {
  return remotely(async (remote, { random }) => {
    const ms = random.between(50, 1_500);
    try {
      await untilDone(() => remote.admin(on));
      await then(remote);
      await sleep(ms);
    } finally {
      await untilDone(() => remote.admin(off));
    }
  });
}

/** The administrator's own connection may have gone with the server, or there is none left for a moment. */
async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++)
    try {
      return await work();
    } catch (error) {
      if (attempt === 100) throw error;
      await sleep(50);
    }
}
