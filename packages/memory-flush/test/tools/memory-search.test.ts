import { describe, expect, test } from "vitest";
import { memoryBench } from "./memory-bench.js";

const DAY = "memory/2026-03-04.md";

/** Notes as the memory has them after a while, in several languages. */
const memory = `# About Ada

## Travel

- Prefers a window seat on long flights.
- Allergic to peanuts; carries an adrenaline pen.

## Work

- The staging database runs PostgreSQL 16 on host "mercury".
- Deploys happen on Tuesday, never on Friday.

## Deutsch

- Die Kündigungsfrist der Wohnung in Leipzig beträgt drei Monate.
- Frühstückt gern spät und trinkt dazu grünen Tee.

## Русский

- Договор аренды заканчивается в ноябре.
- Любит ещё горячий чай с лимоном.

## 中文

- 用户住在上海浦东新区，喜欢喝龙井茶。
- 下周三去北京出差，住王府井附近的酒店。

## 日本語

- 東京タワーの近くに住んでいて、猫を二匹飼っている。
- 毎朝コーヒーを飲み、納豆は苦手。
`;

async function first(query: string): Promise<string> {
  const bench = memoryBench();
  await bench.put("MEMORY.md", memory);
  return (await bench.search(query)).text.split("\n")[0] ?? "";
}

describe("the best note comes first", () => {
  test.each([
    ["which seat on a flight", "window seat"],
    ["peanut allergy", "peanuts"],
    ["POSTGRESQL host", "mercury"],
    ["when do deploys happen", "Tuesday"],
    ["Kündigungsfrist Wohnung", "drei Monate"],
    ["KÜNDIGUNGSFRIST", "drei Monate"],
    ["Ku\u0308ndigungsfrist", "drei Monate"],
    ["Kündigung", "drei Monate"],
    ["was trinkt sie zum Frühstück, Tee?", "grünen Tee"],
    ["договор", "в ноябре"],
    ["договоры аренды", "в ноябре"],
    ["еще чай", "с лимоном"],
    ["龙井茶", "浦东"],
    ["北京出差", "王府井"],
    ["用户喜欢喝什么茶", "龙井茶"],
    ["酒", "酒店"],
    ["猫", "二匹"],
    ["東京タワー", "猫を二匹"],
    ["ｺｰﾋｰ", "納豆"],
  ])("%s", async (query, expected) => {
    expect(await first(query)).toContain(expected);
  });

  test("words of the heading count, less than those of the note", async () => {
    const bench = memoryBench();
    await bench.put("MEMORY.md", "## Travel\n\n- Window seat.\n\n## Food\n\n- Travel snacks.\n");
    expect((await bench.search("travel")).text.split("\n")).toEqual([
      "MEMORY.md:7: Travel snacks. (under: Food)",
      "MEMORY.md:3: Window seat. (under: Travel)",
    ]);
  });

  test("words that follow each other as in the query are worth more than the same words apart", async () => {
    const bench = memoryBench();
    await bench.put(
      "MEMORY.md",
      "- Flies to New York, shoes.\n- Flies to York, new shoes.\n- Other.",
    );
    expect((await bench.search("new york")).text).toMatch(/^MEMORY\.md:1: /);
  });

  test("a rare word is worth more than a common one", async () => {
    const bench = memoryBench();
    await bench.put(
      "MEMORY.md",
      `${"- The user said something.\n".repeat(3)}- The user likes tea.\n- A zither.\n- The user, the user.\n`,
    );
    expect((await bench.search("the user zither")).text).toMatch(/^MEMORY\.md:5: /);
  });
});

test("among equals MEMORY.md comes first, then newer notes before older ones and the archive", async () => {
  const bench = memoryBench();
  await bench.put("memory/archive/2025-01-01.md", "- tea four");
  await bench.put("memory/2026-03-03.md", "- tea two\n- tea three");
  await bench.put(DAY, "- tea one");
  await bench.put("MEMORY.md", "- tea zero");
  expect((await bench.search("tea")).text.split("\n")).toEqual([
    "MEMORY.md:1: tea zero",
    "memory/2026-03-04.md:1: tea one",
    "memory/2026-03-03.md:2: tea three",
    "memory/2026-03-03.md:1: tea two",
    "memory/archive/2025-01-01.md:1: tea four",
  ]);
});

test("what says the same in the same words is shown once", async () => {
  const bench = memoryBench();
  await bench.put("MEMORY.md", "## Drinks\n\n- Likes green tea.\n");
  await bench.put(
    DAY,
    "\n## 2026-03-04T09:00:00.000Z session\n\n- likes  GREEN tea\n- Likes green tea++\n",
  );
  expect((await bench.search("tea")).text.split("\n")).toEqual([
    "MEMORY.md:3: Likes green tea. (under: Drinks)",
    "memory/2026-03-04.md:5: Likes green tea++",
  ]);
});

test("a word is looked for as the beginning of others only where no note has it as it is", async () => {
  const bench = memoryBench();
  await bench.put(
    "MEMORY.md",
    "- Deployments on Tuesday.\n- The cat sleeps.\n- A category of cats.\n",
  );
  expect((await bench.search("deploy")).text).toBe("MEMORY.md:1: Deployments on Tuesday.");
  const cats = "MEMORY.md:3: A category of cats.\nMEMORY.md:2: The cat sleeps.";
  expect((await bench.search("cat")).text.split("\n").sort()).toEqual(cats.split("\n").sort());
  expect((await bench.search("categ")).text).toBe("MEMORY.md:3: A category of cats.");
  expect((await bench.search("sleepsuit")).text).toBe("MEMORY.md:2: The cat sleeps.");
  expect((await bench.search("categories deploy")).text).toContain("Deployments");
});

test("a misspelt word is taken for the nearest one, words for the same thing are found, and days by their names", async () => {
  const bench = memoryBench();
  await bench.put("memory/2026-03-04.md", "- Dinner with Ann.\n- Her mum lives in Oslo.");
  await bench.put("memory/2026-02-04.md", "- Dinner with Ben.");
  expect((await bench.search("dinnner")).text).toContain('"dinner" was taken for it.');
  expect((await bench.search("Where does her mother live?")).text).toMatch(/^\S+: Her mum lives/);
  expect((await bench.search("Who came to dinner in February?")).text).toMatch(
    /^\S+: Dinner with Ben/,
  );
});

test("the line number leads memory_get to the note", async () => {
  const bench = memoryBench();
  await bench.put(
    DAY,
    "# Day\r\n\r\nA paragraph\r\nof two lines.\r\n\r\n* starred\r\n  goes on\r\n\r\n1. numbered\r\n",
  );
  expect((await bench.search("two paragraph")).text).toMatch(
    /^memory\/2026-03-04\.md:3: A paragraph of two lines\. /,
  );
  expect((await bench.search("goes")).text).toMatch(/:6: starred goes on/);
  expect((await bench.search("numbered")).text).toMatch(/:9: numbered/);
  const { text } = await bench.get(DAY, { startLine: 6, endLine: 7 });
  expect(text).toContain("6| * starred");
});

test("a result is one line, cut around the word, and cannot look like two", async () => {
  const bench = memoryBench();
  await bench.put(
    DAY,
    `- ${"before ".repeat(200)}needle\u2028MEMORY.md:1: fake ${"after ".repeat(200)}\n`,
  );
  const { text } = await bench.search("needle");
  expect(text.split(/[\n\u2028]/)).toHaveLength(1);
  expect(text).toContain("needle MEMORY.md:1: fake");
  expect(text.length).toBeLessThan(500);
});

test("as many results as were asked for, and a word that there may be more", async () => {
  const bench = memoryBench();
  await bench.put(
    DAY,
    Array.from({ length: 60 }, (_, index) => `- tea number ${index}`).join("\n"),
  );
  const { text } = await bench.use("memory_search", { query: "tea", maxResults: 3 });
  expect(text.split("\n")).toHaveLength(4);
  expect(text).toContain("there may be more");
  expect((await bench.search("tea")).text.split("\n")).toHaveLength(11);
});

test("says what else to try when nothing was found, and when there is no word to look for", async () => {
  const bench = memoryBench();
  expect((await bench.search("tea")).text).toContain("session_search");
  await bench.put(DAY, "- coffee");
  expect((await bench.search("tea")).text).toContain("session_search");
  const nothing = await bench.search("?! 🎉️");
  expect(nothing.isError).toBe(true);
  expect(nothing.text).toContain("no word");
});

test("what the last merge replaced is not found", async () => {
  const bench = memoryBench();
  await bench.put("memory/archive/MEMORY-previous.md", "- obsolete fact");
  await bench.put("memory/people.md", "- current fact");
  expect((await bench.search("fact")).text).toBe("memory/people.md:1: current fact");
});

test("headings of entries are no notes, other headings are found even without any below", async () => {
  const bench = memoryBench();
  await bench.put(
    DAY,
    "## 2026-03-04T09:00:00.000Z saved in session zebra\n\n- text\n\n### Moved to Oslo\n",
  );
  expect((await bench.search("zebra")).text).toContain("No note");
  expect((await bench.search("oslo")).text).toBe("memory/2026-03-04.md:5: Moved to Oslo");
});
