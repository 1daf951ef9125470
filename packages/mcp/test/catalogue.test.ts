import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanText } from "../src/catalogue/clean-text.js";
import { ToolNames } from "../src/catalogue/tool-names.js";

const nasty = fc.oneof(
  fc.string({ minLength: 1, unit: "binary" }),
  fc.constantFrom("a.b", "a_b", "a/b", "read", "b_read", "x".repeat(80), `${"x".repeat(79)}y`),
);

describe("names of tools", () => {
  test("a good one is the prefix and the tool's own name", () => {
    expect(new ToolNames().nameOf("files", "files_", "read-file")).toBe("files_read-file");
  });

  test("a changed one is the same in every process, whatever else there is", () => {
    const alone = new ToolNames().nameOf("files", "files_", "read.file");
    const names = new ToolNames();
    names.nameOf("files", "files_", "read_file");
    expect(names.nameOf("files", "files_", "read.file")).toBe(alone);
    expect(alone).toMatch(/^files_read_file_[0-9a-f]{6}$/);
  });

  test("all fit, no two are the same, and asking again gives the same", () => {
    const tool = fc.record({
      server: fc.constantFrom("a", "a_b", "c"),
      prefix: fc.constantFrom("", "a_", "p".repeat(40)),
      name: nasty,
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(tool, { selector: ({ server, name }) => JSON.stringify([server, name]) }),
        (tools) => {
          const names = new ToolNames();
          const give = () =>
            tools.map(({ server, prefix, name }) => names.nameOf(server, prefix, name));
          const given = give();
          for (const name of given) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          expect(new Set(given).size).toBe(tools.length);
          expect(give()).toEqual(given);
        },
      ),
    );
  });

  test("who comes second does not get the name of who was first, also when that one is gone", () => {
    const names = new ToolNames();
    expect(names.nameOf("a", "a_", "b_c")).toBe("a_b_c");
    names.forget(() => false);
    expect(names.nameOf("a_b", "a_b_", "c")).toMatch(/^a_b_c_[0-9a-f]{6}$/);
  });

  test("of tools that are gone no more are remembered than is reasonable", () => {
    const names = new ToolNames();
    for (let index = 0; index <= 10_000; index++) names.nameOf("a", "", `tool${index}`);
    names.forget((name) => name === "tool1");
    expect(names.nameOf("b", "", "tool0")).toBe("tool0");
    expect(names.nameOf("b", "", "tool1")).not.toBe("tool1");
  });
});

describe("text from a server", () => {
  test("keeps what one can see and loses what one cannot", () => {
    expect(cleanText("  a\tb\r\nc \u001b[1mé日本😀\u200b\u202e\u{e0020}\ud800 ", 100)).toBe(
      "a\tb\nc [1mé日本😀",
    );
  });

  test("is within its bound, well-formed, and cleaning it again changes nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 50 }), (text, max) => {
        const clean = cleanText(text, max);
        expect(clean.length).toBeLessThanOrEqual(max);
        expect(Buffer.from(clean, "utf8").toString("utf8")).toBe(clean);
        expect(cleanText(clean, max)).toBe(clean);
      }),
    );
  });
});
