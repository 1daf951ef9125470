import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistantMessage,
  type JsonValue,
  type LogRecord,
  type Message,
  StateCorruptError,
  userMessage,
} from "../../../src/index.js";
import {
  blobRef,
  extractBlobs,
  type LogDraft,
  MAX_INLINE_BYTES,
  withBlobs,
} from "../../../src/store-kit/index.js";

const slot = { agentId: "agent", userId: "user", sessionId: "session" };
const long = "x".repeat(MAX_INLINE_BYTES + 1);

function draftOf(message: Message): LogDraft {
  return { v: 1, id: "r", callId: "c", at: "2026-01-01T00:00:00.000Z", kind: "message", message };
}

/** A record as a log would return it, and the log's blobs. */
function stored(draft: LogDraft): { record: LogRecord; blobs: Map<string, string> } {
  const { draft: short, references, blobs } = extractBlobs(draft);
  const record = { ...short, seq: 7, ...(references.length > 0 && { blobs: references }) };
  return { record: JSON.parse(JSON.stringify(record)), blobs: new Map(blobs) };
}

/** Blobs as a real log has them: as UTF-8. */
function reader(blobs: ReadonlyMap<string, string>) {
  const bytes = new Map([...blobs].map(([ref, text]) => [ref, Buffer.from(text, "utf8")]));
  return { readBlob: async (_: unknown, ref: string) => bytes.get(ref)?.toString("utf8") ?? null };
}

const leaf: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, 0, -1.5, "", "short", "\ud800 lone"),
  fc.integer({ min: -2, max: 2 }).map((more) => "x".repeat(MAX_INLINE_BYTES + more)),
  fc
    .integer({ min: -1, max: 1 })
    .map((more) => "界".repeat(Math.ceil(MAX_INLINE_BYTES / 3) + more)),
  fc.constant(`${"y".repeat(MAX_INLINE_BYTES)}\udc00`),
  fc.constant("😀".repeat(MAX_INLINE_BYTES / 4 + 1)),
);
const key = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toString", "length", "0", "", "a.b"),
  fc.string({ maxLength: 5 }),
);
const { value: json } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    fc
      .array(fc.tuple(key, tie("value")), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));

test("a record put back together is the record that was taken apart", async () => {
  await fc.assert(
    fc.asyncProperty(json, json, async (input, details) => {
      const message = assistantMessage(
        [
          { type: "text", text: "some" },
          { type: "tool_call", id: "t", name: "n", input },
        ],
        { metadata: { details } },
      );
      const { record, blobs } = stored(draftOf(message));
      const whole = await withBlobs(reader(blobs), slot, record);
      // As text: deep equality does not see a "__proto__" key.
      expect(JSON.stringify(whole.message)).toBe(JSON.stringify(message));
      expect("blobs" in whole).toBe(false);
      expect({ ...whole, message: undefined }).toEqual({
        ...draftOf(message),
        seq: 7,
        message: undefined,
      });
    }),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 1_000 : 50 },
  );
});

test("no string over 64 KB stays in a record, except one UTF-8 cannot hold", () => {
  fc.assert(
    fc.property(json, (input) => {
      const message = assistantMessage([{ type: "tool_call", id: "t", name: "n", input }]);
      const { draft, references, blobs } = extractBlobs(draftOf(message));
      JSON.stringify(draft, (_, value: unknown) => {
        if (typeof value === "string" && Buffer.byteLength(value) > MAX_INLINE_BYTES)
          expect(value).toMatch(/\p{Surrogate}/u);
        return value;
      });
      for (const { ref, bytes } of references) {
        expect(bytes).toBeGreaterThan(MAX_INLINE_BYTES);
        expect(blobRef(blobs.get(ref) ?? "")).toBe(ref);
        expect(Buffer.byteLength(blobs.get(ref) ?? "")).toBe(bytes);
      }
    }),
    { numRuns: 100 },
  );
});

test("a record without long strings is left as it is, object for object", () => {
  const draft = draftOf(userMessage("x".repeat(MAX_INLINE_BYTES)));
  const extracted = extractBlobs(draft);
  expect(extracted.draft).toBe(draft);
  expect(extracted.references).toEqual([]);
  const mark: LogDraft = { ...draft, kind: "mark", message: undefined, mark: { name: "m" } };
  expect(extractBlobs(mark).draft).toBe(mark);
});

test("the original is not changed by taking strings out", () => {
  const message = userMessage(long);
  extractBlobs(draftOf(message));
  expect(message.content).toEqual([{ type: "text", text: long }]);
});

test("equal strings share one blob", () => {
  const message = userMessage([
    { type: "text", text: long },
    { type: "text", text: long },
  ]);
  const { references, blobs } = extractBlobs(draftOf(message));
  expect(references.map(({ path }) => path)).toEqual([
    ["content", 0, "text"],
    ["content", 1, "text"],
  ]);
  expect(blobs.size).toBe(1);
});

describe("a record that cannot be put back together is corrupt, not shorter:", () => {
  const { record, blobs } = stored(draftOf(userMessage(long)));
  const [reference] = record.blobs ?? [];

  test("its blob is missing", async () => {
    await expect(withBlobs(reader(new Map()), slot, record)).rejects.toSatisfy(
      StateCorruptError.is,
    );
  });

  test("its blob holds something else", async () => {
    const other = new Map([[reference?.ref ?? "", `${long}x`]]);
    await expect(withBlobs(reader(other), slot, record)).rejects.toSatisfy(StateCorruptError.is);
  });

  test.each([
    [["content", 5, "text"]],
    [["content", 0, "type"]],
    [["__proto__", "x"]],
    [["content", "__proto__"]],
    [[]],
  ])("its reference points to %j, where nothing was taken out", async (path) => {
    const wrong = { ...record, blobs: [{ ...reference, path } as never] };
    await expect(withBlobs(reader(blobs), slot, wrong)).rejects.toSatisfy(StateCorruptError.is);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});
