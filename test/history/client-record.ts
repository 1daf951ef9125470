import { appendFileSync } from "node:fs";
import type { Fleet } from "./fleet.js";
import type { DoneOperation, NewOperation, Operation, Told } from "./operation.js";
import { now } from "./trace.js";

/** A call that its client named, and can be repeated. */
export interface NamedCall {
  readonly callId: string;
  readonly question: string;
  readonly input: string;
}

/** Longest time an operation may take: its place in the queue, its save's deadline, and a few commands around them. */
const operationDeadlineMs = 120_000;

/** Makes operations for the clients of a history and records what each was told. */
export class ClientRecord {
  readonly done: DoneOperation[] = [];
  /** Operations that did not end in time. */
  readonly hanging: Operation[] = [];
  /** Named calls by session, oldest first. */
  readonly named: Map<string, NamedCall[]> = new Map();
  readonly #fleet: Fleet;
  readonly #path: string;
  #count = 0;

  constructor(fleet: Fleet, path: string) {
    this.#fleet = fleet;
    this.#path = path;
  }

  /** Returns a name that no other call, question or message of this history has. */
  fresh(prefix: string): string {
    return `${prefix}${++this.#count}`;
  }

  /** Remembers a call, so that it can be repeated. */
  remember(session: string, call: NamedCall): void {
    const calls = this.named.get(session) ?? [];
    calls.push(call);
    this.named.set(session, calls);
  }

  /** Has a node carry out an operation, the one at a share of the list if it is up. */
  async make(nodeShare: number, wanted: NewOperation): Promise<Told> {
    const node = await this.#fleet.nodeAt(nodeShare);
    const operation = { ...wanted, op: this.fresh("op") } as Operation;
    const start = now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), operationDeadlineMs);
    });
    const told = await Promise.race([node.carryOut(operation), late]);
    clearTimeout(timer);
    if (told === null) {
      this.hanging.push(operation);
      return { lost: true };
    }
    const done = { operation, node: node.name, start, end: now(), told };
    this.done.push(done);
    appendFileSync(this.#path, `${JSON.stringify(done)}\n`);
    return told;
  }
}
