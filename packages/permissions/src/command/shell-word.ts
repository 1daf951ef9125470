import type { Assignment, Word, WordPart } from "unbash";

/** Character that stands for text that only the shell knows: an expansion, a glob, a substitution. */
export const gap = "\uFFFF";

/** Character between two words of a command: a blank inside a word is not one. */
export const between = "\uFFFE";

/**
 * Kind of the gaps in a word.
 * - `none`: the text is what the program gets
 * - `glob`: names of files that exist
 * - `value`: anything
 */
export type Gaps = "none" | "glob" | "value";

/** Word of a command as the program gets it, quotes removed. */
export interface ShellWord {
  readonly text: string;
  readonly gaps: Gaps;
}

/** Returns what is known of a word, with {@link gap} in place of the rest. */
export function shellWord(word: Word): ShellWord {
  const parts = word.parts;
  if (parts === undefined) return { text: escapedTilde(word.text, word.value), gaps: "none" };
  const read = parts.map(partText);
  const gaps = read.reduce<Gaps>((widest, part) => wider(widest, part.gaps), "none");
  return { text: escapedTilde(word.text, read.map(({ text }) => text).join("")), gaps };
}

/** Returns an argument of the form `name=value`, as `export` and `alias` take it. */
export function assignmentWord(assignment: Assignment): ShellWord {
  const { value } = assignment;
  if (value.type === "ArrayValue" || assignment.index !== undefined)
    return { text: `${assignment.name}=${gap}`, gaps: "value" };
  const { text, gaps } = shellWord(value);
  return { text: `${assignment.name}${assignment.append ? "+" : ""}=${text}`, gaps };
}

/** Returns the less certain of two kinds. */
export function wider(one: Gaps, other: Gaps): Gaps {
  if (one === "value" || other === "value") return "value";
  return one === "glob" || other === "glob" ? "glob" : "none";
}

/** A tilde the shell does not expand is written with its quotes: it is another file than the one in the home directory. */
function escapedTilde(source: string, text: string): string {
  return text.startsWith("~") && !source.startsWith("~") ? `'~'${text.slice(1)}` : text;
}

function partText(part: WordPart): ShellWord {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return { text: part.value, gaps: "none" };
    case "DoubleQuoted": {
      const texts = part.parts.map((child) => (child.type === "Literal" ? child.value : gap));
      return { text: texts.join(""), gaps: texts.includes(gap) ? "value" : "none" };
    }
    case "Glob":
      return { text: gap, gaps: "glob" };
    default:
      return { text: gap, gaps: "value" };
  }
}
