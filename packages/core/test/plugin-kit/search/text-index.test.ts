import fc from "fast-check";
import { expect, test } from "vitest";
import { searchWords, TextIndex, type TextSearch } from "../../../src/plugin-kit/search/index.js";
import { YieldingClock } from "../../../src/plugin-kit/yielding-clock.js";

const START = Date.parse("2026-03-01T10:00:00Z");

function indexOf(groups: Readonly<Record<string, readonly string[]>>): TextIndex {
  const index = new TextIndex();
  let day = 0;
  for (const [key, texts] of Object.entries(groups)) {
    const at = START + 40 * 86_400_000 * day++;
    index.add(
      key,
      texts.map((text, position) => ({ position, at: at + position, words: searchWords(text) })),
    );
  }
  return index;
}

async function find(index: TextIndex, query: string, more: Partial<TextSearch> = {}) {
  const clock = new YieldingClock();
  const found = await index.search({ query, limit: 10, clock, ...more });
  return { ...found, places: found.hits.map(({ group, position }) => `${group}:${position}`) };
}

const filler = Array.from({ length: 30 }, (_, n) => `Something else number ${n} about the weather`);

test("a question finds the text with its words in another form", async () => {
  const index = indexOf({
    a: [...filler, "I went to the support group", "We bought two paintings"],
  });
  expect((await find(index, "When did she go to support groups?")).places[0]).toBe("a:30");
  expect((await find(index, "What painting did they buy?")).places[0]).toBe("a:31");
  expect((await find(index, "Welche SUPPORT-Gruppe?")).places[0]).toBe("a:30");
});

test("the answer beside a question is found with it, within its group only", async () => {
  const index = indexOf({ a: ["Where did you go on holiday?", "Oslo"], b: ["Bergen"], c: filler });
  const near = await find(index, "Where was the holiday?", { neighbours: [0.6, 0.36] });
  expect(near.places).toEqual(["a:0", "a:1"]);
  expect((await find(index, "Where was the holiday?")).places).toEqual(["a:0"]);
});

test("a rare word is worth more than a common one, words in the order of the query more than apart", async () => {
  const index = indexOf({ a: [...filler, "a zither", "to York, new shoes", "to New York, shoes"] });
  expect((await find(index, "something about a zither")).places[0]).toBe("a:30");
  expect((await find(index, "new york")).places[0]).toBe("a:32");
});

test("of equal texts the newest comes first", async () => {
  const index = indexOf({
    old: ["tea one"],
    middle: ["tea two"],
    young: ["tea three", "tea four"],
  });
  expect((await find(index, "tea")).places).toEqual(["young:1", "young:0", "middle:0", "old:0"]);
});

test("a misspelt word stands for the nearest known one, and the result says so", async () => {
  const index = indexOf({ a: [...filler, "My zebra likes carrots"] });
  const found = await find(index, "zerba");
  expect(found.places).toEqual(["a:30"]);
  expect(found.words).toEqual([{ text: "zerba", texts: 1, taken: ["zebra"] }]);
  expect(found.isMatch("zebra")).toBe(true);
  const none = await find(index, "xylophone 4711");
  expect(none.places).toEqual([]);
  expect(none.words.map(({ text, texts }) => [text, texts])).toEqual([
    ["xylophone", 0],
    ["4711", 0],
  ]);
});

test("a time that the query names counts for texts of that time", async () => {
  const index = indexOf({
    march: ["dinner with Ann"],
    april: ["dinner with Ben"],
    may: ["dinner with Cid"],
  });
  expect((await find(index, "Who had dinner in April?")).places[0]).toBe("april:0");
});

test("words that mean nearly the same count for less than the word itself", async () => {
  const index = indexOf({ a: [...filler, "My job is fun", "My profession is fun"] });
  expect((await find(index, "profession")).places).toEqual(["a:31", "a:30"]);
});

test("words of one origin and spellings of two countries find each other, the word itself first", async () => {
  const index = indexOf({
    a: [...filler, "The roofer came", "A new roof", "I am allergic to nuts", "My favourite colour"],
  });
  expect((await find(index, "Who fixed the roof?")).places).toEqual(["a:31", "a:30"]);
  expect((await find(index, "Who has an allergy?")).places).toEqual(["a:32"]);
  expect((await find(index, "favorite colors")).places).toEqual(["a:33"]);
});

test("a query finds the same with capitals, possessives, contractions, accents and function words in it", async () => {
  const words = ["zebra", "carrot", "harbour", "piano", "velvet"];
  const texts = fc.array(fc.subarray(words, { minLength: 1 }), { minLength: 3, maxLength: 12 });
  const asked = fc.subarray(words, { minLength: 1, maxLength: 3 });
  const form = fc.constantFrom<(word: string) => string>(
    (word) => word.toUpperCase(),
    (word) => `the ${word}'s`,
    (word) => `${word}’s, isn't it`,
    (word) => word.replace("a", "á"),
    (word) => `${word}s`,
    (word) => `which of their ${word}?`,
  );
  const forms = fc.array(form, { minLength: 3, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(texts, asked, forms, async (said, query, change) => {
      const index = indexOf({ a: said.map((each) => each.join(" ")), b: filler });
      const plain = await find(index, query.join(", "), { neighbours: [0.6, 0.36] });
      const changed = query.map((word, at) => change[at]?.(word) ?? word).join(", ");
      const found = await find(index, changed, { neighbours: [0.6, 0.36] });
      expect(found.places, changed).toEqual(plain.places);
    }),
  );
});

test.each([
  ["When did she see the zebra?", "Sunday"],
  ["How many zebras did she see?", "Forty"],
  ["How long did the zebra stay?", "Ten minutes"],
  ["What year was that with the zebra?", "2019"],
])("%s prefers a text with such an answer, which alone is no match", async (question, answer) => {
  // Where every text has a number, none says anything.
  const others = filler.map((text) => text.replace(/\d+/, ""));
  const index = indexOf({
    a: [...others, `The zebra, ${answer}`, "The zebra, again", "A zebra, too", answer],
  });
  const { places, matches, words, isMatch } = await find(index, question);
  expect([places[0], matches]).toEqual(["a:30", 3]);
  expect(words.map(({ text }) => text)).not.toContain("");
  expect(isMatch(answer.toLowerCase().split(" ")[0] ?? "")).toBe(false);
  expect((await find(index, "Which zebra?")).places[0]).toBe("a:32");
});

test("what is left out is counted, and similarity finds what no word does", async () => {
  const index = new TextIndex();
  index.add(
    "a",
    ["tea", "tea", "cocoa"].map((text, n) => ({ position: n, at: n, tag: n + 7, words: [text] })),
  );
  const found = await find(index, "tea", { isLeftOut: (_, tag) => tag === 8 });
  expect([found.places, found.matches, found.leftOut]).toEqual([["a:0"], 1, 1]);
  const similar = await find(index, "tea", {
    similarity: (_, position) => (position === 2 ? 1 : 0),
  });
  expect(similar.places).toContain("a:2");
});

test("a group that is removed leaves nothing: no hits, no counts, no words to be taken for others", async () => {
  const index = indexOf({ a: ["secret zebra"], b: ["public tea"] });
  index.remove("a");
  const found = await find(index, "zebra secret zerba");
  expect([found.places, found.words.map(({ texts, taken }) => [texts, taken])]).toEqual([
    [],
    [
      [0, []],
      [0, []],
      [0, []],
    ],
  ]);
  expect([index.texts, index.describe("a")]).toEqual([1, { texts: 0, since: undefined }]);
});

test("finds the same whatever order and pieces texts are added in", async () => {
  const word = fc.constantFrom("tea", "teas", "cup", "cups", "milk", "sugar", "lemon");
  const texts = fc.array(fc.array(word, { minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(texts, fc.nat(), word, async (list, cut, query) => {
      const entries = list.map((words, position) => ({ position, at: position, words }));
      const middle = cut % (entries.length + 1);
      const whole = new TextIndex();
      whole.add("g", entries);
      const pieces = new TextIndex();
      pieces.add("gone", [{ position: 0, at: 0, words: ["tea", "sugar"] }]);
      for (const entry of entries.slice(middle)) pieces.add("g", [entry]);
      pieces.add("g", entries.slice(0, middle), "before");
      pieces.remove("gone");
      const neighbours = [0.6, 0.36, 0.2];
      const [one, other] = [
        await find(whole, query, { neighbours }),
        await find(pieces, query, { neighbours }),
      ];
      expect(other.hits).toEqual(one.hits);
      expect(other.words).toEqual(one.words);
    }),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 3_000 : 60 },
  );
});
