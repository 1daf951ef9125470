import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  assistantMessage,
  type ConversationLog,
  type LogRecord,
  type Message,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { messageRecord } from "../conformance/sample-records.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import type { LogCase } from "./log-case.js";

const long = "A line of a long file, with $& and 漢字.\n".repeat(3_000);

/** Long strings are kept apart, once. */
export function blobCases(check: LogCase): ConformanceCase[] {
  return [
    check("long text comes back whole, wherever in a message it stands", async (log) => {
      const messages = [
        userMessage(long),
        userMessage("lone \ud800 surrogate ".repeat(8_000)),
        userMessage("é".repeat(40_000)),
        assistantMessage([
          { type: "thinking", text: long },
          { type: "tool_call", id: "c", name: "write", input: { content: long, list: [[long]] } },
        ]),
        toolResultMessage({
          type: "tool_result",
          toolCallId: "c",
          name: "write",
          state: "success",
          output: [
            { type: "text", text: "short" },
            { type: "text", text: long },
            {
              type: "data",
              mediaType: "image/png",
              source: { kind: "base64", data: Buffer.alloc(300_000, 7).toString("base64") },
            },
          ],
        }),
      ];
      await log.append(
        slot,
        messages.map((message) => messageRecord(message)),
      );
      const read = await log.read(slot);
      assert.equal(read.length, messages.length);
      for (const [index, record] of read.entries())
        assert.deepStrictEqual(await wholeMessage(log, record), messages[index]);
    }),
    check("long text is not in the record but in a blob named by its hash, once", async (log) => {
      await log.append(slot, [messageRecord(long), messageRecord("short"), messageRecord(long)]);
      const [first, short, second] = await log.read(slot);
      const hash = createHash("sha256").update(long, "utf8").digest("hex");
      for (const record of [first, second]) {
        assert.ok(JSON.stringify(record).length < 2_000, "the record is short");
        assert.deepStrictEqual(record?.blobs, [
          {
            path: ["content", 0, "text"],
            ref: `sha256:${hash}`,
            bytes: Buffer.byteLength(long, "utf8"),
          },
        ]);
      }
      assert.equal(short?.blobs, undefined, "no blobs where nothing is long");
      assert.equal(await log.readBlob(slot, `sha256:${hash}`), long);
    }),
    check("a blob belongs to its slot, and one that is not there reads as null", async (log) => {
      await log.append(slot, [messageRecord(long)]);
      const [record] = await log.read(slot);
      const ref = record?.blobs?.[0]?.ref as string;
      assert.equal(await log.readBlob({ ...slot, userId: "other" }, ref), null);
      assert.equal(await log.readBlob({ ...slot, userId: null }, ref), null);
      assert.equal(await log.readBlob({ ...slot, sessionId: "other" }, ref), null);
      for (const other of [`sha256:${"0".repeat(64)}`, "sha256:../../x", "", "x"])
        assert.equal(await log.readBlob(slot, other), null);
    }),
  ];
}

/** The message with its long strings back; done here by hand, so that the log's own way is checked. */
async function wholeMessage(log: ConversationLog, record: LogRecord): Promise<Message> {
  const message = JSON.parse(JSON.stringify(record.message));
  for (const { path, ref, bytes } of record.blobs ?? []) {
    const text = await log.readBlob(slot, ref);
    assert.ok(text !== null, "a blob that a record names is there");
    assert.equal(Buffer.byteLength(text, "utf8"), bytes);
    let parent = message;
    for (const key of path.slice(0, -1)) parent = parent[key];
    const last = path.at(-1) as string | number;
    assert.equal(parent[last], "", "an empty string stands where the blob belongs");
    parent[last] = text;
  }
  return message;
}
