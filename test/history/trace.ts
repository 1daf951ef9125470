import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Milliseconds of the machine's monotonic clock, as the nodes have it. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** A message as a trace has it. */
export interface BriefMessage {
  readonly id: string;
  readonly role: string;
  readonly text: string;
  readonly calls: readonly string[];
  readonly results: readonly {
    readonly id: string;
    readonly state: string;
    readonly text: string;
  }[];
}

/** A save, recorded before it was sent: it may have been carried out, or not. */
export interface SaveEvent {
  readonly e: "save";
  readonly op: string;
  readonly expected: string | null;
  readonly revision: string;
  readonly keep: number;
  readonly replace: readonly (readonly [number, string])[];
  readonly append: readonly BriefMessage[];
  readonly token?: string;
}

/** Event in the trace of a node. */
export type NodeEvent = { readonly t: number; readonly s: string; readonly node: string } & (
  | SaveEvent
  | { readonly e: "saved"; readonly op: string; readonly revision: string }
  | { readonly e: "save-failed"; readonly op: string; readonly code?: string }
  | { readonly e: "granted"; readonly op?: string; readonly callId: string; readonly token: string }
  | { readonly e: "released"; readonly token: string }
  | {
      readonly e: "asked";
      readonly op?: string;
      readonly question: string | null;
      /** Results of tools in the last message. */
      readonly results: readonly string[];
      readonly problem: string | null;
      readonly tail: readonly string[];
    }
  | { readonly e: "tool-call"; readonly id: string; readonly nonce: string }
  | {
      readonly e: "tool";
      readonly op?: string;
      readonly question: string;
      readonly nonce: string;
      readonly cameAt?: number;
      readonly token?: string;
      readonly leftMs: number | null;
    }
  | { readonly e: "tool-end"; readonly nonce: string; readonly aborted: boolean }
  | { readonly e: "signal"; readonly point: string; readonly signal: string }
  | { readonly e: "op" | "told" | "started" }
);

/** Events of one kind. */
export type EventOf<K extends NodeEvent["e"]> = Extract<NodeEvent, { readonly e: K }>;

/** Everything the nodes of a history recorded, in the order of time. */
export class Trace {
  readonly events: readonly NodeEvent[];

  constructor(events: readonly NodeEvent[]) {
    this.events = events.toSorted((one, other) => one.t - other.t);
  }

  /** Reads the nodes' files in a directory. */
  static read(directory: string): Trace {
    const events: NodeEvent[] = [];
    for (const file of readdirSync(directory).filter((name) => /^n\d.*\.jsonl$/.test(name))) {
      const node = file.replace(/\.jsonl$/, "");
      // The last line of a killed process may be cut.
      for (const line of readFileSync(join(directory, file), "utf8").split("\n"))
        if (line.endsWith("}")) events.push({ ...(JSON.parse(line) as NodeEvent), node });
    }
    return new Trace(events);
  }

  of<K extends NodeEvent["e"]>(kind: K, session?: string): EventOf<K>[] {
    return this.events.filter(
      (event): event is EventOf<K> =>
        event.e === kind && (session === undefined || event.s === session),
    );
  }
}
