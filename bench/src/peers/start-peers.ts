import { join } from "node:path";
import type { BenchServers } from "../stores/bench-servers.js";
import { installPeer } from "./install-peer.js";
import { PeerProcess } from "./peer-process.js";
import { allPeers } from "./peers.js";

/** A peer, and why it is not in the tables if it is not. */
export interface PeerReport {
  readonly peer: string;
  readonly store: string;
  /** Exact versions that were installed. */
  readonly packages: readonly string[];
  readonly failure?: string | undefined;
}

/** Peers that run, and what there is to say of all, also of those that could not be installed or did not work. */
export interface StartedPeers {
  readonly running: readonly PeerProcess[];
  readonly reports: readonly PeerReport[];
}

/** Installs all peers in the directory of the run, which is deleted after it, and starts a process for each. */
export async function startPeers(
  servers: BenchServers,
  progress: (line: string) => void,
): Promise<StartedPeers> {
  const [running, reports]: [PeerProcess[], PeerReport[]] = [[], []];
  const redisUrl = await servers.url("redis");
  for (const [index, peer] of allPeers(redisUrl).entries()) {
    progress(`peers: installing ${peer.name} on ${peer.store}`);
    const packages = join(servers.directory, `peer-${index}`);
    const directory = join(servers.directory, `peer-${index}-data`);
    const report = { peer: peer.name, store: peer.store, packages: peer.packages };
    try {
      await installPeer(peer, packages);
      running.push(await PeerProcess.start(peer, { index, packages, directory, redisUrl }));
      reports.push(report);
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      reports.push({ ...report, failure });
    }
  }
  return { running, reports };
}
