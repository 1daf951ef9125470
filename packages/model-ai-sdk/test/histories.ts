import {
  assistantMessage,
  type Block,
  type JsonObject,
  type Message,
  type ToolResultBlock,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import { createMessage } from "@holdfast/core/plugin-kit";
import fc from "fast-check";

const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom("", " ", "\n", "fine", "half \ud83d", "\udc00", "[]", '{"a":1}'),
);

const png = "iVBORw0KGgo=";

const data: fc.Arbitrary<Block & { type: "data" }> = fc.constantFrom(
  { type: "data", mediaType: "image/png", source: { kind: "base64", data: png } },
  { type: "data", mediaType: "image/png", source: { kind: "url", url: "https://x.test/a.png" } },
  {
    type: "data",
    mediaType: "image/jpeg",
    source: { kind: "url", url: `data:image/jpeg;base64,${png}` },
    name: "photo.jpg",
  },
  {
    type: "data",
    mediaType: "application/pdf",
    source: { kind: "base64", data: "JVBERi0=" },
    name: "report.pdf",
  },
  { type: "data", mediaType: "text/plain", source: { kind: "base64", data: "aGVsbG8=" } },
  { type: "data", mediaType: "application/zip", source: { kind: "base64", data: "UEsDBA==" } },
  { type: "data", mediaType: "audio/ogg", source: { kind: "url", url: "not a url" } },
  { type: "data", mediaType: "nonsense", source: { kind: "base64", data: "" } },
);

/** Metadata of providers that have nothing to do with each other, some of it this model's own and worthless. */
function metadata(owners: readonly string[]): fc.Arbitrary<JsonObject | undefined> {
  const fields = fc.constantFrom<JsonObject>(
    {},
    { anthropic: { signature: "forged" } },
    { anthropic: { redactedData: "forged" } },
    { openai: { itemId: "rs_1", reasoningEncryptedContent: "forged" } },
    { openai: { itemId: "msg_1" } },
    { google: { thoughtSignature: "Zm9yZ2Vk" } },
  );
  return fc.option(
    fc.tuple(fc.constantFrom(...owners), fields).map(([owner, kept]) => ({ [owner]: kept })),
    { nil: undefined },
  );
}

interface Call {
  readonly name: string;
  readonly input: Block extends infer B ? (B extends { input: infer I } ? I : never) : never;
  readonly providerId: string | undefined;
  readonly metadata: JsonObject | undefined;
  readonly state: ToolResultBlock["state"];
  readonly output: ToolResultBlock["output"];
}

function call(owners: readonly string[]): fc.Arbitrary<Call> {
  return fc.record({
    name: fc.constantFrom("weather", "read_file", "functions.run it", "", "日本"),
    input: fc.oneof(
      fc.constantFrom<Call["input"]>({ city: "Rome" }, {}, "{broken", null, [1], 7, "\ud800"),
      fc.dictionary(fc.constantFrom("a", "\ud801", "__proto__", "city"), text),
    ),
    providerId: fc.constantFrom(undefined, "call_0", "call_1", "", "with space", "x".repeat(48)),
    metadata: metadata(owners),
    state: fc.constantFrom<Call["state"]>("success", "error", "denied", "interrupted"),
    output: fc.array(
      fc.oneof(
        text.map((value) => ({ type: "text" as const, text: value })),
        data,
      ),
      { maxLength: 3 },
    ),
  });
}

function reply(owners: readonly string[]) {
  const said: fc.Arbitrary<Block> = fc.oneof(
    fc.record({ type: fc.constant("text" as const), text, providerMetadata: metadata(owners) }),
    fc.record({ type: fc.constant("thinking" as const), text, providerMetadata: metadata(owners) }),
    data,
  );
  return fc.record({
    said: fc.array(said, { maxLength: 4 }),
    calls: fc.array(call(owners), { maxLength: 3 }),
    isWhole: fc.boolean(),
  });
}

const spoken: fc.Arbitrary<Block[]> = fc.array(
  fc.oneof(
    text.map((value): Block => ({ type: "text", text: value })),
    fc
      .tuple(text, fc.constantFrom("summary", "plan"))
      .map(([value, source]): Block => ({ type: "hint", text: value, source })),
    data,
  ),
  { maxLength: 3 },
);

/**
 * Histories as a session of any age can have them: all kinds of blocks and states, validly paired, with ids of any form and
 * metadata of `owners`.
 */
export function histories(owners: readonly string[]): fc.Arbitrary<Message[]> {
  const turn = fc.oneof(
    spoken.map((blocks) => ({ role: "user" as const, blocks })),
    text.map((value) => ({ role: "system" as const, blocks: [{ type: "text", text: value }] })),
    reply(owners),
  );
  return fc.array(turn, { maxLength: 8 }).map((turns) => {
    const messages: Message[] = [];
    for (const [index, one] of turns.entries()) {
      if ("role" in one) messages.push(createMessage(one.role, one.blocks as Block[]));
      else messages.push(...replyMessages(one, index));
    }
    return [...messages, userMessage("And now?")];
  });
}

function replyMessages(
  { said, calls, isWhole }: { said: Block[]; calls: Call[]; isWhole: boolean },
  turn: number,
): Message[] {
  const id = (index: number): string => `own-${turn}-${index}`;
  const providerCallIds: Record<string, string> = {};
  const blocks = [...said];
  for (const [index, { name, input, providerId, metadata: kept }] of calls.entries()) {
    if (providerId !== undefined) providerCallIds[id(index)] = providerId;
    blocks.push({ type: "tool_call", id: id(index), name, input, providerMetadata: kept });
  }
  const usage = isWhole ? { inputTokens: 1, outputTokens: 1 } : undefined;
  const results = calls.map(({ name, state, output }, index) =>
    toolResultMessage({ type: "tool_result", toolCallId: id(index), name, state, output }),
  );
  // Results of calls that had to wait for a person come after the others.
  if (!isWhole) results.reverse();
  return [assistantMessage(blocks, { usage, metadata: { providerCallIds } }), ...results];
}
