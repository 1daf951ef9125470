import type { Model } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import {
  DefinitionFiles,
  type DefinitionFilesOptions,
} from "../../src/definitions/definition-files.js";
import { SharedFolder } from "./shared-folder.js";

const fast = scriptedModel([], { id: "fast" });
const models: Readonly<Record<string, Model>> = { fast, "very-smart": scriptedModel([]) };

function filesOf(
  shared: SharedFolder | undefined,
  options: Partial<DefinitionFilesOptions> = {},
): DefinitionFiles {
  return new DefinitionFiles({ shared, directory: "subagents", models, taken: [], ...options });
}

/** Reads one definition, `subagents/reviewer.md`. */
function read(content: string | Uint8Array) {
  return filesOf(new SharedFolder({ "subagents/reviewer.md": content })).read();
}

/** Problems of a definition with this front matter. */
async function problemsOf(front: string): Promise<readonly string[]> {
  const { definitions, problems } = await read(`---\n${front}\n---\nYou review.`);
  expect(definitions).toEqual([]);
  expect(new Set(problems.map(({ file }) => file))).toEqual(new Set(["subagents/reviewer.md"]));
  return problems.map(({ problem }) => problem);
}

const plain = "---\ndescription: Reviews.\n---\nYou review.\n";

describe("a file", () => {
  test("defines an agent of its name, with all that it says", async () => {
    const { definitions, problems } = await read(
      [
        ...["---", "name: reviewer", "description: Reviews code.", "model: fast", "steps: 4"],
        ...["tools: [read_file, files_*]", "repeatable: true", "hidden: true", "---"],
        ...["", "# You review", "", "--- is no end here", "---", "Be strict.", ""],
      ].join("\n"),
    );
    expect(problems).toEqual([]);
    expect(definitions).toEqual([
      {
        name: "reviewer",
        description: "Reviews code.",
        systemPrompt: "# You review\n\n--- is no end here\n---\nBe strict.",
        model: fast,
        tools: ["read_file", "files_*"],
        maxIterations: 4,
        repeatable: true,
        hidden: true,
      },
    ]);
    expect(definitions[0]?.model).toBe(fast);
  });

  test("needs no more than a description", async () => {
    expect(await read("---\ndescription: Reviews.\n---")).toEqual({
      definitions: [{ name: "reviewer", description: "Reviews." }],
      problems: [],
    });
  });

  test.each([
    ["tools: read_file, files_*", ["read_file", "files_*"]],
    ["tools:\n  - read_file\n  - '*_list'", ["read_file", "*_list"]],
    ["tools: read_file", ["read_file"]],
    ["tools: []", []],
  ])("names tools in a list or with commas: %j", async (field, tools) => {
    const { definitions, problems } = await read(`---\ndescription: d\n${field}\n---\n`);
    expect(problems).toEqual([]);
    expect(definitions[0]?.tools).toEqual(tools);
  });

  test("may say maxIterations in place of steps", async () => {
    const { definitions } = await read("---\ndescription: d\nmaxIterations: 7\n---\n");
    expect(definitions[0]?.maxIterations).toBe(7);
  });

  test("that is too large is not even read", async () => {
    const shared = new SharedFolder({ "subagents/a.md": "x".repeat(262_145) });
    expect((await filesOf(shared).read()).problems).toHaveLength(1);
    expect(shared.reads).toEqual([]);
  });

  test("may begin with a byte order mark and have lines that end with CR LF", async () => {
    const text = `\ufeff${plain}Twice.\n`;
    const { definitions } = await read(text.replaceAll("\n", "\r\n"));
    expect(definitions).toEqual([
      { name: "reviewer", description: "Reviews.", systemPrompt: "You review.\nTwice." },
    ]);
  });

  test.each([
    ["", [/^description is missing$/]],
    ["description: ' '", [/^description is "": must say when/]],
    ["description: [a]", [/^description is a list: /]],
    [`description: ${"x".repeat(2_001)}`, [/^description is "x+…": /]],
    [
      "description: d\nmodel: fsat",
      [/fsat" is not one of models: there are fast, very-smart; did you mean fast\?$/],
    ],
    [
      "description: d\nmodel: constructor",
      [/"constructor" is not one of models: there are fast, very-smart$/],
    ],
    ["description: d\nmodel: 4", [/^model is 4: /]],
    ["description: d\ntools:", [/^tools is null: must be a list of tool names/]],
    ["description: d\ntools: a,,b", [/^tools.1 is "": must be the name of a tool/]],
    ["description: d\ntools: read file", [/^tools.0 is "read file": must be the name/]],
    ["description: d\ntools: *x", [/alias; write a pattern that begins with \* in quotes$/]],
    ["description: &x fast\nmodel: *x", [/has a YAML alias/]],
    ["description: d\nsteps: 0", [/^steps is 0: /]],
    ["description: d\nmaxIterations: '4'", [/^maxIterations is "4": /]],
    ["description: d\nsteps: 4\nmaxIterations: 4", [/^steps and maxIterations mean the same/]],
    ["description: d\nhidden: yes", [/^hidden is "yes": /]],
    [
      "description: d\nname: other",
      [/^name is "other", but the name of the file makes it "reviewer"$/],
    ],
    ["description: d\nrepeatble: true", [/^unknown field "repeatble"; did you mean repeatable\?$/]],
    [
      "description: d\nmax_iterations: 4",
      [/^unknown field "max_iterations"; did you mean maxIterations\?$/],
    ],
    [
      "description: d\ncolour: red",
      [/^unknown field "colour"; there are name, description, model, tools/],
    ],
    ["description: d\n__proto__: red", [/^unknown field "__proto__"; there are /]],
    ["colour: red\nsteps: x", [/colour/, /description is missing/, /steps is "x"/]],
  ])("with the front matter %j is not used, and every reason is given", async (front, patterns) => {
    const problems = await problemsOf(front);
    expect(problems).toHaveLength(patterns.length);
    for (const [index, pattern] of patterns.entries()) expect(problems[index]).toMatch(pattern);
  });

  test.each([
    "mode: subagent",
    "temperature: 0.5",
    "top_p: 1",
    "workspace: {}",
    "expose_to_user: true",
  ])("that sets %j is told that it is not supported", async (field) => {
    const [key = ""] = field.split(":");
    const problems = await problemsOf(`description: d\n${field}`);
    expect(problems).toEqual([expect.stringMatching(`^${key} is not supported: `)]);
  });

  test.each([
    ["description: a: b", /not valid YAML: line 2: /],
    ["description: d\ndescription: e", /not valid YAML: line 3: .*unique/],
    ["description: !thing d", /not valid YAML: line 2: .*tag/],
    ["description: d\n...\nhidden: true", /not valid YAML: /],
    ["- description", /has no fields/],
    ["[".repeat(16_000), /not valid YAML: line 2: /],
    [`# ${"x".repeat(17_000)}`, /more than 16384 characters/],
  ])("whose front matter is broken, %#, is not used", async (front, pattern) => {
    expect(await problemsOf(front)).toEqual([expect.stringMatching(pattern)]);
  });

  test("that is broken is not quoted", async () => {
    expect(JSON.stringify(await read("---\ndescription: d: secret\n---\nsecret"))).not.toContain(
      "secret",
    );
  });

  test.each([
    ["# Notes\n", /does not begin with a line ---/],
    ["", /does not begin with a line ---/],
    ["---\ndescription: d\n", /no second line ---/],
    [new Uint8Array([0x2d, 0x2d, 0x2d, 0xff]), /not a text in UTF-8/],
    [`${plain}${"x".repeat(262_144)}`, /has 262\d+ bytes, and at most 262144/],
  ])("that is no definition, %#, is not used", async (content, pattern) => {
    const { definitions, problems } = await read(content);
    expect(definitions).toEqual([]);
    expect(problems).toEqual([
      { file: "subagents/reviewer.md", problem: expect.stringMatching(pattern) },
    ]);
  });
});

describe("a directory of definitions", () => {
  test("is one level deep, and other files in it are none", async () => {
    const shared = new SharedFolder({
      "subagents/b.md": plain,
      "subagents/a.md": plain,
      "subagents/below/c.md": plain,
      "subagents/.draft.md": plain,
      "subagents/notes.txt": plain,
      "skills/d.md": plain,
    });
    const { definitions, problems } = await filesOf(shared).read();
    expect(definitions.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(problems).toEqual([]);
  });

  test("may be elsewhere, and need not be there", async () => {
    const shared = new SharedFolder({ "subagents/team/a.md": plain, "subagents/b.md": plain });
    const names = async (directory: string) =>
      (await filesOf(shared, { directory }).read()).definitions.map(({ name }) => name);
    expect(await names("subagents/team")).toEqual(["a"]);
    expect(await names("elsewhere")).toEqual([]);
    const none = { definitions: [], problems: [] };
    expect(await filesOf(undefined).read()).toEqual(none);
    expect(await filesOf(shared, { directory: false }).read()).toEqual(none);
  });

  test("is used as far as it goes: a file with a problem hides no other", async () => {
    const shared = new SharedFolder({
      "subagents/a.md": plain,
      "subagents/b.md": "---\ncolour: red",
      "subagents/c d.md": plain,
      "subagents/-e.md": plain,
      [`subagents/${"f".repeat(65)}.md`]: plain,
      "subagents/g.md": plain,
    });
    const { definitions, problems } = await filesOf(shared).read();
    expect(definitions.map(({ name }) => name)).toEqual(["a", "g"]);
    expect(problems.map(({ file }) => file)).toEqual([
      "subagents/-e.md",
      "subagents/b.md",
      "subagents/c d.md",
      `subagents/${"f".repeat(65)}.md`,
    ]);
    expect(problems[2]?.problem).toContain("cannot be that of an agent");
  });

  test("defines no agent of a name that is taken, in whatever case", async () => {
    const shared = new SharedFolder({
      "subagents/Writer.md": plain,
      "subagents/REVIEWER.md": plain,
      "subagents/writer.md": plain,
    });
    const { definitions, problems } = await filesOf(shared, { taken: ["Reviewer"] }).read();
    expect(definitions.map(({ name }) => name)).toEqual(["Writer"]);
    expect(problems).toEqual(
      ["subagents/REVIEWER.md", "subagents/writer.md"].map((file) => ({
        file,
        problem: "another agent has this name already; rename the file or delete it",
      })),
    );
  });

  test("is read to 200 files, and no further", async () => {
    const shared = new SharedFolder();
    for (let n = 0; n < 203; n++)
      shared.write(`subagents/a${String(n).padStart(3, "0")}.md`, plain);
    const { definitions, problems } = await filesOf(shared).read();
    expect(definitions).toHaveLength(200);
    expect(shared.reads).toHaveLength(200);
    expect(problems).toEqual([
      { file: "subagents", problem: "it has 203 files; those after the first 200 are not read" },
    ]);
  });

  test("costs one listing when nothing has changed, and else one file for each that did", async () => {
    const shared = new SharedFolder({ "subagents/a.md": plain, "subagents/b.md": "broken" });
    const files = filesOf(shared);
    const before = await files.read();
    expect([shared.lists, shared.reads.length]).toEqual([1, 2]);
    expect(await files.read()).toEqual(before);
    expect([shared.lists, shared.reads.length]).toEqual([2, 2]);
    shared.write("subagents/b.md", plain);
    expect((await files.read()).definitions.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(shared.reads.slice(2)).toEqual(["subagents/b.md"]);
    shared.delete("subagents/a.md");
    expect((await files.read()).definitions.map(({ name }) => name)).toEqual(["b"]);
  });

  test("is read again where a file could not be, though it has not changed", async () => {
    class Flaky extends SharedFolder {
      isBroken = true;
      override async read(path: string) {
        if (this.isBroken) throw Object.assign(new Error("secret"), { code: "EACCES" });
        return super.read(path);
      }
    }
    const shared = new Flaky({ "subagents/a.md": plain });
    const files = filesOf(shared);
    expect((await files.read()).problems).toEqual([
      { file: "subagents/a.md", problem: "it cannot be read: EACCES" },
    ]);
    shared.isBroken = false;
    expect((await files.read()).definitions).toHaveLength(1);
  });

  test("may change between the listing and the reading of a file", async () => {
    class Changing extends SharedFolder {
      content: Uint8Array | null = null;
      override async read() {
        return this.content;
      }
    }
    const shared = new Changing({ "subagents/a.md": plain });
    const files = filesOf(shared);
    expect((await files.read()).problems[0]?.problem).toBe(
      "it cannot be read: it is not there any more",
    );
    shared.content = new TextEncoder().encode(plain);
    expect((await files.read()).definitions).toHaveLength(1);
    shared.write("subagents/a.md", "changed");
    shared.content = new Uint8Array(262_145);
    expect((await files.read()).problems[0]?.problem).toContain("has 262145 bytes");
  });

  test("that cannot be listed is an error, and does not look empty", async () => {
    class Broken extends SharedFolder {
      override async list(): Promise<never> {
        throw new Error("EIO");
      }
    }
    await expect(filesOf(new Broken()).read()).rejects.toThrow("EIO");
  });
});
