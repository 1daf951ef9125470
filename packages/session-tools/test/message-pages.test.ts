import {
  assistantMessage,
  InMemoryConversationLog,
  type JsonValue,
  type Message,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import { isWellFormed } from "@holdfast/core/plugin-kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Bench, bench, proposed } from "./bench.js";
import { expectedRendering } from "./expected-rendering.js";
import { messageArbitrary } from "./message-arbitrary.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 1_000 : 60;

/** All pages of one message, each got with the arguments that the one before names. */
async function allPages({ use }: Bench, at: number): Promise<string[]> {
  const pages: string[] = [];
  for (let input: object | null = { at }; input !== null; ) {
    const { blocks, isError, text } = await use("history", input);
    expect([isError, blocks.length], text.slice(0, 200)).toEqual([false, 2]);
    const [page, note] = blocks.map((block) => (block.type === "text" ? block.text : ""));
    pages.push(page ?? "");
    input = proposed(note ?? "", "Go on: ");
  }
  return pages;
}

function textsOf(message: Message): string[] {
  return message.content.flatMap((block) => {
    if (block.type === "tool_result")
      return block.output.flatMap((part) => (part.type === "text" ? [part.text] : []));
    if (block.type === "tool_call") return [JSON.stringify(block.input)];
    return block.type === "data" ? [] : [block.text];
  });
}

test("the pages of a message put together are its rendering, which holds every text as it was", async () => {
  await fc.assert(
    fc.asyncProperty(
      messageArbitrary,
      fc.constantFrom(2_001, 20_000, 100_000),
      async (message, maxPageChars) => {
        const tools = bench({ maxPageChars });
        const at = await tools.say(message);
        const pages = await allPages(tools, at);
        const whole = pages.join("");
        expect(whole === expectedRendering(message)).toBe(true);
        let from = 0;
        for (const text of textsOf(message)) {
          const found = whole.indexOf(text, from);
          expect(found).toBeGreaterThanOrEqual(from);
          from = found + text.length;
        }
        for (const page of pages) expect(page.length).toBeLessThanOrEqual(maxPageChars);
      },
    ),
    { numRuns: runs },
  );
});

test("no page ends or begins within a character, whatever the offset", async () => {
  const tools = bench({ maxPageChars: 1_001 });
  const at = await tools.say("😀".repeat(40_000));
  for (const page of await allPages(tools, at)) expect(isWellFormed(page)).toBe(true);
  const { page } = await tools.use("history", { at, offset: 70_001 });
  expect(page.startsWith("😀")).toBe(true);
});

test("nor does a stretch in which a long text is read, in JSON either", async () => {
  const tools = bench();
  const text = `x${"😀".repeat(40_000)}`;
  const at = await tools.say(text);
  const { page } = await tools.use("history", { at, offset: 16_384 });
  expect(page.startsWith("😀")).toBe(true);
  const call = { type: "tool_call" as const, id: "c", name: "write", input: { text } };
  const whole = (await allPages(tools, await tools.say(assistantMessage([call])))).join("");
  expect(whole).toContain(`\n${JSON.stringify({ text })}\n`);
});

test("what another release wrote is shown as JSON", async () => {
  const tools = bench();
  const unknown = {
    ...userMessage("x"),
    content: [{ type: "hologram", light: "y".repeat(70_000) }],
  };
  const at = await tools.say(unknown as unknown as Message);
  const whole = (await allPages(tools, at)).join("");
  expect(whole).toBe(`[message of unknown form]\n${JSON.stringify(unknown)}`);
  expect((await tools.use("history")).text).toContain("[message of unknown form]");
});

test("fields of other releases and metadata stand at the end of a message", async () => {
  const tools = bench();
  const message = assistantMessage(
    [
      { type: "text", text: "hello" },
      { type: "thinking", text: "hm", providerMetadata: { signature: "s".repeat(70_000) } },
    ],
    { metadata: { __proto__x: 1 }, usage: { inputTokens: 1, outputTokens: 2 } },
  );
  const at = await tools.say(message);
  const whole = (await allPages(tools, at)).join("");
  const [body, rest] = whole.split("\n[message] ");
  expect(body).toBe("hello\n[thinking]\nhm");
  expect(JSON.parse(rest ?? "")).toEqual({
    id: message.id,
    createdAt: message.createdAt,
    usage: message.usage,
    metadata: message.metadata,
    blocks: { 1: { providerMetadata: { signature: "s".repeat(70_000) } } },
  });
});

test("an input that holds long strings is whole JSON, however deep they lie", async () => {
  const tools = bench();
  const input: JsonValue = {
    ["__proto__"]: "p".repeat(70_000),
    list: [1, null, { deep: '"\n\\'.repeat(30_000) }, []],
    'key "quoted"': true,
  };
  const message = assistantMessage([{ type: "tool_call", id: "c", name: "write", input }]);
  const at = await tools.say(message);
  const whole = (await allPages(tools, at)).join("");
  const json = whole.slice(whole.indexOf("]\n") + 2, whole.indexOf("\n[message] "));
  expect(json).toBe(JSON.stringify(message.content[0]?.type === "tool_call" && input));
});

test("an offset behind the end, and a position without a message, are refused in words", async () => {
  const tools = bench();
  const at = await tools.say("short");
  const mark = await tools.mark({ name: "compaction" });
  const behind = await tools.use("history", { at, offset: 5_000 });
  expect([behind.isError, behind.text]).toEqual([
    true,
    expect.stringContaining("nothing at offset 5000"),
  ]);
  for (const wrong of [mark, 0, at + 100, -1, Number.MAX_SAFE_INTEGER - 1]) {
    const answer = await tools.use("history", { at: wrong });
    expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining("no message at")]);
  }
});

/** Counts how many long strings are alive at once, as far as a reader can tell. */
class CountingLog extends InMemoryConversationLog {
  readonly reads: string[] = [];
  override async readBlob(...args: Parameters<InMemoryConversationLog["readBlob"]>) {
    this.reads.push(args[1]);
    return super.readBlob(...args);
  }
}

test("an overview does not load long texts that it does not show", async () => {
  const log = new CountingLog();
  const tools = bench({ log });
  const image = { kind: "base64" as const, data: Buffer.alloc(90_000).toString("base64") };
  await tools.say(
    toolResultMessage({
      type: "tool_result",
      toolCallId: "c",
      name: "fetch",
      state: "success",
      output: [
        { type: "data", mediaType: "image/png", source: image },
        { type: "text", text: "first".repeat(1_000) },
        { type: "text", text: "second".repeat(20_000) },
      ],
    }),
  );
  const { text } = await tools.use("history");
  expect(text).toContain("[data 0: image/png, about 90000 bytes]");
  expect(text).toContain("first");
  expect(log.reads).toEqual([]);
});

test("a long text that is missing does not hide the other messages", async () => {
  class Forgetful extends InMemoryConversationLog {
    override async readBlob() {
      return null;
    }
  }
  const tools = bench({ log: new Forgetful() });
  await tools.say("before");
  const at = await tools.say("x".repeat(70_000));
  await tools.say("after");
  const { text } = await tools.use("history");
  expect(text).toMatch(/before.*missing or damaged.*after/s);
  const one = await tools.use("history", { at });
  expect([one.isError, one.text]).toEqual([true, expect.stringContaining("is missing")]);
  expect((await tools.use("search", { query: "after", regex: true })).text).toContain("»after«");
});

test("a long text that is not what was stored is never shown as if it were", async () => {
  class Forging extends InMemoryConversationLog {
    override async readBlob() {
      return "forged".repeat(20_000);
    }
  }
  const tools = bench({ log: new Forging() });
  const at = await tools.say("x".repeat(70_000));
  const one = await tools.use("history", { at });
  expect([one.isError, one.text]).toEqual([true, expect.stringContaining("something else")]);
  expect((await tools.use("history")).text).toContain("missing or damaged");
  expect((await tools.use("search", { query: "forged", regex: true })).text).toContain("Nothing");
});
