import { cutIndex } from "@holdfast/core/plugin-kit";
import { parse, stringify } from "yaml";
import { z } from "zod";

/** Instructions for a kind of work, which the model reads when it needs them. */
export interface Skill {
  /** Letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** What it is for, in a sentence: this stands in the system prompt. */
  readonly description: string;
  /** What `skills/<name>/SKILL.md` says. */
  readonly instructions: string;
  /** Offered only while this group is active in the session. */
  readonly group?: string | undefined;
}

/** A skill as the system prompt names it. */
export interface SkillEntry {
  readonly name: string;
  readonly description: string;
  readonly group?: string | undefined;
  readonly path: string;
}

const MAX_FRONT_MATTER_CHARS = 16_384;
const MAX_DESCRIPTION_CHARS = 500;

/** Checks a {@link Skill} given as an option. */
export const skillSchema: z.ZodType<Skill> = z.strictObject({
  name: z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/, "letters, digits, ., _ and -"),
  description: z.string().min(1),
  instructions: z.string(),
  group: z.string().min(1).optional(),
});

const frontMatter = z.object({
  name: z.string().trim().min(1).max(128).optional(),
  description: z.string().trim().min(1),
  group: z.string().min(1).optional(),
});

/** Where the instructions of a skill are. */
export function skillPath(name: string): string {
  return `skills/${name}/SKILL.md`;
}

/** A skill given as an option, in the form of a file. */
export function skillText({ name, description, group, instructions }: Skill): string {
  const fields = group === undefined ? { name, description } : { name, description, group };
  return `---\n${stringify(fields)}---\n\n${instructions}\n`;
}

/** How the prompt names a skill given as an option. */
export function skillEntry({ name, description, group }: Skill): SkillEntry {
  return { name, description: oneLine(description), group, path: skillPath(name) };
}

/** What a file `skills/<directory>/SKILL.md` says about itself in its YAML front matter; null when that is nothing. */
export function parseSkill(path: string, text: string): SkillEntry | null {
  const front = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\n---[ \t]*\r?(?:\n|$)/.exec(
    text.slice(0, MAX_FRONT_MATTER_CHARS),
  )?.[1];
  if (front === undefined) return null;
  const { success, data } = frontMatter.safeParse(parseYaml(front));
  if (!success) return null;
  const name = oneLine(data.name ?? (path.split("/")[1] as string));
  return { name, description: oneLine(data.description), group: data.group, path };
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { logLevel: "silent", maxAliasCount: 0 });
  } catch {
    return null;
  }
}

/** Text on one line, so that an entry of a list stays one; long text is cut. */
export function oneLine(text: string, maxChars: number = MAX_DESCRIPTION_CHARS): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return line.length <= maxChars ? line : `${line.slice(0, cutIndex(line, maxChars))}…`;
}
