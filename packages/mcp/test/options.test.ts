import { ConfigurationError } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { mcpTools } from "../src/index.js";

function problemsOf(options: unknown): readonly string[] {
  try {
    mcpTools(options as never);
  } catch (error) {
    if (ConfigurationError.is(error)) return error.problems;
    throw error;
  }
  return [];
}

describe("options", () => {
  test("that are right are taken without any I/O", () => {
    const servers = {
      files: { command: "no-such-program", args: ["a"], env: { A: "b" }, group: "files" },
      "remote-1": { url: "https://mcp.example/path?key=1", headers: { "X-Key": "secret" } },
    };
    expect(mcpTools({ servers }).name).toBe("mcp");
    expect(mcpTools({ servers: {} }).name).toBe("mcp");
  });

  test.each([
    ["no servers", {}, "servers"],
    ["a list of servers", { servers: [] }, "servers"],
    ["a Map of servers", { servers: new Map([["a", { command: "x" }]]) }, "servers"],
    ["a promise of servers", { servers: Promise.resolve({}) }, "servers"],
    ["a name with a space", { servers: { "a b": { command: "x" } } }, 'server "a b"'],
    ["neither command nor url", { servers: { a: {} } }, "either command"],
    [
      "both command and url",
      { servers: { a: { command: "x", url: "http://b" } } },
      "either command",
    ],
    ["another protocol", { servers: { a: { url: "ftp://b" } } }, "http://"],
    ["a typing error", { servers: { a: { command: "x", timeoutMS: 1 } } }, "timeoutMS"],
    ["a time of zero", { servers: { a: { command: "x", timeoutMs: 0 } } }, "timeoutMs is 0"],
    [
      "less time in all than for silence",
      { servers: { a: { command: "x", timeoutMs: 10, maxTimeoutMs: 5 } } },
      "maxTimeoutMs is shorter",
    ],
    ["a prefix with a dot", { servers: { a: { command: "x", prefix: "a." } } }, "prefix"],
    ["headers for a program", { servers: { a: { command: "x", headers: {} } } }, "headers"],
    ["a group without a name", { servers: { a: { command: "x", group: {} } } }, "group"],
  ])("that are wrong are named: %s", (_, options, words) => {
    expect(problemsOf(options).join("\n")).toContain(words);
  });

  test("that are wrong are all named at once, and what may be secret is not shown", () => {
    const problems = problemsOf({
      servers: {
        a: { command: "x", args: ["--token", "hunter2", 3], env: { TOKEN: ["hunter2"] } },
        b: { url: "https://ann:hunter2@mcp.example" },
        c: { url: "mcp.example/hunter2" },
        d: { url: "http://mcp.example", headers: { Authorization: "hunter2\nX: y" } },
        e: { url: "http://mcp.example", headers: "hunter2" },
        f: { command: "x", env: "hunter2" },
      },
    });
    expect(problems).toHaveLength(7);
    expect(problems.join("\n")).not.toContain("hunter2");
  });
});
