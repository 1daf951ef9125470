import type { Contender } from "../measure/contender.js";

/** Packages of a peer, installed in a directory of their own. */
export interface PeerModules {
  /** Loads a module of the peer. Nothing is known of its types here; an adapter names those that it uses. */
  load<T>(module: string): Promise<T>;
  /** Directory for the peer's data. */
  readonly directory: string;
}

/** Another framework to compare with. */
export interface Peer {
  readonly name: string;
  /** Kind of store in which it keeps sessions. */
  readonly store: string;
  /** Packages to install, with exact versions: `name@1.2.3`. */
  readonly packages: readonly string[];
  /** Makes the contender, from the peer's documentation and with its defaults. */
  open(modules: PeerModules): Promise<Pick<Contender, "seed" | "turn">>;
}
