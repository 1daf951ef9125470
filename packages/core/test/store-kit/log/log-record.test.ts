import fc from "fast-check";
import { expect, test } from "vitest";
import {
  InvalidInputError,
  type LogRecord,
  StateCorruptError,
  userMessage,
} from "../../../src/index.js";
import {
  checkLogDraft,
  logRecordText,
  readLogRecord,
  sliceLog,
} from "../../../src/store-kit/index.js";

const slot = { agentId: "agent", userId: null, sessionId: "session" };
const record: LogRecord = {
  mark: undefined,
  message: userMessage("secret words"),
  kind: "message",
  at: "2026-01-01T00:00:00.000Z",
  callId: "c",
  id: "r",
  seq: 3,
  v: 1,
};

test("a record has one text, whatever the order its fields were given in", () => {
  const text = logRecordText(record);
  expect(text).toMatch(
    /^\{"v":1,"seq":3,"id":"r","callId":"c","at":".*","kind":"message","message":\{/,
  );
  expect(logRecordText({ ...readLogRecord(slot, text) })).toBe(text);
});

test("a record read back is frozen all the way down", () => {
  const read = readLogRecord(slot, logRecordText(record));
  expect(Object.isFrozen(read)).toBe(true);
  expect(Object.isFrozen(read.message?.content[0])).toBe(true);
});

test("fields of a newer release are kept", () => {
  const text = JSON.stringify({ ...record, later: { a: 1 } });
  expect(readLogRecord(slot, text)).toMatchObject({ later: { a: 1 } });
});

test.each([
  ["", "nothing"],
  ["{", "half an object"],
  ["[]", "a list"],
  [JSON.stringify({ ...record, v: 2 }), "another version"],
  [JSON.stringify({ ...record, seq: "3" }), "a seq that is no number"],
  [JSON.stringify({ ...record, id: 1 }), "an id that is no string"],
  [JSON.stringify({ ...record, kind: "other" }), "an unknown kind"],
  [JSON.stringify({ ...record, message: undefined }), "no message"],
  [JSON.stringify({ ...record, kind: "mark" }), "no mark"],
  [JSON.stringify({ ...record, blobs: [1] }), "blobs that are no references"],
])("%s is damaged: %s", (text) => {
  expect(() => readLogRecord(slot, text)).toThrow(StateCorruptError);
});

test("an error about a damaged record does not quote it", () => {
  const torn = logRecordText(record).slice(0, -1);
  expect(() => readLogRecord(slot, torn)).toThrow(/session "session"/);
  expect(() => readLogRecord(slot, torn)).toThrow(
    /; restore it from a backup, or remove .* delete/,
  );
  expect(() => readLogRecord(slot, torn)).not.toThrow(/secret words/);
});

test("a draft must be one of a message or one of a mark", () => {
  expect(() => checkLogDraft(record)).not.toThrow();
  expect(() => checkLogDraft({ ...record, message: undefined })).toThrow(InvalidInputError);
  expect(() => checkLogDraft({ ...record, kind: "mark" })).toThrow(InvalidInputError);
  expect(() => checkLogDraft({ ...record, v: 2 as never })).toThrow(InvalidInputError);
});

test("a range is what filtering one by one would give", () => {
  const seqs = fc
    .uniqueArray(fc.nat({ max: 60 }), { maxLength: 30 })
    .map((all) => all.sort((a, b) => a - b));
  const bound = fc.option(fc.integer({ min: -1, max: 62 }), { nil: undefined });
  fc.assert(
    fc.property(
      seqs,
      bound,
      bound,
      fc.integer({ min: 1, max: 12 }),
      (all, before, after, limit) => {
        const records = all.map((seq) => ({ seq }));
        const within = records.filter(
          ({ seq }) =>
            (before === undefined || seq < before) && (after === undefined || seq > after),
        );
        const expected = after === undefined ? within.slice(-limit) : within.slice(0, limit);
        expect(sliceLog(records, { before, after, limit })).toEqual(expected);
      },
    ),
  );
});

test("a range gives 100 records unless told otherwise, and refuses a limit that is none", () => {
  const records = Array.from({ length: 250 }, (_, seq) => ({ seq }));
  expect(sliceLog(records)).toEqual(records.slice(150));
  expect(sliceLog(records, { after: -1 })).toEqual(records.slice(0, 100));
  for (const limit of [0, -1, 1.5, Number.NaN])
    expect(() => sliceLog(records, { limit })).toThrow(InvalidInputError);
});
