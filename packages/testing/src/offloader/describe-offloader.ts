import assert from "node:assert/strict";
import {
  type DataBlock,
  type Message,
  type Offloader,
  type Slot,
  type ToolResultBlock,
  textOf,
} from "@holdfast/core";
import { type OffloadReference, offloadReference } from "@holdfast/core/plugin-kit";
import {
  type ConformanceCase,
  caseFactory,
  registerCases,
  type SubjectOptions,
} from "../conformance/conformance-case.js";
import { everyBlockType, numberedMessages } from "../conformance/sample-messages.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";

/** Options of {@link describeOffloader}. */
export interface OffloaderOptions extends SubjectOptions<Offloader> {
  /** Everything a model in session `slot` can read through a reference, as text; null when it can read nothing. */
  readBack(offloader: Offloader, slot: Slot, reference: OffloadReference): Promise<string | null>;
}

/** Registers the tests every `Offloader` must pass. */
export function describeOffloader(name: string, options: OffloaderOptions): void {
  registerCases(`${name} as an Offloader`, offloaderCases(options), options);
}

/** The cases of {@link describeOffloader}. */
export function offloaderCases(options: OffloaderOptions): ConformanceCase[] {
  const check = caseFactory(options);
  const read = async (offloader: Offloader, answer: OffloadReference | string): Promise<string> => {
    const reference = offloadReference(answer);
    assert.ok(reference.reference.length > 0, "a reference names the content");
    assert.ok(reference.readBack.length > 0, "and says how to read it");
    const text = await options.readBack(offloader, slot, reference);
    assert.ok(text !== null, "what was offloaded can be read back");
    return text;
  };
  return [
    check("a tool result is read back whole, however long", async (offloader) => {
      for (const text of ["short", lines(20_000), `${"é漢🌤 $& ".repeat(20_000)}end`]) {
        const reference = await offloader.offloadToolResult(slot, toolResult(text));
        assertContains(await read(offloader, reference), text, "the result");
      }
    }),
    check("every message of a context is read back, in order", async (offloader) => {
      const messages = [...numberedMessages(200), ...everyBlockType()];
      const text = await read(offloader, await offloader.offloadContext(slot, messages));
      let from = 0;
      for (const words of messages.map(plainText)) {
        const at = text.indexOf(words, from);
        assert.ok(at >= 0, "each message after the one before it");
        from = at + words.length;
      }
    }),
    check("nothing offloaded is overwritten by something else", async (offloader) => {
      const texts = Array.from({ length: 10 }, (_, index) => `result ${index}: ${lines(500)}`);
      const references = await Promise.all(
        texts.map((text) => offloader.offloadToolResult(slot, toolResult(text))),
      );
      const contexts = texts.map((text) => numberedMessages(3, text.slice(0, 9)));
      const more: (OffloadReference | string)[] = [];
      for (const messages of contexts) more.push(await offloader.offloadContext(slot, messages));
      const again = await offloader.offloadToolResult(slot, toolResult(texts[0] as string));
      assertContains(await read(offloader, again), texts[0] as string, "the repeated one");
      for (const [index, reference] of references.entries())
        assertContains(await read(offloader, reference), texts[index] as string, "each result");
      for (const [index, reference] of more.entries())
        for (const message of contexts[index] as Message[])
          assertContains(await read(offloader, reference), textOf(message), "each context");
    }),
    check(
      "another user or anonymous session reads nothing through a reference",
      async (offloader) => {
        const secret = "the secret of this session";
        const reference = offloadReference(
          await offloader.offloadToolResult(slot, toolResult(secret)),
        );
        for (const other of [
          { ...slot, userId: "other" },
          { ...slot, userId: null },
        ]) {
          const text = await options.readBack(offloader, other, reference).catch(() => null);
          assert.ok(text === null || !text.includes(secret), "the content stays with its owner");
        }
      },
    ),
    check("data blocks, where taken, get one reference per content", async (offloader) => {
      if (offloader.offloadData === undefined) {
        // Not taken: then they must survive inside the results they came in.
        const block = dataBlock("AAAA");
        const reference = await offloader.offloadToolResult(slot, {
          ...toolResult("with data"),
          output: [block],
        });
        assertContains(await read(offloader, reference), "AAAA", "the data of a result");
        return;
      }
      const [first, second, again] = [
        offloadReference(await offloader.offloadData(slot, dataBlock("AAAA"))),
        offloadReference(await offloader.offloadData(slot, dataBlock("BBBB"))),
        offloadReference(await offloader.offloadData(slot, dataBlock("AAAA"))),
      ];
      assert.notEqual(first.reference, second.reference);
      assert.equal(first.reference, again.reference);
      assert.notEqual(await read(offloader, first), await read(offloader, second));
    }),
  ];
}

function toolResult(text: string): ToolResultBlock {
  return {
    type: "tool_result",
    toolCallId: "c-1",
    name: "look",
    state: "success",
    output: [{ type: "text", text }],
  };
}

function dataBlock(data: string): DataBlock {
  return { type: "data", mediaType: "image/png", source: { kind: "base64", data } };
}

function lines(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index}`).join("\n");
}

function plainText(message: Message): string {
  return textOf(message).split("\n")[0] ?? "";
}

function assertContains(whole: string, part: string, what: string): void {
  assert.ok(whole.includes(part), `${what} must be in what is read back, whole`);
}
