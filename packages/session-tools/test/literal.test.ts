import { assistantMessage, userMessage } from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";
import { expect, test } from "vitest";
import { bench, proposed } from "./bench.js";

test("takes no character for a pattern, and no case for a difference", async () => {
  const tools = bench();
  await tools.say("a.*b (c) [d] $& \\n |");
  for (const query of [".*", "(C)", "[D]", "$&", "\\n", "|"])
    expect((await tools.use("search", { query, exact: true })).text).toContain(
      `»${query.toLowerCase()}«`,
    );
});

test("finds lines of code in the input of a tool, where JSON writes them differently", async () => {
  const tools = bench();
  const input = { text: 'if (a)\n\treturn "b";' };
  const call = { type: "tool_call" as const, id: "c", name: "write_file", input };
  const at = await tools.say(assistantMessage([call]));
  const { text } = await tools.use("search", { query: 'if (a)\n\treturn "b"', exact: true });
  expect(text).toContain('»if (a)\\n\\treturn \\"b\\"«');
  expect(proposed(text, "read it: ")).toEqual({ at, offset: 0 });
});

test("shows the log's own words where a match goes over the border of two blocks", async () => {
  const tools = bench();
  const at = await tools.say(
    userMessage([
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ]),
  );
  const { text } = await tools.use("search", { query: "ONE\nTWO", exact: true });
  expect(text).toContain("»one two«");
  expect(proposed(text, "read it: ")).toEqual({ at, offset: 0 });
});

test("finds a match that lies on the border of two stretches of a long text", async () => {
  for (const shift of [0, 1, 5, 6, 7]) {
    const tools = bench();
    await tools.say(`${"x".repeat(16_384 - shift)}needle${"y".repeat(80_000)}`);
    const { text } = await tools.use("search", { query: "NEEDLE", exact: true });
    expect(text).toMatch(/…x+»needle«y+…/);
    expect(proposed(text, "read it: ")).toEqual({ at: 1, offset: 16_384 - shift - 200 });
  }
});

test("shows about 240 characters and never half a character", async () => {
  const tools = bench();
  await tools.say(`${"😀".repeat(999)}needle${"😀".repeat(999)}`);
  await tools.say(`x${"😀".repeat(999)}needle${"😀".repeat(999)}`);
  const { text } = await tools.use("search", { query: "needle", exact: true });
  for (const [, snippet = ""] of text.matchAll(/^ {2}(…?[x😀]+»needle«.*)$/gmu)) {
    expect(snippet.length).toBeGreaterThan(230);
    expect(snippet.length).toBeLessThan(260);
    for (let index = 1; index < snippet.length; index++)
      if (cutIndex(snippet, index) === index)
        expect(snippet[index]).not.toMatch(/^[\udc00-\udfff]$/);
  }
});

test("marks a query that is longer than a snippet", async () => {
  const tools = bench();
  const query = "long ".repeat(100);
  await tools.say(`before ${query} after`);
  const { text } = await tools.use("search", { query, exact: true });
  expect(text).toMatch(/^ {2}…»long (long )+…«…$/m);
  expect(text.length).toBeLessThan(600);
});
