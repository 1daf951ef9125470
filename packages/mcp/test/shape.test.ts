import { fileURLToPath } from "node:url";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import type { McpServerChange, McpStdioServerOptions } from "../src/index.js";
import { quick } from "./support/servers.js";
import { said, toolUser } from "./support/tool-user.js";

const odd = fileURLToPath(new URL("./fixtures/odd-server.mjs", import.meta.url));

/** A server with answers of its own; see the file. */
function oddServer(
  answers: Readonly<Record<string, string>>,
  limits: Partial<McpStdioServerOptions> = {},
): McpStdioServerOptions {
  const args = [odd, JSON.stringify(answers)];
  return { command: process.execPath, args, retry: quick, ...limits };
}

const deep = (levels: number): string => `'['.repeat(${levels}) + ']'.repeat(${levels})`;
const schema = `inputSchema: { type: "object" }`;

type Connected = Extract<McpServerChange, { type: "connected" | "tools_changed" }>;

/** Tools that the agent got from a list, and those it did not. */
async function listed(
  list: string,
  limits: Partial<McpStdioServerOptions> = {},
): Promise<Connected> {
  const server = oddServer({ "tools/list": list }, limits);
  await using user = toolUser({ servers: { odd: server } });
  await user.agent.ready();
  const [change] = user.changes;
  expect(change).toMatchObject({ type: "connected" });
  return change as Connected;
}

describe("a list of tools", () => {
  test("with things that are no tools loses only those", async () => {
    const tools = `[null, 42, "x", [], { name: "" }, { name: 7, ${schema} }, { name: "no_schema" }, { name: "good", ${schema} }]`;
    const { tools: names, leftOut } = await listed(`{ result: { tools: ${tools} } }`);
    expect(names).toEqual(["odd_good"]);
    expect(leftOut).toEqual([{ name: "(7)", reason: "not a valid MCP tool definition" }]);
  });

  test("with absurd names, texts and schemas is cut to what a model can be shown", async () => {
    const tools = `[
      { name: "n".repeat(1001), ${schema} },
      { name: "\\u0000\\u202e long ".repeat(50), title: "t".repeat(1e6), ${schema} },
      { name: "wide", inputSchema: { type: "object", properties: Object.fromEntries(Array.from({ length: 5000 }, (_, i) => ["p" + i, {}])) } },
      { name: "array", inputSchema: { type: "array" } },
      { name: "good", description: 42, ${schema} },
    ]`;
    const { tools: names, leftOut } = await listed(`{ result: { tools: ${tools} } }`);
    expect(names).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(leftOut).toEqual([
      { name: "(1)", reason: "not a valid MCP tool definition" },
      { name: "array", reason: "its input is not an object" },
      { name: "wide", reason: "its input schema has more than 32000 characters" },
    ]);
  });

  test.each([
    [100, "deeper", "its input schema is nested deeper than 64 levels"],
    [100_000, "(1)", "not a valid MCP tool definition"],
  ])("with a schema of %i levels loses that tool", async (levels, name, reason) => {
    const tools = `'"result":{"tools":[{"name":"good","inputSchema":{}},{"name":"deeper","inputSchema":{"type":"object","x":' + ${deep(levels)} + '}}]}}'`;
    const { tools: names, leftOut } = await listed(tools);
    expect(names).toEqual(["odd_good"]);
    expect(leftOut).toEqual([{ name, reason }]);
  });

  test("without end is cut, and the listener is told", async () => {
    const page = (chars: number): string =>
      `{ result: { tools: [{ name: "tool" + (params.cursor ?? "0"), description: "d".repeat(${chars}), ${schema} }], nextCursor: String(Number(params.cursor ?? 0) + 1) } }`;
    const pages = await listed(page(10));
    expect(pages.tools).toHaveLength(65);
    expect(pages.leftOut).toEqual([
      { name: "(the rest)", reason: "its list has more than 64 pages" },
    ]);
    const large = await listed(page(10_000), { maxMessageBytes: 50_000 });
    expect(large.tools).toHaveLength(4);
    expect(large.leftOut).toEqual([
      { name: "(the rest)", reason: "its list has more than 50000 characters" },
    ]);
    const tools = `Array.from({ length: 6000 }, (_, i) => ({ name: "t" + i, ${schema} }))`;
    const many = await listed(`{ result: { tools: ${tools} } }`, { maxTools: 2 });
    expect(many.tools).toHaveLength(2);
    expect(many.leftOut[0]).toEqual({
      ...{ name: "(the rest)", reason: "its list has more than 5000 tools" },
    });
  });

  test.each([
    ["tools/list", `{ result: { tools: "none" } }`],
    ["tools/list", `{ result: "none" }`],
    ["tools/list", `{ wrong: true }`],
    ["initialize", `{ result: { protocolVersion: 7 } }`],
    ["initialize", `{ result: [] }`],
  ])(
    "or a handshake that is no MCP (%s: %s) is said to be none, at once",
    async (method, source) => {
      await using user = toolUser({ servers: { odd: oddServer({ [method]: source }) } });
      await user.agent.ready();
      expect(user.changes[0]).toMatchObject({
        ...{ type: "away", reason: "answered with something that is not MCP" },
      });
    },
  );
});

describe("a result", () => {
  test.each([
    ["that is a text", `{ result: "done" }`, /answered with something that is not MCP/],
    ["that is a list", `{ result: [] }`, /answered with something that is not MCP/],
    ["that is missing", `{ extra: 1 }`, /answered with something that is not MCP/],
    ["with an odd error", `{ error: "no" }`, /answered with something that is not MCP/],
    ["with odd content", `{ result: { content: "done" } }`, /whose content is not a list/],
  ])("%s is an error that says so, at once", async (_, source, says) => {
    await using user = toolUser({ servers: { odd: oddServer({ act: source }) } });
    const result = await user.use("odd_act");
    expect(result.state).toBe("error");
    expect(said(result)).toMatch(says);
    expect(said(result)).toContain("look before you call it again");
    expect(said(await user.use("odd_echo", { text: "next" }))).toBe("next");
  });

  test("that is nested without end is left out, and said so", async () => {
    const source = `'"result":{"content":[],"structuredContent":{"x":' + ${deep(100_000)} + '}}}'`;
    await using user = toolUser({ servers: { odd: oddServer({ act: source }) } });
    expect(said(await user.use("odd_act"))).toContain("nested too deep; it was left out");
    expect(said(await user.use("odd_echo", { text: "next" }))).toBe("next");
  });

  test("of more items than a state should hold is cut, and said so", async () => {
    const source = `{ result: { content: Array(100_000).fill({ type: "text", text: "" }) } }`;
    await using user = toolUser({ servers: { odd: oddServer({ act: source }) } });
    const result = await user.use("odd_act");
    expect(result.output).toHaveLength(1_001);
    expect(said(result)).toContain("The server sent 99000 items of content more; it was left out.");
  });

  test("that nobody asked for changes nothing", async () => {
    const others = [
      `{"jsonrpc":"2.0","id":"nobody","result":5}`,
      `{"jsonrpc":"2.0","id":99,"result":{}}`,
      "[1,2]",
      "null",
      `"x"`,
    ];
    const source = `${JSON.stringify([`"result":{"content":[]}}`, ...others])}.join(String.fromCharCode(10))`;
    await using user = toolUser({ servers: { odd: oddServer({ act: source }) } });
    expect(said(await user.use("odd_act"))).toBe("(no output)");
    await eventually(() => user.changes.length === 1);
    expect(said(await user.use("odd_echo", { text: "next" }))).toBe("next");
  });
});
