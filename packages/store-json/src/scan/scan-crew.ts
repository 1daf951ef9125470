import { availableParallelism } from "node:os";
import type { ReportSink } from "../report.js";
import { CrewMember } from "./crew-member.js";
import type { ScanFinds, ScanRange } from "./scan-range.js";

const WORKER = new URL("./scan-worker.js", import.meta.url);
const MAX_WORKERS = 4;
/** How long threads wait for more to do before they are ended. */
const IDLE_MS = 10_000;
/** After so many threads that died no more are started: something is wrong here that will not pass. */
const MAX_FAILURES = 4;

/** How a {@link ScanCrew} differs from the usual; for tests. */
export interface CrewOptions {
  /** What the threads run. */
  readonly worker?: URL | undefined;
}

/** Worker threads that look through files. They are started when first needed, and ended when there is nothing to do. */
export class ScanCrew {
  /** How many threads there are when they are needed. */
  readonly size: number = Math.min(availableParallelism(), MAX_WORKERS);
  readonly #report: ReportSink;
  readonly #worker: URL;
  #members: CrewMember[] = [];
  #failures = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(report: ReportSink, { worker = WORKER }: CrewOptions = {}) {
    this.#report = report;
    this.#worker = worker;
  }

  /** What is found in each of the ranges; null when no thread could tell. */
  async scan(text: string, ranges: readonly ScanRange[]): Promise<readonly ScanFinds[] | null> {
    clearTimeout(this.#idle);
    const member = this.#leastBusy();
    if (member === undefined) return null;
    try {
      return await member.scan(text, ranges);
    } finally {
      if (this.#members.every(({ isIdle }) => isIdle)) this.#endWhenIdle();
    }
  }

  #leastBusy(): CrewMember | undefined {
    while (this.#members.length < this.size && this.#failures < MAX_FAILURES) this.#start();
    return this.#members.reduce<CrewMember | undefined>(
      (best, each) => (best !== undefined && best.pending <= each.pending ? best : each),
      undefined,
    );
  }

  #start(): void {
    try {
      const lost = (member: CrewMember, error: unknown) => this.#lost(member, error);
      this.#members.push(new CrewMember(this.#worker, lost));
    } catch (error) {
      this.#lost(undefined, error);
    }
  }

  #lost(member: CrewMember | undefined, error: unknown): void {
    this.#members = this.#members.filter((each) => each !== member);
    if (this.#failures++ === 0)
      this.#report({
        kind: "worker_failed",
        message:
          "a worker thread that searches logs could not run or died: searches go on without it, more slowly",
        cause: error,
      });
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      for (const member of this.#members.splice(0)) member.end();
    }, IDLE_MS).unref();
  }
}
