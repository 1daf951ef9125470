import type { Block, JsonValue, Message, Role, ToolResultBlock } from "@holdfast/core";
import { createMessage } from "@holdfast/core/plugin-kit";
import fc from "fast-check";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "\n## user {}\n",
    '\n### text {"chars":3}\nabc\n',
    "\ud800",
    "$&",
    "",
    "\r\n",
    "\u2028",
  ),
);
const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
const metadata = fc.option(fc.dictionary(fc.string(), json), { nil: undefined });
const data: fc.Arbitrary<Block> = fc
  .record({
    mediaType: fc.constantFrom("image/png", "text/plain", "x/y"),
    source: fc.oneof(
      fc.uint8Array({ maxLength: 9 }).map((bytes) => ({
        kind: "base64" as const,
        data: Buffer.from(bytes).toString("base64"),
      })),
      fc.record({ kind: fc.constant("url" as const), url: fc.webUrl() }),
    ),
    name: fc.option(text, { nil: undefined }),
  })
  .map((fields) => ({ type: "data", ...fields }));
const plain: fc.Arbitrary<Block> = text.map((words) => ({ type: "text", text: words }));
const block: fc.Arbitrary<Block> = fc.oneof(
  plain,
  data,
  fc
    .record({ text, providerMetadata: metadata })
    .map((fields) => ({ type: "thinking" as const, ...fields })),
  fc.record({ text, source: text }).map((fields) => ({ type: "hint" as const, ...fields })),
  fc
    .record({ id: fc.uuid(), name: text, input: json })
    .map((fields) => ({ type: "tool_call" as const, ...fields })),
  fc
    .record({
      toolCallId: fc.uuid(),
      name: text,
      output: fc.array(fc.oneof(plain, data), { maxLength: 3 }),
      state: fc.constantFrom("success", "error"),
      metadata,
    })
    .map((fields) => ({ type: "tool_result", ...fields }) as ToolResultBlock),
);
/** Messages of every kind, with text that looks like a transcript. */
export const messageArbitrary: fc.Arbitrary<Message> = fc
  .record({
    role: fc.constantFrom<Role>("user", "assistant", "tool", "system"),
    content: fc.array(block, { maxLength: 5 }),
    name: fc.option(text, { nil: undefined }),
    metadata,
  })
  .map(({ role, content, ...options }) => createMessage(role, content, options));
