import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { globMatcher } from "../../src/tools/glob-pattern.js";
import { put, SharingFilesystem, toolBench } from "./tool-bench.js";

describe("a glob pattern", () => {
  test.each<[pattern: string, matches: string[], others: string[]]>([
    ["*.md", ["a.md", ".md"], ["a/b.md", "a.mdx"]],
    ["**/*.md", ["a.md", "a/b.md", "a/b/c.md"], ["a.txt"]],
    ["a/**", ["a/b", "a/b/c"], ["a", "ab/c"]],
    ["**", ["a", "a/b"], []],
    ["a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["az", "a/bz"]],
    ["a**b", ["ab", "axxb"], ["a/b"]],
    ["?.txt", ["a.txt", "🌤.txt"], ["ab.txt", "/.txt", ".txt"]],
    ["[a-c]", ["a", "c"], ["d", "-"]],
    ["[!a-c]", ["d", "-"], ["a", "/"]],
    ["[]a]", ["]", "a"], ["b"]],
    ["x[+-9]y", ["x.y", "x5y"], ["x/y"]],
    ["x[/]y", [], ["x/y"]],
    ["{a,b{c,d}}.md", ["a.md", "bc.md", "bd.md"], ["b.md", "a,b.md"]],
    ["{a/b,c}/x", ["a/b/x", "c/x"], ["a/x"]],
    ["{**/x,y}", ["x", "q/x", "y"], ["q/y"]],
    ["{a,b", ["{a,b"], ["a"]],
    ["a,b}", ["a,b}"], ["a"]],
    ["[a", ["[a"], ["a"]],
    ["\\*", ["*"], ["a"]],
    ["a.c", ["a.c"], ["abc"]],
    ["$&+(x)", ["$&+(x)"], []],
  ])("%s", (pattern, yes, no) => {
    const matches = globMatcher(pattern);
    for (const path of yes) expect([path, matches(path)]).toEqual([path, true]);
    for (const path of no) expect([path, matches(path)]).toEqual([path, false]);
  });

  test("matches what a naive matcher matches", () => {
    const piece = fc.constantFrom("a", "b", ".", "?", "*", "[ab]", "[!a]", "{a,b}", "{b,,a*}");
    const name = fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
    // Stars side by side mean something else.
    const segment = fc.oneof(
      fc.constant("**"),
      name.filter((text) => !text.includes("**") && !text.includes("*{") && !text.includes("}*")),
    );
    const pattern = fc
      .array(segment, { minLength: 1, maxLength: 4 })
      .map((segments) => segments.join("/"));
    const path = fc
      .array(fc.constantFrom("a", "b", "ab", "ba.b", "bab", "."), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join("/"));
    fc.assert(
      fc.property(pattern, path, (glob, tested) => {
        const expected = expand(glob).some((each) =>
          matchesSegments(each.split("/"), tested.split("/")),
        );
        expect(globMatcher(glob)(tested)).toBe(expected);
      }),
      { numRuns: 3_000 },
    );
  });

  test("takes no exponential time, however it is nested", () => {
    for (const glob of [
      "{".repeat(900),
      "{a,".repeat(300),
      "{[}]".repeat(200),
      `${"*a".repeat(400)}b`,
    ])
      expect(globMatcher(glob)("a".repeat(2_000))).toBe(false);
    expect(() => globMatcher("a".repeat(1_001))).toThrow("1000 characters");
  });
});

test("glob_files finds files below a path, the shared ones included", async () => {
  const filesystem = await new SharingFilesystem().share("knowledge/deep/c.md", "shared");
  const bench = toolBench({ filesystem, virtual: { "skills/x/SKILL.md": "given" } });
  for (const path of ["a.md", "notes/b.md", "notes/b.txt"]) await put(filesystem, path, "");
  const glob = async (input: object) => (await bench.use("glob_files", input)).text;
  expect(await glob({ pattern: "**/*.md" })).toBe(
    "a.md\nknowledge/deep/c.md\nnotes/b.md\nskills/x/SKILL.md",
  );
  expect(await glob({ pattern: "*.md", path: "notes" })).toBe("notes/b.md");
  expect(await glob({ pattern: "b.*", path: "notes/b.txt" })).toBe("notes/b.txt");
  expect(await glob({ pattern: "*.pdf" })).toBe("No file matches.");
  expect((await bench.use("glob_files", { pattern: "*", path: "../x" })).isError).toBe(true);
});

test("glob_files and list_files say how much they left out", async () => {
  const bench = toolBench();
  for (let index = 0; index < 510; index++) await put(bench.filesystem, `d/${index}.txt`, "");
  for (const [name, input] of [
    ["glob_files", { pattern: "**" }],
    ["list_files", { path: "d" }],
  ] as const) {
    const rows = (await bench.use(name, input)).text.split("\n");
    expect([rows.length, rows.at(-1)]).toEqual([501, expect.stringContaining("and 10 more")]);
  }
});

test("list_files shows one level, files with sizes and directories with what is in them", async () => {
  const filesystem = await new SharingFilesystem().share("knowledge/k.md", "1234");
  await filesystem.share("AGENTS.md", "12");
  const bench = toolBench({ filesystem, virtual: { "skills/x/SKILL.md": "given" } });
  for (const path of ["b.txt", "notes/a.md", "notes/deep/b.md"]) await put(filesystem, path, "123");
  const list = async (path?: string) => (await bench.use("list_files", { path })).text;
  expect(await list()).toBe(
    "AGENTS.md (2 bytes)\nb.txt (3 bytes)\nknowledge/ (1 file)\nnotes/ (2 files)\nskills/ (1 file)",
  );
  expect(await list("notes/")).toBe("a.md (3 bytes)\ndeep/ (1 file)");
  expect(await list("b.txt")).toBe("b.txt (3 bytes)");
  expect((await bench.use("list_files", { path: "none" })).isError).toBe(true);
  expect((await toolBench().use("list_files", {})).text).toBe("The workspace is empty.");
});

/** All patterns without braces that a pattern stands for. */
function expand(glob: string): string[] {
  const found = /\{([^{}]*)\}/.exec(glob);
  if (found === null) return [glob];
  const [before, after] = [glob.slice(0, found.index), glob.slice(found.index + found[0].length)];
  return (found[1] ?? "").split(",").flatMap((each) => expand(`${before}${each}${after}`));
}

function matchesSegments(glob: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = glob;
  if (first === undefined) return path.length === 0;
  if (first === "**" && rest.length === 0) return path.length > 0;
  if (first === "**") return path.some((_, index) => matchesSegments(rest, path.slice(index)));
  const [name, ...names] = path;
  return name !== undefined && matchesName(first, name) && matchesSegments(rest, names);
}

/** Tries everything. */
function matchesName(glob: string, name: string): boolean {
  const token = /^(\[!?[^\]]*\]|.)/.exec(glob)?.[0];
  if (token === undefined) return name === "";
  const rest = glob.slice(token.length);
  if (token === "*")
    return Array.from({ length: name.length + 1 }, (_, at) => name.slice(at)).some((end) =>
      matchesName(rest, end),
    );
  if (name === "") return false;
  const character = name.charAt(0);
  const isOne =
    token === "?" ||
    (token.startsWith("[!")
      ? !token.slice(2, -1).includes(character)
      : token.startsWith("[")
        ? token.slice(1, -1).includes(character)
        : token === character);
  return isOne && matchesName(rest, name.slice(1));
}
