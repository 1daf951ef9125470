import { AgentState, characterEstimate, RuntimeContext, type TokenCounter } from "@holdfast/core";
import { isWellFormed } from "@holdfast/core/plugin-kit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fairShares } from "../../src/prompt/fit-sections.js";
import { WorkspacePrompt } from "../../src/prompt/workspace-prompt.js";
import { ada, put, SharingFilesystem } from "../tools/tool-bench.js";

/** A counter for which texts together may take more than the sum of their parts. */
const grudging: TokenCounter = {
  ...characterEstimate(),
  id: "grudging",
  countText: (text) => Math.floor(text.length / 3),
};

async function fitted(
  files: { agents: string; memory: string; knowledge: number; skills: number },
  maxTokens: number,
  counter: TokenCounter = characterEstimate(),
): Promise<string> {
  const filesystem = await new SharingFilesystem().share("AGENTS.md", files.agents);
  for (let index = 0; index < files.knowledge; index++)
    await filesystem.share(`knowledge/file-${index}.md`, `# Title ${index}`);
  for (let index = 0; index < files.skills; index++)
    await filesystem.share(`skills/s${index}/SKILL.md`, `---\ndescription: Skill ${index}.\n---\n`);
  await put(filesystem, "MEMORY.md", files.memory);
  const prompt = new WorkspacePrompt({
    filesystem,
    counter: () => counter,
    maxTokens,
    skills: [],
    activeGroups: [],
    hasTools: true,
    readOnlyNames: ["AGENTS.md", "knowledge"],
  });
  const state = AgentState.create(ada);
  const text = await prompt.append("Base.", { slot: ada, ctx: RuntimeContext.of(ada), state });
  return text.slice("Base.".length);
}

test("the sections together never take more than the budget", async () => {
  const textOf = (...pieces: string[]) =>
    fc
      .tuple(fc.constantFrom(...pieces), fc.nat(3_000))
      .map(([piece, times]) => piece.repeat(times));
  const agents = textOf("word ", "line\n", "漢", "🌤", "x");
  const memory = textOf("word ", "line\n", "漢", "</memory>", "<memory ");
  await fc.assert(
    fc.asyncProperty(
      fc.record({ agents, memory, knowledge: fc.nat(30), skills: fc.nat(30) }),
      fc.nat(1_500),
      fc.constantFrom(characterEstimate(), grudging),
      async (files, maxTokens, counter) => {
        const added = await fitted(files, maxTokens, counter);
        expect(counter.countText(added)).toBeLessThanOrEqual(maxTokens);
        expect(isWellFormed(added)).toBe(true);
        const marks = added.match(/<\/?memory[ >]/g) ?? [];
        expect([[], ["<memory ", "</memory>"]]).toContainEqual(marks);
      },
    ),
    { numRuns: 100 },
  );
});

describe("what does not fit", () => {
  const small = { agents: "", memory: "", knowledge: 0, skills: 0 };

  test("is cut, and says how much is shown and where to read the rest", async () => {
    const agents = Array.from({ length: 5_000 }, (_, index) => `rule ${index}`).join("\n");
    const added = await fitted({ ...small, agents }, 1_000);
    const last = Number(/rule (\d+)\n\[Cut/.exec(added)?.[1]);
    const whole = agents.length + 1;
    expect(added).toContain(
      `of ${whole} characters are shown. read_file, path "AGENTS.md", offset ${last + 2} shows the rest.]`,
    );
    expect(characterEstimate().countText(added)).toBeGreaterThan(950);
  });

  test("of a list is counted", async () => {
    const added = await fitted({ ...small, knowledge: 350, skills: 200 }, 1_000);
    const shown = (prefix: string) => added.split(prefix).length - 1;
    const more = (kind: string) => Number(new RegExp(`and (\\d+) more ${kind}`).exec(added)?.[1]);
    expect(shown("- knowledge/")).toBeGreaterThan(10);
    expect(shown("- knowledge/") + more("files")).toBe(350);
    expect(shown("- s") + more("skills")).toBe(200);
  });

  test("leaves the other sections their share", async () => {
    const agents = "rule\n".repeat(100_000);
    const added = await fitted({ agents, memory: "tea", knowledge: 3, skills: 3 }, 1_000);
    for (const part of ["# Workspace", "tea\n</memory>", "- knowledge/file-2.md", "- s2: Skill 2."])
      expect(added).toContain(part);
    expect(added.split("rule\n").length).toBeGreaterThan(300);
  });
});

test("shares are fair: nobody gets more than wanted, and none less than another who wanted more got", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000), { minLength: 1 }), fc.nat(3_000), (wants, budget) => {
      const shares = fairShares(wants, budget);
      const total = shares.reduce((sum, share) => sum + share, 0);
      expect(total).toBeLessThanOrEqual(budget);
      expect(total).toBeGreaterThanOrEqual(
        Math.min(
          budget,
          wants.reduce((sum, want) => sum + want, 0),
        ) - wants.length,
      );
      for (const [index, share] of shares.entries()) {
        expect(share).toBeLessThanOrEqual(wants[index] as number);
        if (share < (wants[index] as number))
          expect(share).toBeGreaterThanOrEqual(Math.max(...shares) - 1);
      }
    }),
  );
});
