import type { SharedFiles } from "@holdfast/core/plugin-kit";
import type { FileFacts } from "./file-facts.js";
import { parseSkill, type SkillEntry } from "./skill.js";

/** More skills than a prompt could name. */
const MAX_SKILLS = 300;
const MAX_SKILL_BYTES = 1_048_576;

/** The skills of a workspace, those given as options first; of two with one name the first. Malformed ones are left out. */
export async function skillIndex(
  shared: SharedFiles | undefined,
  given: readonly SkillEntry[],
  facts: FileFacts<SkillEntry | null>,
): Promise<readonly SkillEntry[]> {
  const skills = new Map(given.map((skill) => [skill.name, skill]));
  const taken = new Set(given.map(({ path }) => path));
  for (const info of (await shared?.list("skills")) ?? []) {
    if (skills.size >= MAX_SKILLS) break;
    const { path, kind, bytes } = info;
    if (
      kind !== "file" ||
      !/^skills\/[^/\p{Cc}\u2028\u2029]+\/SKILL\.md$/u.test(path) ||
      taken.has(path)
    )
      continue;
    if (bytes > MAX_SKILL_BYTES) continue;
    const read = async (): Promise<SkillEntry | null> => {
      const content = await shared?.read(path);
      return content ? parseSkill(path, new TextDecoder().decode(content)) : null;
    };
    const skill = await facts.of(info, read).catch(() => null);
    if (skill !== null && !skills.has(skill.name)) skills.set(skill.name, skill);
  }
  return [...skills.values()];
}
