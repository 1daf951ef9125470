import { assistantMessage, type Block, userMessage } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { called, prompt, result } from "./sent.js";

const image: Block = {
  type: "data",
  mediaType: "image/png",
  source: { kind: "base64", data: "iVBORw0KGgo=" },
  name: "chart.png",
};

describe("files", () => {
  const data = "iVBORw0KGgo=";

  test.each([
    ["v2", data],
    ["v3", data],
    ["v4", { type: "data", data }],
  ] as const)("of a user in %s", async (version, expected) => {
    const [turn] = await prompt([userMessage([image])], { version });
    expect(turn.content).toEqual([
      { type: "file", mediaType: "image/png", data: expected, filename: "chart.png" },
    ]);
  });

  test.each([
    ["v2", "anthropic.messages", { type: "media", data, mediaType: "image/png" }],
    ["v3", "anthropic.messages", { type: "image-data", data, mediaType: "image/png" }],
    [
      "v4",
      "openai.responses",
      { type: "file", data: { type: "data", data }, mediaType: "image/png", filename: "chart.png" },
    ],
  ] as const)("of a tool in %s for %s", async (version, provider, expected) => {
    const messages = [
      userMessage("Hi."),
      assistantMessage([called()]),
      result([{ type: "text", text: "a chart" }, image as never]),
    ];
    const [, , results] = await prompt(messages, { version, provider });
    expect(results.content[0].output).toEqual({
      type: "content",
      value: [{ type: "text", text: "a chart" }, expected],
    });
  });

  test("of a tool are mentioned where they would be sent as base64 text", async () => {
    const messages = [userMessage("Hi."), assistantMessage([called()]), result([image as never])];
    const [, , results] = await prompt(messages, { provider: "openai.chat" });
    expect(results.content[0].output).toEqual({
      type: "text",
      value: "[File chart.png, image/png, which this model cannot be shown]",
    });
  });

  test("behind a URL are sent where the model fetches them, else mentioned", async () => {
    const source = { kind: "url", url: "https://x.test/a.png" } as const;
    const messages = [userMessage([{ type: "data", mediaType: "image/png", source }])];
    const [fetched] = await prompt(messages, { supportedUrls: { "image/*": [/^https:/] } });
    expect(fetched.content).toMatchObject([{ type: "file", data: new URL(source.url) }]);
    const [mentioned] = await prompt(messages);
    expect(mentioned.content).toMatchObject([
      { type: "text", text: expect.stringContaining(source.url) },
    ]);
  });
});
