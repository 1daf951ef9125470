import { ConfigurationError, ReActAgent } from "@holdfast/core";
import { sessionTools } from "@holdfast/session-tools";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { bench, proposed } from "./bench.js";

test.each([
  [{ maxPageChars: 999 }, "maxPageChars is 999"],
  [{ maxPageChars: 100_001 }, "maxPageChars is 100001"],
  [{ previewChars: 99 }, "previewChars is 99"],
  [{ previewChars: 10_001 }, "at most half of maxPageChars"],
  [{ maxDataBytes: -1 }, "maxDataBytes is -1"],
  [{ timeoutMs: 0 }, "timeoutMs is 0"],
  [{ maxPages: 3 }, "maxPages"],
])("%j is refused when the plugin is made", (options: object, words) => {
  const make = () => sessionTools(options);
  expect(make).toThrow(words);
  expect(make).toThrow(expect.objectContaining({ code: "CONFIGURATION" }));
});

test("all wrong options are named at once", () => {
  try {
    sessionTools({ maxPageChars: 1, timeoutMs: 0 });
    expect.unreachable();
  } catch (error) {
    expect(ConfigurationError.is(error) && error.problems).toHaveLength(2);
  }
});

test("maxPageChars bounds every answer, and previewChars shrinks with it", async () => {
  const tools = bench({ maxPageChars: 1_000 });
  for (let index = 0; index < 30; index++) await tools.say("words ".repeat(1_000));
  const { text } = await tools.use("history");
  expect(text.length).toBeLessThanOrEqual(1_000);
  expect(proposed(text, "[cut: ")).toEqual({ at: 30, offset: 250 });
  expect((await tools.use("history", { at: 1 })).page).toHaveLength(1_000);
});

test("by default a page has 20,000 characters and a preview 2,000", async () => {
  const tools = bench();
  for (let index = 0; index < 30; index++) await tools.say("words ".repeat(10_000));
  const { text } = await tools.use("history");
  expect(text.length).toBeLessThanOrEqual(20_000);
  expect(proposed(text, "[cut: ")).toMatchObject({ offset: 2_000 });
  expect((await tools.use("history", { at: 1 })).page).toHaveLength(20_000);
});

test.each([
  ["history", { lastN: 0 }],
  ["history", { lastN: 101 }],
  ["history", { before: 1.5 }],
  ["history", { at: 1, offset: -1 }],
  ["history", { at: 2 ** 53 }],
  ["search", { query: "" }],
  ["search", { query: "x".repeat(501) }],
  ["search", { query: "x", maxResults: 51 }],
  ["search", {}],
])("%s refuses %j", async (name, input) => {
  expect((await bench().use(name, input)).isError).toBe(true);
});

test("the tools change nothing, and say so", () => {
  const { tools } = bench();
  expect(tools.map(({ name, readOnly }) => [name, readOnly])).toEqual([
    ["session_list", true],
    ["session_history", true],
    ["session_search", true],
  ]);
});

test("an agent can be built with the plugin alone", async () => {
  const agent = new ReActAgent({ name: "a", model: scriptedModel([]), plugins: [sessionTools()] });
  await agent.ready();
  await agent.close();
});
