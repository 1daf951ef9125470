import { assistantMessage, type Message, toolResultMessage, userMessage } from "@holdfast/core";
import { createMessage } from "@holdfast/core/plugin-kit";

/** Short user messages with their number in the text. */
export function numberedMessages(count: number, label = "message"): Message[] {
  return Array.from({ length: count }, (_, index) => userMessage(`${label} ${index}`));
}

/** A conversation in which every role, block type and optional field appears. */
export function everyBlockType(): Message[] {
  const image = { kind: "base64", data: "iVBORw0KGgo=" } as const;
  return [
    createMessage("system", "Be brief."),
    createMessage("user", [{ type: "hint", text: "So far: nothing.", source: "summary" }]),
    userMessage(
      [
        { type: "text", text: "What is this?" },
        { type: "data", mediaType: "image/png", source: image, name: "shot.png" },
        { type: "data", mediaType: "text/html", source: { kind: "url", url: "https://a.example" } },
      ],
      { name: "Ada", metadata: { from: { page: 3, tags: ["x", null, true, 1.5] } } },
    ),
    assistantMessage(
      [
        { type: "thinking", text: "A tool.", providerMetadata: { signature: "c2ln" } },
        { type: "text", text: "I look." },
        { type: "tool_call", id: "c-1", name: "look", input: { at: [1, { deep: [] }] } },
        { type: "tool_call", id: "c-2", name: "ask", input: "text", providerMetadata: { n: 1 } },
      ],
      { usage: { inputTokens: 10, outputTokens: 20, cachedInputTokens: 5 } },
    ),
    toolResultMessage([
      {
        type: "tool_result",
        toolCallId: "c-1",
        name: "look",
        state: "success",
        output: [
          { type: "text", text: "A cat." },
          { type: "data", mediaType: "image/png", source: image },
        ],
        metadata: { ms: 12 },
      },
      { type: "tool_result", toolCallId: "c-2", name: "ask", state: "denied", output: [] },
    ]),
  ];
}

/** Text and keys that stores have been seen to change: each must come back exactly. */
export function awkwardMessages(): Message[] {
  // A literal `{ "__proto__": … }` would set the prototype; parsed JSON has the key.
  const input = JSON.parse(
    '{"__proto__":{"polluted":true},"constructor":{"prototype":null},"":"","a.b":1,"$set":[]}',
  );
  return [
    userMessage("lone \ud800 high, \udfff low, swapped \udc00\ud800"),
    userMessage(""),
    userMessage("NUL \u0000, escape \u001b, line \u2028 paragraph \u2029, BOM \ufeff, CR LF \r\n"),
    userMessage("quote \" ' ` backslash \\ \\u0041 percent %s %00 dollar $& $1 {{y}} </script>"),
    userMessage("NFC \u00e9 and NFD e\u0301, 👩‍👩‍👧‍👦, 🏴󠁧󠁢󠁳󠁣󠁴󠁿, عربى, 漢字"),
    userMessage("漢字🌤é".repeat(5_000)),
    userMessage([]),
    assistantMessage([{ type: "tool_call", id: "c-3", name: "merge", input }]),
    assistantMessage([{ type: "tool_call", id: "c-4", name: "none", input: null }], {
      metadata: { numbers: [0, -1, 1e21, 5e-324, 2 ** 53 - 1, 0.1 + 0.2], empty: {} },
    }),
  ];
}
