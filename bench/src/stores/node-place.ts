import type { Model } from "@holdfast/core";

/** Place in which nodes keep sessions; plain data, so that processes can tell each other. */
export interface NodePlace {
  /** Server to connect to; empty for files. */
  readonly url: string;
  /** First part of all keys or tables. */
  readonly prefix: string;
  /** Directory of all files. */
  readonly directory: string;
  readonly workspace: string;
}

/** Options of a node. */
export interface NodeOptions {
  /** @default one that answers at once */
  readonly model?: Model | undefined;
}
