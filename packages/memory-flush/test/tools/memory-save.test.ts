import { characterEstimate, InMemoryFilesystem, StoreUnavailableError } from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import { searchWords } from "@holdfast/core/plugin-kit/search";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { notesIn } from "../../src/search/note-reader.js";
import { ada, memoryBench } from "./memory-bench.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 3_000 : 50;
const DAY = "memory/2026-03-05.md";

test("a fact is in the notes of the day, under a heading that names the session, and in MEMORY.md", async () => {
  const bench = memoryBench();
  const { text, isError } = await bench.save("  Ada likes green tea.\n");
  expect(isError).toBe(false);
  expect(await bench.read(DAY)).toBe(
    '\n## 2026-03-05T10:00:00.000Z saved in session "one"\n\n- Ada likes green tea.\n',
  );
  expect(await bench.read("MEMORY.md")).toBe("- Ada likes green tea.\n");
  expect(text).toBe(
    `Saved to ${DAY} and MEMORY.md: it is known from the next step on.\n- Ada likes green tea.`,
  );
  expect(bench.saves).toEqual([ada]);
});

test("a list becomes several notes, other lines go with the one before", async () => {
  const bench = memoryBench();
  await bench.save("* Likes tea\n  and cake\n\n- - Lives in Oslo\n1. first\n2) second");
  expect(await bench.read("MEMORY.md")).toBe(
    "- Likes tea and cake\n- Lives in Oslo\n- 1. first\n- 2) second\n",
  );
});

test("what would be a heading, a rule, a fence or another entry is text of the note", async () => {
  const bench = memoryBench();
  await bench.put("MEMORY.md", "# Facts\n\n- one\n");
  await bench.save(
    "# System\u2028## 2026-01-01T00:00:00Z fake\r\n---\n~~~\n<!-- flush x -->\r- # two",
  );
  const saved = await bench.read("MEMORY.md");
  expect(saved.split("\n").filter((line) => /^[^-]/.test(line))).toEqual([
    "# Facts",
    "## Recently saved",
  ]);
  expect(saved).toContain(
    "- \\# System ## 2026-01-01T00:00:00Z fake --- ~~~ <!-- flush x -->\n- \\# two\n",
  );
});

test("further facts go under the same heading, and a file without a final line end is respected", async () => {
  const bench = memoryBench();
  await bench.put("MEMORY.md", "# No longer true\n- old");
  await bench.save("one");
  await bench.save("two");
  expect(await bench.read("MEMORY.md")).toBe(
    "# No longer true\n- old\n\n## Recently saved\n\n- one\n- two\n",
  );
});

test("what MEMORY.md says in the same words is not written again", async () => {
  const bench = memoryBench();
  await bench.put("MEMORY.md", "## Drinks\n* Likes  Green\n  tea.\n* Writes C.\n");
  const { text, isError } = await bench.save("likes “green” tea");
  expect(isError).toBe(false);
  expect(text).toBe("MEMORY.md already says so; nothing was written.");
  expect(await bench.read(DAY)).toBe("");
  expect(bench.saves).toEqual([]);
  await bench.save("- Writes C++.\n- Likes green tea.");
  const saved = await bench.read("MEMORY.md");
  expect(saved.endsWith("## Recently saved\n\n- Writes C++.\n")).toBe(true);
});

describe("nothing is saved of", () => {
  test.each([
    ["nothing", ""],
    ["spaces", " \n\t\u2028 "],
    ["control characters", "\0\u0007\u001b"],
    ["marks of a list", "- \n* -"],
    ["a lone surrogate", "\ud800"],
  ])("%s", async (_, content) => {
    const bench = memoryBench();
    expect(await bench.save(content)).toMatchObject({ isError: true });
    expect(await bench.read(DAY)).toBe("");
    expect(bench.saves).toEqual([]);
  });

  test("more than 2,000 characters, and the refusal says how many there are", async () => {
    const bench = memoryBench();
    const { text, isError } = await bench.save("x".repeat(2_001));
    expect(isError).toBe(true);
    expect(text).toContain("2001 characters");
    expect(await bench.read(DAY)).toBe("");
    expect(await bench.save(` ${"x".repeat(2_000)} `)).toMatchObject({ isError: false });
  });
});

test("a MEMORY.md that is full stays as it is; the notes have the fact and it will be merged", async () => {
  const bench = memoryBench({ maxTokens: 20 });
  await bench.put("MEMORY.md", "- A first fact about Ada.\n");
  const { text } = await bench.save(
    "A second fact about Ada which is somewhat longer than the first.",
  );
  expect(text).toContain("MEMORY.md is full, so it will be merged into it later");
  expect(await bench.read("MEMORY.md")).toBe("- A first fact about Ada.\n");
  expect(await bench.read(DAY)).toContain("- A second fact about Ada");
  expect(bench.saves).toHaveLength(1);
  expect((await bench.search("somewhat longer")).text).toContain(DAY);
});

/** Fails like a disk that is full, with the contents in the message. */
class FailingFilesystem extends InMemoryFilesystem {
  readonly #fails: (operation: string, path: string) => Error | null;

  constructor(fails: (operation: string, path: string) => Error | null) {
    super();
    this.#fails = fails;
  }

  override async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    this.#check("read", path);
    return super.read(namespace, path);
  }

  override async append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    this.#check("append", path);
    return super.append(namespace, path, bytes);
  }

  #check(operation: string, path: string): void {
    const error = this.#fails(operation, path);
    if (error !== null) throw error;
  }
}

function diskFull(): Error {
  return Object.assign(new Error("ENOSPC: secret contents of the file"), { code: "ENOSPC" });
}

describe("when a file cannot be used", () => {
  test.each(["read", "append"])(
    "to %s MEMORY.md: the notes have the fact, and the answer says so",
    async (failing) => {
      const filesystem = new FailingFilesystem((operation, path) =>
        operation === failing && path === "MEMORY.md" ? diskFull() : null,
      );
      const bench = memoryBench({ filesystem });
      const { text, isError } = await bench.save("Likes tea.");
      expect(isError).toBe(false);
      expect(text).toContain(`Saved to ${DAY}, so it is kept`);
      expect(text).toContain("could not be added to MEMORY.md (ENOSPC)");
      expect(text).not.toContain("secret");
      expect(await bench.read(DAY)).toContain("- Likes tea.");
      expect(bench.saves).toHaveLength(1);
    },
  );

  test("the notes: nothing is written, and a raw error is told without what it says", async () => {
    const filesystem = new FailingFilesystem((operation) =>
      operation === "append" ? diskFull() : null,
    );
    const bench = memoryBench({ filesystem });
    const { text, isError } = await bench.save("Likes tea.");
    expect(isError).toBe(true);
    expect(text).toContain("memory_save failed (ENOSPC)");
    expect(text).not.toContain("secret");
    expect(await bench.read("MEMORY.md")).toBe("");
    expect(bench.saves).toEqual([]);
  });

  test("errors of ours are told in their own words, by all tools", async () => {
    const filesystem = new FailingFilesystem(() => new StoreUnavailableError("the store is away"));
    const bench = memoryBench({ filesystem });
    for (const [name, answer] of [
      ["memory_save", await bench.save("tea")],
      ["memory_search", await bench.search("tea")],
      ["memory_get", await bench.get("MEMORY.md")],
    ] as const) {
      expect(answer.isError).toBe(true);
      expect(answer.text).toBe(`${name}: the store is away.`);
    }
  });

  test("raw errors of the reading tools are told without what they say", async () => {
    const filesystem = new FailingFilesystem(() => diskFull());
    const bench = memoryBench({ filesystem });
    for (const { text, isError } of [await bench.search("tea"), await bench.get("MEMORY.md")]) {
      expect(isError).toBe(true);
      expect(text).toContain("ENOSPC");
      expect(text).not.toContain("secret");
    }
  });
});

/** What a model might write, and what it should not. */
const contents = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.lorem({ maxCount: 4 }),
      fc.constantFrom(
        "\n",
        "\r",
        "\u2028",
        "# ",
        "## ",
        "- ",
        "* ",
        "---",
        "```",
        "~~~",
        "<!--",
        "-->",
      ),
      fc.constantFrom(
        "用户喜欢茶",
        "猫を飼う",
        "Любит чай",
        "Grüße",
        "ǰ J\u030c",
        "👩‍💻",
        "\ud800",
        "\0",
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("whatever is saved", () => {
  const before = "# Facts\n\n- one zebra\n  goes on\n\nA paragraph.\n\n## More\n\n1. two";
  const lineEnds = /[\n\r\v\f\u0085\u2028\u2029]/;
  const ours = /^(?:|- .*|## Recently saved|## 2026-03-05T10:00:00\.000Z saved in session "one")$/;

  test("notes and headings that were there stay, and nothing but notes is added", async () => {
    await fc.assert(
      fc.asyncProperty(contents, contents, async (first, second) => {
        const bench = memoryBench({ maxTokens: 1_000_000 });
        await bench.put("MEMORY.md", before);
        await bench.put(DAY, before);
        await bench.save(first);
        await bench.save(second);
        for (const path of ["MEMORY.md", DAY]) {
          const text = await bench.read(path);
          expect(text.startsWith(before)).toBe(true);
          expect(notesIn(text).slice(0, 3)).toEqual(notesIn(before));
          const added = text.slice(before.length).split(lineEnds);
          expect(added.filter((line) => !ours.test(line))).toEqual([]);
          expect(/[\p{Surrogate}\ufffd\0]/u.test(text)).toBe(/\ufffd/.test(first + second));
        }
      }),
      { numRuns: runs },
    );
  });

  test("every word of it is found, and saving it again writes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(contents, async (content) => {
        const bench = memoryBench({ maxTokens: 1_000_000 });
        const { isError } = await bench.save(content);
        fc.pre(!isError);
        for (const word of searchWords(content, "all")) {
          const { text } = await bench.search(word);
          expect(text, `the word ${JSON.stringify(word)}`).toMatch(/^MEMORY\.md:\d+: /);
        }
        const notes = await bench.read(DAY);
        expect((await bench.save(content)).text).toContain("already says so");
        expect(await bench.read(DAY)).toBe(notes);
      }),
      { numRuns: runs, examples: [["用户喜欢茶\u0f71\u0f80"]] },
    );
  });
});

describe("whose memory it is", () => {
  const berta = { userId: "berta", sessionId: "one" };
  const nobody = { userId: null, sessionId: "one" };
  const nobodyElse = { userId: null, sessionId: "two" };

  test("two users never see each other's, whatever the session", async () => {
    const bench = memoryBench();
    await bench.save("Ada likes tea.");
    for (const caller of [berta, nobody, { userId: null, sessionId: "ada" }]) {
      expect((await bench.search("tea", caller)).text).toContain("No note");
      expect((await bench.get("MEMORY.md", {}, caller)).text).not.toContain("tea");
      expect((await bench.get(DAY, {}, caller)).isError).toBe(true);
    }
    await bench.save("Berta likes tea.", berta);
    expect((await bench.search("tea", berta)).text).toBe("MEMORY.md:1: Berta likes tea.");
    expect((await bench.search("tea")).text).toBe("MEMORY.md:1: Ada likes tea.");
  });

  test("a user has one memory in all sessions; without a user it is the session's", async () => {
    const bench = memoryBench();
    await bench.save("Ada likes tea.");
    expect((await bench.search("tea", { userId: "ada", sessionId: "two" })).text).toContain("Ada");
    await bench.save("Somebody likes tea.", nobody);
    expect((await bench.search("tea", nobody)).text).toContain("Somebody");
    expect((await bench.search("tea", nobodyElse)).text).toContain("No note");
  });

  test("what is saved in a session with a strange name stays under one heading", async () => {
    const bench = memoryBench();
    const sessionId = "a\n## b\u2028## c\u0085";
    await bench.save("Likes tea.", { userId: "ada", sessionId });
    const lines = (await bench.read(DAY)).split(/[\n\r\u2028\u2029\u0085]/);
    expect(lines.filter((line) => line.startsWith("#"))).toHaveLength(1);
  });
});

test("only memory_save changes something", () => {
  const { tools } = memoryBench();
  expect(tools.map(({ name, readOnly }) => [name, readOnly])).toEqual([
    ["memory_search", true],
    ["memory_get", true],
    ["memory_save", false],
  ]);
});

describe("calls of one step that run at once", () => {
  test("save the same fact once", async () => {
    const bench = memoryBench();
    await bench.put("MEMORY.md", "# Facts\n\n- one\n");
    await Promise.all(Array.from({ length: 10 }, () => bench.save("Likes tea.")));
    expect(await bench.read("MEMORY.md")).toBe(
      "# Facts\n\n- one\n\n## Recently saved\n\n- Likes tea.\n",
    );
    expect((await bench.read(DAY)).match(/- Likes tea/g)).toHaveLength(1);
  });

  test("do not make MEMORY.md longer than it may be", async () => {
    const bench = memoryBench({ maxTokens: 1_000 });
    const facts = Array.from({ length: 20 }, (_, n) => `fact ${n} ${"and so on ".repeat(100)}`);
    await Promise.all(facts.map((fact) => bench.save(fact)));
    const counter = characterEstimate();
    expect(counter.countText(await bench.read("MEMORY.md"))).toBeLessThanOrEqual(1_000);
    for (const n of facts.keys()) expect(await bench.read(DAY)).toContain(`- fact ${n} `);
  });
});

test("a day's notes end at 256 KB, also for a model that saves and saves", async () => {
  const bench = memoryBench({ maxTokens: 100 });
  await bench.put(DAY, "- a note\n".repeat(30_000));
  const before = await bench.read(DAY);
  const { text, isError } = await bench.save("One more.");
  expect(isError).toBe(true);
  expect(text).toContain("full");
  expect(await bench.read(DAY)).toBe(before);
  expect(bench.saves).toEqual([]);
});
