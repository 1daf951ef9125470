import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Fleet } from "./fleet.js";
import { frontDoor } from "./front-door.js";

/** Processes that {@link serve} started. */
export interface Served {
  readonly port: number;
  /** Ids of the processes that answer. */
  readonly pids: readonly number[];
}

/** Starts two processes that answer, and a front door before them; SIGINT and SIGTERM end all of it. */
export async function serve(port: number, host = "127.0.0.1"): Promise<Served> {
  const fleet = new Fleet();
  await Promise.all([fleet.add(), fleet.add()]);
  const door = frontDoor(() => fleet.members);
  door.listen(port, host);
  await once(door, "listening");
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, async () => {
      door.close();
      door.closeAllConnections();
      await fleet.stop();
      process.exit(0);
    });
  return {
    port: (door.address() as AddressInfo).port,
    pids: fleet.members.map(({ pid }) => pid),
  };
}
