import { userMessage } from "@holdfast/core";
import { type LogDraft, logRecordText } from "@holdfast/core/store-kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { prepareLog } from "../../src/log/append-log.js";
import { bodyBytes, wholeRecord } from "../../src/log/record-body.js";

const slot = { agentId: "a", userId: null, sessionId: "s" };
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("\ud800", '"', "é".repeat(500), '{"v":1,"seq":'),
);
const message = fc.oneof(
  text.map((said) => userMessage(said)),
  // Not what an engine writes: it begins like a record.
  text.map((said) => ({ v: 1, seq: 5, said }) as never),
);
const draft: fc.Arbitrary<LogDraft> = fc.record(
  {
    v: fc.constant(1),
    id: fc.uuid(),
    callId: text,
    at: text,
    kind: fc.constant("message"),
    message,
    mark: fc.constantFrom(undefined, { name: "call_end" } as never),
  },
  { requiredKeys: ["v", "id", "callId", "at", "kind", "message"] },
);

test("whatever a record holds, its row gives the same text again, and a message alone its own text", () => {
  fc.assert(
    fc.property(draft, fc.nat(), (record, seq) => {
      const [prepared] = prepareLog(slot, [record]).records;
      if (prepared === undefined) throw new Error("nothing prepared");
      const { id, callId, at, kind, body } = prepared;
      const stored = bodyBytes(body, seq).toString("utf8");
      const columns = { id: String(id), callId: String(callId), at: String(at), kind };
      expect(wholeRecord(seq, columns, stored)).toBe(logRecordText({ ...record, seq }));
      if (body.isMessage) expect(stored).toBe(JSON.stringify(record.message));
    }),
  );
});

test("an ordinary record is stored without what its columns hold", () => {
  const said = userMessage("hello");
  const record: LogDraft = {
    ...{ v: 1, id: "i", callId: "c", at: said.createdAt, kind: "message", message: said },
  };
  const [prepared] = prepareLog(slot, [record]).records;
  expect(prepared?.body).toEqual({
    ...{ start: undefined, text: JSON.stringify(said), isMessage: true },
  });
});
