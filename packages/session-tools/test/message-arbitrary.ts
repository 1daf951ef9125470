import type {
  Block,
  DataBlock,
  JsonValue,
  Message,
  Role,
  TextBlock,
  ToolResultBlock,
} from "@holdfast/core";
import { createMessage } from "@holdfast/core/plugin-kit";
import fc from "fast-check";

/** Over 64 KB of UTF-8, so that a log keeps it apart. */
const long = fc
  .tuple(fc.constantFrom("long 😀 text ", '"\\\n', "é", "𝒳", "$&"), fc.nat({ max: 50 }))
  .map(([unit, more]) => unit.repeat(Math.ceil(66_000 / unit.length) + more));

const textArbitrary: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: "binary" }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "\ud800",
      "\udc00\ud83d",
      "$&",
      "",
      "\r\n",
      "\u2028",
      "\n[text]\n",
      "\n[result of x: success, call c]\n",
      "😀".repeat(1_500),
    ),
  },
  { weight: 1, arbitrary: long },
);
const json = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>,
  fc.record({ path: textArbitrary, list: fc.array(textArbitrary, { maxLength: 2 }) }),
  textArbitrary,
);
const metadata = fc.option(fc.dictionary(fc.string(), json, { maxKeys: 3 }), { nil: undefined });
const name = fc.option(textArbitrary, { nil: undefined });
const data: fc.Arbitrary<DataBlock> = fc
  .record({
    mediaType: fc.constantFrom("image/png", "text/plain", "x/y"),
    source: fc.oneof(
      fc
        .tuple(fc.uint8Array({ maxLength: 9 }), fc.constantFrom(0, 0, 60_000))
        .map(([bytes, more]) => ({
          kind: "base64" as const,
          data: Buffer.concat([bytes, Buffer.alloc(more)]).toString("base64"),
        })),
      textArbitrary.map((url) => ({ kind: "url" as const, url })),
    ),
    name,
  })
  .map((fields) => ({ type: "data", ...fields }));
const plain: fc.Arbitrary<TextBlock> = textArbitrary.map((text) => ({ type: "text", text }));
const block: fc.Arbitrary<Block> = fc.oneof(
  plain,
  data,
  fc
    .record({ text: textArbitrary, providerMetadata: metadata })
    .map((fields) => ({ type: "thinking" as const, ...fields })),
  fc
    .record({ text: textArbitrary, source: textArbitrary })
    .map((fields) => ({ type: "hint" as const, ...fields })),
  fc
    .record({ id: fc.uuid(), name: textArbitrary, input: json, providerMetadata: metadata })
    .map((fields) => ({ type: "tool_call" as const, ...fields })),
  fc
    .record({
      toolCallId: textArbitrary,
      name: textArbitrary,
      output: fc.array(fc.oneof(plain, data), { maxLength: 3 }),
      state: fc.constantFrom("success", "error", "interrupted", "denied"),
      metadata,
    })
    .map((fields) => ({ type: "tool_result", ...fields }) as ToolResultBlock),
);

/** Messages of every kind, with text that is long, looks like a rendering or is no well-formed Unicode. */
export const messageArbitrary: fc.Arbitrary<Message> = fc
  .record({
    role: fc.constantFrom<Role>("user", "assistant", "tool", "system"),
    content: fc.array(block, { maxLength: 5 }),
    name,
    metadata,
  })
  .map(({ role, content, ...options }) => createMessage(role, content, options));
