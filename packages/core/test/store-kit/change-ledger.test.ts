import fc from "fast-check";
import { expect, test } from "vitest";
import {
  applyWrite,
  type ChangeLedger,
  changesSince,
  isForked,
  MAX_REPLACED,
  messageChange,
  nextRevision,
  REMEMBERED_CHANGES,
  withChange,
} from "../../src/store-kit/index.js";

const anyWrite = fc.record({
  keep: fc.double({ min: 0, max: 1, noNaN: true }),
  replace: fc.uniqueArray(fc.nat({ max: 30 }), { maxLength: 3 }),
  append: fc.array(fc.uuid(), { maxLength: 3 }),
  lease: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
});

test("the changes since any remembered revision lead from its messages to the present ones", () => {
  fc.assert(
    fc.property(fc.array(anyWrite, { minLength: 1, maxLength: 60 }), (writes) => {
      let ledger: ChangeLedger = [];
      let revision = nextRevision(null);
      let messages: string[] = ["first"];
      const history = new Map([[revision, messages]]);
      let leads = 0;
      for (const { keep: share, replace, append, lease } of writes) {
        const keep = Math.round(share * messages.length);
        const replaced = replace.filter((index) => index < keep);
        const to = nextRevision(revision);
        messages = applyWrite(messages, {
          keep,
          replace: replaced.map((index) => [index, `${to}:${index}`] as const),
          append,
        });
        ledger = withChange(ledger, { from: revision, to, keep, replaced, lease });
        revision = to;
        history.set(revision, messages);
      }
      for (const [known, then] of history) {
        const since = changesSince(ledger, known);
        if (since === undefined) continue;
        leads++;
        expect(applyWrite(then, messageChange(messages, since))).toEqual(messages);
        expect(isForked(ledger, known)).toBe(false);
      }
      expect(leads).toBe(ledger.length);
      expect(ledger.length).toBeLessThanOrEqual(REMEMBERED_CHANGES);
    }),
  );
});

const change = (from: string, to: string, lease?: string) => ({
  ...{ from, to, keep: 1, replaced: [0], lease },
});

test("saves of one lease are one change, from the revision before the first", () => {
  let ledger: ChangeLedger = [change("1.a", "2.a")];
  for (let seq = 2; seq < 50; seq++)
    ledger = withChange(ledger, change(`${seq}.a`, `${seq + 1}.a`, "l"));
  expect(ledger).toEqual([change("1.a", "2.a"), change("2.a", "50.a", "l")]);
  expect(changesSince(ledger, "1.a")).toEqual({ keep: 1, replaced: [0] });
});

test("a change that does not follow the last one starts the ledger anew", () => {
  const ledger = withChange([change("1.a", "2.a")], change("3.a", "4.a"));
  expect(ledger).toEqual([change("3.a", "4.a")]);
  expect(changesSince(ledger, "1.a")).toBeUndefined();
});

test("a change of very many messages is not remembered, nor what led to it", () => {
  const replaced = Array.from({ length: MAX_REPLACED + 1 }, (_, index) => index);
  const many = { ...change("2.a", "3.a"), keep: 100, replaced };
  expect(withChange([change("1.a", "2.a")], many)).toEqual([]);
});

test("a revision with a number of the ledger's and another token is on another branch", () => {
  const ledger = [change("3.a", "4.a"), change("4.a", "7.a", "l")];
  for (const lost of ["3.b", "4.b", "7.b"]) expect(isForked(ledger, lost), lost).toBe(true);
  // Older than the ledger, between the saves of one lease, or later: nothing is known.
  for (const unknown of ["1.b", "5.b", "9.b", "", "4.a"])
    expect(isForked(ledger, unknown), unknown).toBe(false);
});

test("the latest saves tell apart the revisions of one lease", () => {
  const ledger = [change("3.a", "4.a"), change("4.a", "7.a", "l")];
  const saved = ["5.a", "6.a", "7.a"];
  for (const lost of ["3.b", "4.b", "5.b", "6.b", "7.b"])
    expect(isForked(ledger, lost, saved), lost).toBe(true);
  for (const kept of ["3.a", "4.a", "5.a", "6.a", "7.a", "8.b"])
    expect(isForked(ledger, kept, saved), kept).toBe(false);
});
