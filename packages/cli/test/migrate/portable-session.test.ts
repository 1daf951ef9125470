import { StateConflictError, StateCorruptError, UnknownOutcomeError } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readSession } from "../../src/transfer/read-session.js";
import { parseSessionLine, type SessionLine } from "../../src/transfer/session-line.js";
import { writeSession } from "../../src/transfer/write-session.js";
import { addTurn } from "./add-turn.js";
import { memoryParts, withStates } from "./memory-parts.js";
import { sampleSession, sampleSessions, seed, seedOne } from "./sample-sessions.js";
import { contentsOf, contentsOfAll } from "./store-contents.js";

/** Through text and back, as a file would keep them. */
async function* parsed(texts: Iterable<string>): AsyncGenerator<SessionLine> {
  let number = 0;
  for (const text of texts) yield parseSessionLine(text, ++number);
}

async function exported(numbers: readonly number[]): Promise<string[]> {
  const parts = memoryParts();
  const texts: string[] = [];
  for (const number of numbers) {
    const session = sampleSession(number);
    await seedOne(parts, session);
    for await (const line of readSession(parts, session.slot)) texts.push(JSON.stringify(line));
  }
  return texts;
}

test("sessions written as lines and read again are the same, several in one stream", async () => {
  const [source, target] = [memoryParts(), memoryParts()];
  const sessions = sampleSessions(40);
  await seed(source, sessions);
  const texts: string[] = [];
  for (const { slot } of sessions)
    for await (const line of readSession(source, slot)) texts.push(JSON.stringify(line));
  const lines = parsed(texts);
  for (let count = 0; count < 40; count++)
    expect(await writeSession(target, lines)).toMatchObject({ outcome: "written" });
  expect(await writeSession(target, lines)).toBeNull();
  expect(await contentsOfAll(target, sessions)).toStrictEqual(
    await contentsOfAll(source, sessions),
  );
  expect(await writeSession(target, parsed(texts))).toMatchObject({ outcome: "present" });
});

test("the first line is the header, and the last one counts and hashes", async () => {
  const texts = await exported([10]);
  const { slot, messages, records } = sampleSession(10);
  const [first, last] = [texts[0], texts.at(-1)].map((text) => JSON.parse(text ?? ""));
  expect(first).toMatchObject({
    type: "session",
    v: 1,
    slot,
    counts: { messages: messages.length },
  });
  expect(last).toMatchObject({
    type: "end",
    counts: { messages: messages.length, records: records.length, blobs: 3 },
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test("a session that is not there has no lines", async () => {
  const lines: SessionLine[] = [];
  for await (const line of readSession(memoryParts(), sampleSession(1).slot)) lines.push(line);
  expect(lines).toStrictEqual([]);
});

test("lines that are cut short, left out or changed are refused, and leave nothing behind", async () => {
  const texts = await exported([10]);
  const { slot } = sampleSession(10);
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.constantFrom("cut", "left out", "changed"),
      fc.integer({ min: 1, max: texts.length - 1 }),
      async (isFused, harm, at) => {
        const target = memoryParts(isFused);
        const harmed =
          harm === "cut"
            ? texts.slice(0, at)
            : harm === "left out"
              ? texts.toSpliced(at, 1)
              : texts.with(at, (texts[at] ?? "").replace(/10\.(\d)/u, "11.$1"));
        fc.pre(harmed.join() !== texts.join());
        await expect(writeSession(target, parsed(harmed))).rejects.toSatisfy(StateCorruptError.is);
        expect(await target.stateStore.load(slot)).toBeNull();
        expect(await target.log.read(slot)).toStrictEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});

test("damaged lines add nothing to an older copy", async () => {
  const [source, target] = [memoryParts(), memoryParts(false)];
  const { slot } = sampleSession(10);
  await seedOne(source, sampleSession(10));
  const write = async (change: (texts: string[]) => string[]) => {
    const texts: string[] = [];
    for await (const line of readSession(source, slot)) texts.push(JSON.stringify(line));
    return writeSession(target, parsed(change(texts)));
  };
  await write((texts) => texts);
  const copy = await contentsOf(target, slot);
  await addTurn(source, slot, 1);
  await expect(write((texts) => texts.slice(0, -1))).rejects.toSatisfy(StateCorruptError.is);
  expect(await contentsOf(target, slot)).toStrictEqual(copy);
});

test("a save whose answer is lost keeps the log of the state that may be there", async () => {
  const texts = await exported([10]);
  const { slot, records } = sampleSession(10);
  const target = memoryParts(false);
  let isSaved = false;
  const { stateStore } = withStates(target, {
    save: async (where, write) => {
      isSaved = true;
      return target.stateStore.save(where, write);
    },
    load: (where, known) => {
      if (isSaved) throw new UnknownOutcomeError("no answer");
      return target.stateStore.load(where, known);
    },
  });
  await expect(writeSession({ ...target, stateStore }, parsed(texts))).rejects.toSatisfy(
    UnknownOutcomeError.is,
  );
  expect(await target.stateStore.load(slot)).not.toBeNull();
  expect(await target.log.read(slot)).toHaveLength(records.length);
});

test("what the store has of its own is kept, and the next session of the stream is written", async () => {
  const texts = await exported([10, 11]);
  const [taken, free] = [sampleSession(10).slot, sampleSession(11).slot];
  const target = memoryParts();
  await seedOne(target, { ...sampleSession(12), slot: taken });
  const own = await contentsOf(target, taken);
  const lines = parsed(texts);
  await expect(writeSession(target, lines)).rejects.toSatisfy(StateConflictError.is);
  expect(await contentsOf(target, taken)).toStrictEqual(own);
  expect(await writeSession(target, lines)).toMatchObject({ slot: free, outcome: "written" });
});

test("an odd line is refused by its number and without its contents", () => {
  const odd = ["secret", "[]", "{}", '{"type":"session","v":2}', '{"type":"record","record":{}}'];
  for (const text of [...odd, '{"type":"session","v":1,"slot":{"agentId":""}}'])
    expect(() => parseSessionLine(text, 17)).toThrow(/^line 17 (?!.*secret)/);
});
