import { join } from "node:path";
import { eventually } from "@holdfast/testing";
import { NodeProcess } from "./node-process.js";
import { at } from "./seeded-random.js";
import type { StoreRig } from "./store-rig.js";

/** Settings of a {@link Fleet}. */
export interface FleetOptions {
  readonly nodes: number;
  readonly rig: StoreRig;
  /** Directory of the nodes' traces. */
  readonly directory: string;
}

/** The nodes of a history. One that ends is followed by a successor. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #nodes: NodeProcess[] = [];
  readonly #lives: number[] = [];
  /** Nodes that ended by themselves, and why. */
  readonly crashes: string[] = [];
  /** Environment of a node's next lives. */
  readonly #environments: Record<string, string>[] = [];
  #isClosed = false;

  constructor(options: FleetOptions) {
    this.#options = options;
    for (let index = 0; index < options.nodes; index++) this.#start(index);
  }

  get size(): number {
    return this.#nodes.length;
  }

  node(index: number): NodeProcess {
    const node = this.#nodes[index];
    if (node === undefined) throw new Error(`there is no node ${index}`);
    return node;
  }

  /** Waits for a node that is up: the one at a share of the list, else any. */
  async nodeAt(share: number): Promise<NodeProcess> {
    return eventually(
      () => {
        const up = this.#nodes.filter(({ isUp }) => isUp);
        const wanted = at(this.#nodes, share);
        return wanted.isUp ? wanted : up.length > 0 && at(up, share);
      },
      { timeoutMs: 120_000, what: "a node being up" },
    ) as Promise<NodeProcess>;
  }

  /** Waits until all nodes are up. */
  async ready(): Promise<void> {
    await eventually(() => this.#nodes.every(({ isUp }) => isUp), {
      timeoutMs: 120_000,
      what: `all nodes being up (${this.#nodes.map(({ stderr }) => stderr).join("; ")})`,
    });
  }

  /** Sets the environment in which a node's successors run, for example another time of day. */
  setEnvironment(index: number, env: Record<string, string>): void {
    this.#environments[index] = env;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#nodes.map((node) => node.kill9()));
  }

  #start(index: number): void {
    const { rig, directory } = this.#options;
    const life = (this.#lives[index] ?? 0) + 1;
    this.#lives[index] = life;
    const name = `n${index}.${life}`;
    const node = new NodeProcess(
      {
        name,
        store: rig.choiceOf(index),
        persistence: index % 2 === 0 ? "call" : "step",
        tracePath: join(directory, `${name}.jsonl`),
        saveDeadlineMs: 10_000,
        shutdownMs: 3_000,
      },
      this.#environments[index],
    );
    this.#nodes[index] = node;
    void node.exited.then(() => {
      if (node.crash !== null) this.crashes.push(`${name}: ${node.crash}`);
      if (!this.#isClosed) this.#start(index);
    });
  }
}
