import { gap } from "./shell-word.js";

/**
 * Returns the arguments in which a program of one of the small languages (`sed`, `awk`, the shells of databases) may run
 * other programs or open files.
 */
export function strangeScripts(program: string, args: readonly string[]): readonly string[] {
  if (/^[gmn]?awk$/.test(program)) {
    const script = args.find((word) => !word.startsWith("-")) ?? gap;
    return isPlainAwk(script) ? [] : [script];
  }
  if (/^g?sed$/.test(program)) return sedScripts(args).filter((script) => !isPlainSed(script));
  if (/^(?:psql|mysql|sqlite3)$/.test(program))
    return args.filter((word) => databaseEscape.test(word));
  return [];
}

const databaseEscape =
  /\\[!ogw]|\\copy|\bPROGRAM\b|^\s*\.|\n\s*\.|\b(?:system|load_extension|writefile|readfile|pg_read_file|INTO\s+(?:OUT|DUMP)FILE)\b/i;

/** `>` and `|` open files and programs, which a comparison or `||` does not. */
function isPlainAwk(script: string): boolean {
  const code = script.replaceAll("||", "").replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  return !script.includes(gap) && !/system|getline|close|fflush|[@|>]/.test(code);
}

function sedScripts(args: readonly string[]): readonly string[] {
  const given = args.flatMap((word, index) => {
    if (/^-[nErsuz]*e$/.test(word) || word === "--expression") return [args[index + 1] ?? gap];
    if (word.startsWith("--expression=")) return [word.slice("--expression=".length)];
    return /^-[nErsuz]*e./.test(word) ? [word.slice(word.indexOf("e") + 1)] : [];
  });
  return given.length > 0 ? given : [args.find((word) => !word.startsWith("-")) ?? gap];
}

const sedAddress = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)`;
const sedRange = String.raw`(?:${sedAddress}(?:,(?:${sedAddress}|[+~]\d+))?\s*!?\s*)?`;
const sedPart = String.raw`(?:(?!\1)[^\\\n]|\\.)*`;
const plainSed = new RegExp(
  String.raw`^\s*${sedRange}(?:[pdqQ=lnNgGhHxDP]|s([/|#,])${sedPart}\1${sedPart}\1[gipIM\d]*)\s*$`,
);

/** Reports whether a script only prints, deletes and substitutes lines: `e` runs, `w` writes and `r` reads files. */
function isPlainSed(script: string): boolean {
  if (script.includes(gap)) return false;
  return plainSed.test(script) || script.split(";").every((part) => plainSed.test(part));
}
