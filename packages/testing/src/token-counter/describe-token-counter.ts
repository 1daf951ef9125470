import assert from "node:assert/strict";
import {
  assistantMessage,
  type Block,
  type Message,
  type TokenCounter,
  userMessage,
} from "@holdfast/core";
import {
  type ConformanceCase,
  caseFactory,
  registerCases,
  type SubjectOptions,
} from "../conformance/conformance-case.js";
import {
  awkwardMessages,
  everyBlockType,
  numberedMessages,
} from "../conformance/sample-messages.js";

/** Options of {@link describeTokenCounter}. */
export interface TokenCounterOptions extends SubjectOptions<TokenCounter> {}

/** Registers the tests every `TokenCounter` must pass. */
export function describeTokenCounter(name: string, options: TokenCounterOptions): void {
  registerCases(`${name} as a TokenCounter`, tokenCounterCases(options), options);
}

/** The cases of {@link describeTokenCounter}. */
export function tokenCounterCases(options: TokenCounterOptions): ConformanceCase[] {
  const check = caseFactory(options);
  return [
    check("nothing counts nothing, and more text counts more", async (counter) => {
      assert.ok(counter.id.length > 0);
      assert.equal(counter.countText(""), 0);
      assert.equal(counter.countMessages([]), 0);
      assert.equal(counter.countTools([]), 0);
      const sentence = "The quick brown fox jumps over the lazy dog. ";
      let before = 0;
      for (const times of [1, 2, 10, 100]) {
        const count = counter.countText(sentence.repeat(times));
        assertCount(count);
        assert.ok(count > before);
        before = count;
      }
    }),
    check("the same input always counts the same, whichever object holds it", async (counter) => {
      const messages = [...everyBlockType(), ...awkwardMessages()];
      const count = counter.countMessages(messages);
      assertCount(count);
      assert.equal(counter.countMessages(messages), count);
      assert.equal(counter.countMessages(JSON.parse(JSON.stringify(messages))), count);
      const fresh = await options.create();
      assert.equal(fresh.countMessages(messages), count);
      await options.cleanup?.(fresh);
    }),
    check(
      "any text can be counted: special tokens, lone surrogates, no word breaks",
      async (counter) => {
        const texts = [
          "<|endoftext|> <|im_start|>system <|fim_prefix|>",
          "\ud800 \udfff \u0000",
          "a".repeat(100_000),
          " ".repeat(100_000),
          "漢".repeat(20_000),
        ];
        for (const text of texts) {
          assertCount(counter.countText(text));
          assert.ok(counter.countText(text) > 0);
          assert.ok(counter.countMessages([userMessage(text)]) > 0);
        }
      },
    ),
    check("text counts in every kind of block that a model is sent", async (counter) => {
      const blocks = (text: string): Block[] => [
        { type: "text", text },
        { type: "thinking", text },
        { type: "hint", text, source: "test" },
        { type: "tool_call", id: "c", name: "write", input: { content: text } },
        {
          type: "tool_result",
          toolCallId: "c",
          name: "write",
          state: "success",
          output: [{ type: "text", text }],
        },
      ];
      const long = blocks("word ".repeat(500));
      for (const [index, block] of blocks("word").entries()) {
        const small = counter.countMessages([assistantMessage([block])]);
        const large = counter.countMessages([assistantMessage([long[index] as Block])]);
        assert.ok(large >= small + 400, `500 more words in ${block.type}`);
      }
    }),
    check("tools count, each with its description and schema", async (counter) => {
      const tool = (name: string, description: string) => ({
        name,
        description,
        inputSchema: { type: "object", properties: { path: { type: "string" } } },
      });
      const one = counter.countTools([tool("a", "Reads.")]);
      assertCount(one);
      assert.ok(one > 0);
      assert.ok(counter.countTools([tool("a", "Reads."), tool("b", "Writes.")]) > one);
      assert.ok(counter.countTools([tool("a", `Reads. ${"More words. ".repeat(50)}`)]) > one + 50);
    }),
    check("messages counted before are not read again", async (counter) => {
      let reads = 0;
      const watched = numberedMessages(50).map((message) => watch(message, () => reads++));
      const first = counter.countMessages(watched);
      assert.ok(reads > 0, "counting reads the messages");
      reads = 0;
      assert.ok(counter.countMessages([...watched, userMessage("one more")]) > first);
      assert.equal(reads, 0, "only the new message is read");
    }),
  ];
}

function assertCount(count: number): void {
  assert.ok(Number.isSafeInteger(count) && count >= 0, `${count} is a number of tokens`);
}

/** Wraps a message so that `onRead` is called whenever its content is read. */
function watch(message: Message, onRead: () => void): Message {
  return new Proxy(message, {
    get(target, key, receiver) {
      if (key === "content") onRead();
      return Reflect.get(target, key, receiver);
    },
  });
}
