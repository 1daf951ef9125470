import assert from "node:assert/strict";
import { withDeadline } from "@holdfast/core/store-kit";
import { caseTimedOut, runner } from "../runner.js";
import { scaled } from "./scaled.js";

/** One sentence of a contract and the code that checks it. */
export interface ConformanceCase {
  readonly title: string;
  /** Rejects when the implementation breaks the sentence, or does not answer in time; cleans up in both cases. */
  run(): Promise<void>;
}

/** Options of every suite: how to make the implementation it checks. */
export interface SubjectOptions<Subject> {
  /** A fresh, empty one, isolated from every other; called once per test. */
  create(): Subject | Promise<Subject>;
  /** Called after each test with every instance that `create` or `reopen` made, newest first. */
  cleanup?(subject: Subject): void | Promise<void>;
  /** Longest time one test may take. @default 60_000 */
  readonly timeoutMs?: number | undefined;
}

/** {@link SubjectOptions} of an implementation whose data can be opened more than once. */
export interface ReopenableOptions<Subject> extends SubjectOptions<Subject> {
  /**
   * A second instance over the same data, opened as another process would. When given, the suite also checks that two
   * instances agree.
   */
  reopen?(subject: Subject): Subject | Promise<Subject>;
}

/** Checks one sentence on a fresh subject; `reopen` makes further instances over its data. */
export type CaseBody<Subject> = (subject: Subject, reopen: () => Promise<Subject>) => Promise<void>;

/** Makes cases whose subject is created before and cleaned up after each, also when it fails. */
export function caseFactory<Subject>(
  options: ReopenableOptions<Subject>,
  close?: (subject: Subject) => Promise<void>,
): (title: string, body: CaseBody<Subject>) => ConformanceCase {
  const timeoutMs = caseTimeoutMs(options);
  return (title, body) => ({
    title,
    async run() {
      const instances = new Set<Subject>();
      const keep = (subject: Subject): Subject => {
        instances.add(subject);
        return subject;
      };
      const failures: unknown[] = [];
      try {
        const subject = keep(await options.create());
        const reopen = async (): Promise<Subject> => {
          if (options.reopen === undefined) throw new TypeError("the case needs options.reopen");
          return keep(await options.reopen(subject));
        };
        await inTime(timeoutMs, "the case", () => body(subject, reopen));
      } catch (error) {
        failures.push(error);
      }
      for (const subject of [...instances].reverse()) {
        try {
          await inTime(timeoutMs, "closing the subject", async () => close?.(subject));
          await inTime(timeoutMs, "the cleanup", async () => options.cleanup?.(subject));
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 1)
        throw new AggregateError(failures, "the case and its cleanup failed");
      if (failures.length === 1) throw failures[0];
    },
  });
}

/** Returns the longest time of one case. */
export function caseTimeoutMs({ timeoutMs }: Pick<SubjectOptions<unknown>, "timeoutMs">): number {
  return timeoutMs ?? scaled(60_000, 1_800_000);
}

/** Fails when `work` takes longer, so that what was opened is closed all the same and the run goes on. */
async function inTime(timeoutMs: number, what: string, work: () => Promise<void>): Promise<void> {
  await withDeadline(work, timeoutMs, () => {
    caseTimedOut();
    return new assert.AssertionError({
      message: `${what} took longer than ${timeoutMs} ms; with a slow backend raise timeoutMs`,
    });
  });
}

/** Registers cases with the runner. */
export function registerCases(
  title: string,
  cases: readonly ConformanceCase[],
  options: Pick<SubjectOptions<unknown>, "timeoutMs">,
): void {
  const longestMs = caseTimeoutMs(options);
  runner.describe(title, () => {
    // A case ends by itself before, and cleans up.
    for (const { title: sentence, run } of cases) runner.test(sentence, 4 * longestMs, run);
  });
}
