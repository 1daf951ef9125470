import { cutText, FileCache, type FileInfo, type SharedFiles } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";

/** Instructions for a kind of work, which the model reads when they are needed. */
export interface Skill {
  /** Letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** Purpose of the skill in a sentence; part of the system prompt. */
  readonly description: string;
  /** Content of `skills/<name>/SKILL.md`. */
  readonly instructions: string;
  /** Offered only while this group is active in the session. */
  readonly group?: string | undefined;
}

/** Skill as it is listed in the system prompt. */
export interface SkillEntry {
  readonly name: string;
  readonly description: string;
  readonly group?: string | undefined;
  readonly path: string;
}

/** Most skills that are listed; a prompt has no room for more. */
const MAX_SKILLS = 300;
const MAX_SKILL_BYTES = 1_048_576;
const MAX_FRONT_MATTER_CHARS = 16_384;
const MAX_DESCRIPTION_CHARS = 500;

/** Schema of a {@link Skill} given as an option. */
export const skillSchema: s.Schema<Skill> = s.strictObject({
  name: s
    .string()
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/, "must consist of letters, digits, ., _ and -"),
  description: s.string().min(1),
  instructions: s.string(),
  group: s.string().min(1).optional(),
});

const frontMatter = s.object({
  name: s.string().trim().min(1).max(128).optional(),
  description: s.string().trim().min(1),
  group: s.string().min(1).optional(),
});

/** Returns the path of a skill's instructions. */
export function skillPath(name: string): string {
  return `skills/${name}/SKILL.md`;
}

/** Returns the content of the file for a skill given as an option. */
export function skillText({ name, description, group, instructions }: Skill): string {
  // A JSON string is a YAML string.
  const fields = Object.entries({ name, description, group }).flatMap(([key, value]) =>
    value === undefined ? [] : `${key}: ${JSON.stringify(value)}\n`,
  );
  return `---\n${fields.join("")}---\n\n${instructions}\n`;
}

/** Returns the entry in the prompt of a skill given as an option. */
export function skillEntry({ name, description, group }: Skill): SkillEntry {
  return { name, description: oneLine(description), group, path: skillPath(name) };
}

/** Lists the skills of a workspace, those given as options first; the first of a name wins. Malformed ones are left out. */
export class SkillReader {
  readonly #given: readonly SkillEntry[];
  readonly #parsed = new FileCache<SkillEntry | null>();
  #last: { readonly list: readonly FileInfo[]; readonly skills: readonly SkillEntry[] } | undefined;

  constructor(given: readonly SkillEntry[]) {
    this.#given = given;
  }

  /** Returns the skills with those in a list of `skills/`; the same ones for the same frozen list. */
  read(
    shared: SharedFiles,
    list: readonly FileInfo[],
  ): readonly SkillEntry[] | Promise<readonly SkillEntry[]> {
    return this.#last?.list === list ? this.#last.skills : this.#parse(shared, list);
  }

  async #parse(shared: SharedFiles, list: readonly FileInfo[]): Promise<readonly SkillEntry[]> {
    const skills = new Map(this.#given.map((skill) => [skill.name, skill]));
    const taken = new Set(this.#given.map(({ path }) => path));
    let isWhole = true;
    for (const info of list) {
      if (skills.size >= MAX_SKILLS) break;
      if (info.kind !== "file" || !isSkillPath(info.path)) continue;
      if (taken.has(info.path) || info.bytes > MAX_SKILL_BYTES) continue;
      const skill = await this.#parsed
        .get(info, () => readSkill(shared, info.path))
        .catch(() => {
          isWhole = false;
          return null;
        });
      if (skill !== null && !skills.has(skill.name)) skills.set(skill.name, skill);
    }
    const found = [...skills.values()];
    this.#last = isWhole && Object.isFrozen(list) ? { list, skills: found } : undefined;
    return found;
  }
}

async function readSkill(shared: SharedFiles, path: string): Promise<SkillEntry | null> {
  const content = await shared.read(path);
  return content ? parseSkill(path, new TextDecoder().decode(content)) : null;
}

function isSkillPath(path: string): boolean {
  return /^skills\/[^/\p{Cc}\u2028\u2029]+\/SKILL\.md$/u.test(path);
}

/** Parses the YAML front matter of a file `skills/<directory>/SKILL.md`; null when it has none that is valid. */
async function parseSkill(path: string, text: string): Promise<SkillEntry | null> {
  const front = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\n---[ \t]*\r?(?:\n|$)/.exec(
    text.slice(0, MAX_FRONT_MATTER_CHARS),
  )?.[1];
  if (front === undefined) return null;
  const { success, data } = frontMatter.safeParse(await parseYaml(front));
  if (!success) return null;
  const name = oneLine(data.name ?? (path.split("/")[1] as string));
  return { name, description: oneLine(data.description), group: data.group, path };
}

async function parseYaml(text: string): Promise<unknown> {
  // Loaded with the first skill: most agents have none.
  const { parse } = await import("yaml");
  try {
    return parse(text, { logLevel: "silent", maxAliasCount: 0 });
  } catch {
    return null;
  }
}

/** Puts text on one line, for an entry of a list; long text is cut. */
export function oneLine(text: string, maxChars: number = MAX_DESCRIPTION_CHARS): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return cutText(line, maxChars);
}
