import assert from "node:assert/strict";
import { inspect } from "node:util";
import { StoreError } from "@holdfast/core";
import { sleep } from "@holdfast/core/store-kit";

/** How calls ended. */
export interface Outcomes {
  readonly replies: readonly unknown[];
  readonly errors: readonly StoreError[];
}

/**
 * Waits until all calls have ended, each with a reply or a `StoreError`; fails when one is still pending long after its
 * deadline, which means that it would be for ever.
 */
export async function settle(
  calls: readonly Promise<unknown>[],
  deadlineMs: number,
): Promise<Outcomes> {
  let pending = calls.length;
  const replies: unknown[] = [];
  const errors: StoreError[] = [];
  const ended = calls.map(async (call) => {
    try {
      replies.push(await call);
    } catch (error) {
      assert.ok(StoreError.is(error), `an error without a class: ${inspect(error)}`);
      errors.push(error);
    } finally {
      pending--;
    }
  });
  const late = new AbortController();
  const all = Promise.all(ended);
  await Promise.race([all, sleep(deadlineMs + 20_000, late.signal)]);
  late.abort();
  assert.equal(pending, 0, "calls that never end");
  await all;
  return { replies, errors };
}
