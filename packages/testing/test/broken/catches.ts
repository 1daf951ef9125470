import { expect, test } from "vitest";
import type { ConformanceCase } from "../../src/conformance/conformance-case.js";

/** Tests that the suite sees a flaw: of `cases`, which run against a broken implementation, the named one fails. */
export function catches(flaw: string, cases: readonly ConformanceCase[], sentence: string): void {
  test(`${flaw} fails "${sentence}"`, { timeout: 60_000 }, async () => {
    const named = cases.filter(({ title }) => title.includes(sentence));
    expect(named.map(({ title }) => title)).toHaveLength(1);
    const outcome = await named[0]?.run().then(
      () => "passed",
      (error: unknown) => error,
    );
    expect(outcome).toBeInstanceOf(Error);
  });
}
