import { gap } from "./shell-word.js";

/**
 * Returns the arguments in which a program of one of the small languages (`sed`, `awk`, the shells of databases) may run
 * other programs or open files.
 */
export function strangeScripts(program: string, args: readonly string[]): readonly string[] {
  if (/^[gmn]?awk$/.test(program)) {
    const script = awkScript(args);
    return isPlainAwk(script) ? [] : [script];
  }
  if (/^g?sed$/.test(program)) return sedScripts(args).filter((script) => !isPlainSed(script));
  if (/^(?:psql|mysql|sqlite3)$/.test(program))
    return args.filter((word) => databaseEscape.test(word));
  return [];
}

const databaseEscape =
  /\\[!ogw]|\\copy|\bPROGRAM\b|^\s*\.|\n\s*\.|\b(?:system|load_extension|writefile|readfile|pg_read_file|INTO\s+(?:OUT|DUMP)FILE)\b/i;

/** Returns the program text among the arguments; {@link gap} where it cannot be told from the values of options. */
function awkScript(args: readonly string[]): string {
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? gap;
    if (word === "--") return args[index + 1] ?? gap;
    if (/^-[Fv]$/.test(word)) index++;
    else if (!word.startsWith("-")) return word;
    else if (!/^-[Fv]/.test(word)) return gap;
  }
  return gap;
}

/** `>` and `|` open files and programs, which a comparison or `||` does not. */
function isPlainAwk(script: string): boolean {
  // A quote in a regular expression or in a comment begins no string.
  const hasStrings = !/[/#]/.test(script);
  const code = hasStrings ? script.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""') : script;
  return (
    !script.includes(gap) && !/system|getline|close|fflush|[@|>]/.test(code.replaceAll("||", ""))
  );
}

/** Returns the scripts among the arguments, with {@link gap} for an option that may be another way to give one. */
function sedScripts(args: readonly string[]): readonly string[] {
  const scripts: string[] = [];
  const operands: string[] = [];
  let isInFile = false;
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? gap;
    if (word === "--") {
      operands.push(...args.slice(index + 1));
      break;
    }
    const joined = /^(?:-[nErsuz]*e(?=.)|--expression=)(.*)$/s.exec(word);
    if (joined) scripts.push(joined[1] ?? gap);
    else if (/^(?:-[nErsuz]*e|--expression)$/.test(word)) scripts.push(args[++index] ?? gap);
    // A script in a file is an option of its own, which a rule must name.
    else if (/^(?:-[nErsuz]*f|--file(?:=|$))/.test(word)) {
      isInFile = true;
      if (/^(?:-[nErsuz]*f|--file)$/.test(word)) index++;
    } else if (!word.startsWith("-") || word === "-") operands.push(word);
    else if (!plainSedOption.test(word)) scripts.push(gap);
  }
  return scripts.length > 0 || isInFile ? scripts : [operands[0] ?? gap];
}

const plainSedOption =
  /^(?:-[nErsuz]+|-[nErsuz]*i.*|--in-place(?:=.*)?|--(?:quiet|silent|regexp-extended|null-data|separate|unbuffered|posix|debug|help|version))$/;

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
