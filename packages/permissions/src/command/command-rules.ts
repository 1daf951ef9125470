import {
  type CommandPattern,
  commandPattern,
  coversWords,
  forbidsWords,
  isExact,
} from "./command-pattern.js";
import type { CommandLine, OpenedFile, SimpleCommand } from "./read-command.js";
import { specialUse, startedCommand } from "./special-use.js";
import { unwrap } from "./unwrap.js";

/** Common programs that do not run their arguments: `git rm` and `grep rm` are no wrappers of `rm`. */
const ownArguments = new Set(
  `apt awk basename brew cargo cat cd chmod chown cp curl cut diff dirname docker du echo egrep export fgrep file find git
  go grep head jq kill kubectl ln ls make man mkdir mv node npm pip pnpm printf ps pwd python python3 pytest rg rm rmdir sed
  sort stat tail tar tee test touch tr tsc type uniq wc wget which yarn [`.split(/\s+/),
);

/** Says of a file that a command opens whether rules of the file tools allow it. */
export interface FileRules {
  /** Reports whether an allow rule of a writing tool covers the path. */
  allowsWrite(file: OpenedFile): boolean;
}

/**
 * Reports whether patterns allow a command line: each simple command at every depth is covered by one of them, nothing
 * is unknown, and every file that is written is allowed.
 */
export function commandAllowed(
  patterns: readonly string[],
  read: CommandLine,
  files: FileRules,
): boolean {
  if (read.unknown !== null || read.commands.length === 0) return false;
  const compiled = patterns.map(commandPattern);
  return (
    read.commands.every((command) =>
      command.isShell
        ? command.unknown === null && command.variable === null
        : isCovered(compiled, command),
    ) && read.files.every((file) => !file.writes || (file.known && files.allowsWrite(file)))
  );
}

/** Reports whether one of the patterns covers a simple command with everything it may do. */
export function isCovered(patterns: readonly CommandPattern[], command: SimpleCommand): boolean {
  if (command.unknown !== null || command.variable !== null) return false;
  const special = specialUse(command.words);
  return patterns.some((pattern) => {
    if (isExact(pattern)) return command.forms.some((words) => coversWords(pattern, words));
    if (!coversWords(pattern, command.words)) return false;
    return special === null || namesAll(pattern, special.names);
  });
}

/** Reports whether the pattern names each as often as it is used: `sort -o a:*` is not about `sort -o a -o b`. */
function namesAll({ head }: CommandPattern, names: readonly string[]): boolean {
  return [...new Set(names)].every((name) => {
    const uses = names.filter((each) => each === name).length;
    return head.filter((word) => word.startsWith(name)).length >= uses;
  });
}

/**
 * Compares a command line with the pattern of a rule that forbids.
 *
 * @returns `match` when any simple command matches; `maybe` when what runs cannot be known, or could match
 */
export function commandForbidden(pattern: string, read: CommandLine): "match" | "maybe" | "none" {
  const compiled = commandPattern(pattern);
  const answers = read.commands.flatMap((command) =>
    formsOf(command).map((words) => forbidsWords(compiled, words)),
  );
  if (answers.includes("match")) return "match";
  const isUnknown =
    read.unknown !== null ||
    read.commands.some(
      ({ unknown, words }) => unknown !== null || specialUse(words)?.runs === true,
    );
  if (isUnknown || answers.includes("maybe")) return "maybe";
  const isHidden = read.commands.some(({ words }) => isStartedByUnknown(compiled, words));
  return isHidden ? "maybe" : "none";
}

/** Reports whether a program that may be a wrapper has a forbidden command in its arguments. */
function isStartedByUnknown(pattern: CommandPattern, words: readonly string[]): boolean {
  const [name = ""] = words;
  if (ownArguments.has(name)) return false;
  return words
    .slice(1, 16)
    .some((_, index) => forbidsWords(pattern, words.slice(index + 1)) === "match");
}

/** Returns the reason why a command line cannot be known; null when it can. */
export function unknownPart(read: CommandLine): string | null {
  return read.unknown ?? read.commands.find(({ unknown }) => unknown !== null)?.unknown ?? null;
}

/** Words of the command with and without its wrappers, of the commands it starts, and each without the path of the program. */
function formsOf(command: SimpleCommand): readonly (readonly string[])[] {
  const forms = [...command.forms];
  for (let index = command.forms.length - 1; index < forms.length && forms.length < 16; index++) {
    const words = forms[index] ?? [];
    const unwrapped = unwrap(words);
    const inner =
      unwrapped !== null && "words" in unwrapped ? unwrapped.words : startedCommand(words);
    if (inner !== null) forms.push(inner);
  }
  return forms.flatMap((words) => {
    const [name = "", ...args] = words;
    const base = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
    const plain = base.replace(/\.exe$/i, "");
    return plain === name ? [words] : [words, [plain, ...args]];
  });
}
