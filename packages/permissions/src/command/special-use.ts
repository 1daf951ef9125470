import { strangeScripts } from "./embedded-scripts.js";
import { gap } from "./shell-word.js";
import {
  launchers,
  runners,
  runningSubcommands,
  type SpecialOptions,
  specialOptions,
} from "./special-options.js";

/** Parts of a command that make it more than its name says. */
export interface SpecialUse {
  /** Words, or their first characters, that a rule must name to cover the call, each as often as it is used. */
  readonly names: readonly string[];
  /** The call can run programs that its words do not show. */
  readonly runs: boolean;
}

/** Returns what makes a command more than its name says; null when nothing is known to. */
export function specialUse(words: readonly string[]): SpecialUse | null {
  const [name = "", ...args] = words;
  const base = programName(name);
  const subcommand = args.find((word) => !word.startsWith("-")) ?? "";
  const uses = [
    ...runnerUses(base, args),
    ...launcherUses(base, args, subcommand),
    ...interpreterUses(base, args),
    ...optionUses([base, `${base} *`, `${base} ${subcommand}`], args),
    ...strangeScripts(base, args).map((script) => ({ names: [script], runs: true })),
    ...manyOperands(base, args),
    ...sentFiles(base, args),
  ];
  if (uses.length === 0) return null;
  return { names: uses.flatMap(({ names }) => names), runs: uses.some(({ runs }) => runs) };
}

/** Returns the command that a runner or launcher starts, as far as its words show it. */
export function startedCommand(words: readonly string[]): readonly string[] | null {
  const [name = "", ...args] = words;
  const base = programName(name);
  const rest = runners.has(base) ? args : launchedArgs(base, args);
  const start = rest?.findIndex((word) => !word.startsWith("-") && !/^\w+=/.test(word)) ?? -1;
  return rest === null || start === -1 ? null : rest.slice(start);
}

function programName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1).replace(/^(python|pip|perl|ruby|lua)[\d.]+$/, "$1");
}

function runnerUses(base: string, args: readonly string[]): SpecialUse[] {
  if (!runners.has(base) && !/^ld(?:-linux|-musl|\.so)/.test(base)) return [];
  const isQuery =
    base === "command"
      ? /^-[vV]$/.test(args[0] ?? "")
      : args.length === 1 && args[0] === "--version";
  return isQuery || (base === "env" && args.length === 0)
    ? []
    : [{ names: programOf(args), runs: true }];
}

function launcherUses(base: string, args: readonly string[], subcommand: string): SpecialUse[] {
  const launched = launchedArgs(base, args);
  const uses: SpecialUse[] = [];
  if (launched !== null) {
    const sub = launched.length === args.length ? [] : [subcommand];
    uses.push({
      names: [...sub, ...programOf(launched)],
      runs: launched.some((word) => /^(?:-c|--call|--shell)/.test(word)),
    });
  }
  if (listed(runningSubcommands, base).includes(subcommand))
    uses.push({ names: [subcommand], runs: true });
  return uses;
}

/** An interpreter without a script reads one from its input. */
function interpreterUses(base: string, args: readonly string[]): SpecialUse[] {
  const isInterpreter =
    /^(?:python|node|nodejs|perl|ruby|php|lua|deno|bun|Rscript|julia|tclsh)$/.test(base);
  const hasScript = args.some(
    (word) => !word.startsWith("-") || /^--(?:version|help|test)$/.test(word),
  );
  return isInterpreter && !hasScript && !/^-[vVh]$/.test(args[0] ?? "")
    ? [{ names: [gap], runs: true }]
    : [];
}

/** A second operand is a file that `uniq` writes, and a second address that `curl` sends a request to. */
function manyOperands(base: string, args: readonly string[]): SpecialUse[] {
  const operands = args.filter((word) => !word.startsWith("-"));
  const count =
    base === "uniq"
      ? operands.length
      : base === "curl"
        ? operands.filter((word) => /^[\w.-]+[:/]|\.\w/.test(word)).length
        : 0;
  return count > 1 ? [{ names: operands, runs: false }] : [];
}

/** `curl` reads what it sends from a file behind an `@` that no `=` is in front of. */
function sentFiles(base: string, args: readonly string[]): SpecialUse[] {
  if (base !== "curl") return [];
  const named = args.filter((word) => /^(?:-[^-=@]*|--[^=]+=[^=@]*|[^-=@:/]+)@/.test(word));
  return named.map((word) => ({ names: [word], runs: false }));
}

function launchedArgs(base: string, args: readonly string[]): readonly string[] | null {
  const subcommands = listed(launchers, base);
  if (subcommands.includes("*")) return args;
  const index = args.findIndex((word) => !word.startsWith("-"));
  return subcommands.includes(args[index] ?? "") ? args.slice(index + 1) : null;
}

function listed(table: Readonly<Record<string, string>>, key: string): readonly string[] {
  return Object.hasOwn(table, key) ? (table[key]?.split(" ") ?? []) : [];
}

function programOf(args: readonly string[]): readonly string[] {
  const first = args.findIndex((word) => !word.startsWith("-"));
  return first === -1 ? [...args, gap] : args.slice(0, first + 1);
}

/** @param keys - names of tables; a word that several of them know counts once */
function optionUses(keys: readonly string[], args: readonly string[]): SpecialUse[] {
  const tables = keys
    .map((key) => (Object.hasOwn(specialOptions, key) ? specialOptions[key] : undefined))
    .filter((options) => options !== undefined)
    .map((options) => ({ options, end: optionsEnd(options, args) }));
  return args.flatMap((word, index): SpecialUse[] => {
    for (const { options, end } of tables) {
      const use = index < end ? optionUse(options, word) : null;
      if (use !== null) return [use];
    }
    return [];
  });
}

function optionsEnd({ whole, untilOperand }: SpecialOptions, args: readonly string[]): number {
  // A value of an earlier option looks like an operand, so that only one in first place is sure to be one.
  const isEnded = untilOperand && /^[^-\uFFFF]/.test(args[0] ?? "");
  const last = isEnded ? 0 : args.indexOf("--");
  return last === -1 || whole ? args.length : last;
}

function optionUse(options: SpecialOptions, word: string): SpecialUse | null {
  const { whole = false } = options;
  const among = (list: string | undefined): string | undefined =>
    list?.split(" ").find((option) => isOption(word, option, whole));
  // A file can be called "-o".
  if (word.startsWith(gap)) return { names: [gap], runs: false };
  const runs = among(options.runs);
  const found = runs ?? among(options.writes);
  if (found !== undefined) {
    const named = word.startsWith("--") ? (word.split("=")[0] ?? word) : found;
    return { names: [named], runs: runs !== undefined };
  }
  const isOperand = options.operands?.split(" ").some((start) => word.startsWith(start));
  return isOperand ? { names: [word], runs: true } : null;
}

/** `-o` is found in `-xo`, `-of` and `-o`; `--output` in `--output=f` and `--outp`; `-exec` only as a whole. */
function isOption(word: string, option: string, whole: boolean): boolean {
  if (word === option || option === "-") return word === option;
  const known = word.includes(gap) ? word.slice(0, word.indexOf(gap)) : null;
  if (known !== null && known !== "" && option.startsWith(known)) return true;
  const [name = ""] = word.split("=");
  if (whole || (option.length > 2 && !option.startsWith("--")))
    return name === option || name === `-${option}`;
  if (option.startsWith("--"))
    return name.startsWith("--") && name.length > 3 && option.startsWith(name);
  const at = word.indexOf(option.charAt(1), 1);
  return /^-[^-]/.test(word) && at > 0 && /^-\w*$/.test(word.slice(0, at));
}
