import { expect, test } from "vitest";
import { contentChars } from "../../src/plugin-kit/index.js";

test.each([
  ["a text by its characters", { type: "text", text: "four" }, 4],
  [
    "data by its base64",
    { type: "data", mediaType: "image/png", source: { kind: "base64", data: "AAAAAAAA" } },
    8,
  ],
  [
    "a link by its address, which may hold the data itself",
    { type: "data", mediaType: "image/png", source: { kind: "url", url: "data:,hello" } },
    11,
  ],
] as const)("measures %s", (_, block, chars) => {
  expect(contentChars(block)).toBe(chars);
});
