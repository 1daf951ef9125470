import { ContextOverflowError, characterEstimate, type TokenCounter } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { fitMemory, readMemoryAnswer } from "../src/consolidation/read-memory-answer.js";
import { alice, MemoryWorld, memoryAgent } from "./memory-world.js";

const counter = characterEstimate();
const finished = { isCutOff: false, isTooLong: false };
const read = (text: string, memory = "") =>
  readMemoryAnswer({ text, ...finished }, memory, 4_000, counter);

describe("a new memory", () => {
  test.each([
    ["in a code fence", "```markdown\n# A\n- b\n```", "# A\n- b\n"],
    ["in a code fence with a capital", "```Markdown\r\n# A\r\n- b\r\n```\r\n", "# A\n- b\n"],
    [
      "in the marks it was shown in",
      '<memory file="MEMORY.md">\n# A\n- b\n</memory>',
      "# A\n- b\n",
    ],
    ["in a fence, with code", "```\n# A\n```sh\nls\n```\n- b\n```", "# A\n```sh\nls\n```\n- b\n"],
    ["that begins and ends with code", "```sh\nls\n```\n- b\n```sh\nrm\n```", undefined],
    ["that begins and ends with plain code", "```\nls\n```\n- b\n```\nrm\n```", undefined],
    ["with a mark in it", "# A\n- says </memory> often", undefined],
    ["in another language", "# 記憶\n- 日付は ISO 8601", undefined],
  ])("%s is taken for what it is", (_, answer, memory) => {
    expect(read(answer)).toBe(memory ?? `${answer}\n`);
  });

  test.each([
    ["nothing but headings", "# Memory\n\n## Alice\n\n---\n"],
    ["no word", "```\n```"],
    ["a refusal in place of some facts", "I'm sorry, I can't help with that."],
  ])("of %s is refused", (_, answer) => {
    const memory = `# Memory\n${"- Alice has a dog\n".repeat(20)}`;
    expect(() => read(answer, memory)).toThrow("the new memory");
  });
});

describe("a memory that is too long", () => {
  const note = "memory_search";

  test("is cut within a line where whole lines would leave next to nothing", () => {
    const text = `# Memory\n- ${"Alice has a dog, and so on. ".repeat(2_000)}\n`;
    const cut = fitMemory(text, 1_000, counter);
    expect(counter.countText(cut)).toBeLessThanOrEqual(1_000);
    expect(counter.countText(cut)).toBeGreaterThan(800);
    expect(cut).toContain(note);
  });

  test.each<[string, (text: string) => number]>([
    ["by characters", (text) => text.length],
    ["by lines", (text) => text.split("\n").length * 50],
    ["with so much for every text", (text) => 200 + text.length],
    ["ever more", (text) => Math.ceil(text.length ** 1.3)],
  ])("fits also where tokens are counted %s, and soon", (_, countText) => {
    let counted = 0;
    const strange = {
      ...counter,
      countText(text: string) {
        counted++;
        return countText(text);
      },
    } as TokenCounter;
    const text = Array.from({ length: 5_000 }, (_, n) => `- fact number ${n}`).join("\n");
    const cut = fitMemory(text, 4_000, strange);
    expect(cut).toContain(note);
    expect(countText(cut)).toBeLessThanOrEqual(4_000);
    expect(counted).toBeLessThan(5_000);
  });

  test("is refused where nothing would be left of it", () => {
    const strange = { ...counter, countText: () => 1_000_000 } as TokenCounter;
    expect(() => fitMemory("# Memory\n- a fact\n", 4_000, strange)).toThrow("made to fit");
  });

  test("is cut also when the model cannot even be asked for less", async () => {
    const world = new MemoryWorld();
    const long = Array.from({ length: 300 }, (_, n) => `- fact number ${n}`).join("\n");
    const one = memoryAgent(world, {
      flush: "- a",
      consolidation: (request) =>
        request.messages.length === 1
          ? long
          : { error: new ContextOverflowError("too long for the model") },
      memory: { consolidation: { maxTokens: 200 } },
    });
    await one.say("Hello.");
    await one.seen("consolidation_end");
    expect(await world.memory()).toContain("- fact number 0\n");
    expect(counter.countText(await world.memory())).toBeLessThanOrEqual(200);
  });
});

test("the memory before the last one is kept as it was, whatever bytes it has", async () => {
  const world = new MemoryWorld();
  const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x23, 0x20, 0xff, 0xfe, 0x41, 0x0a]);
  await world.filesystem.write(alice, "MEMORY.md", bytes);
  const one = memoryAgent(world, { flush: "- a", consolidation: "# Memory\n- a" });
  await one.say("Hello.");
  await one.seen("consolidation_end");
  expect(await world.files.readBytes(alice, "memory/archive/MEMORY-previous.md")).toEqual(bytes);
  expect(await world.memory()).toBe("# Memory\n- a\n");
});

test("a last line that was made longer meanwhile is an edit, not an addition", async () => {
  const world = new MemoryWorld();
  await world.files.writeMemory(alice, "# Memory\n- Alice likes tea");
  const one = memoryAgent(world, {
    flush: "- a",
    consolidation: async () => {
      await world.files.appendMemory(alice, ", but no longer\n");
      return "# Memory\n- Alice likes tea";
    },
  });
  await one.say("Hello.");
  await one.seen("consolidation_failed");
  expect(await world.memory()).toBe("# Memory\n- Alice likes tea, but no longer\n");
});
