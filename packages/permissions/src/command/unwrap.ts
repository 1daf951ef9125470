import { assignmentEffect } from "./environment.js";
import { gap } from "./shell-word.js";

/** Command inside a wrapper, or the reason why it cannot be told. */
export type Unwrapped =
  | { readonly words: readonly string[]; readonly variables: readonly string[] }
  | { readonly unknown: string };

type Unwrap = (args: readonly string[]) => Unwrapped | null;

const plain: Unwrap = (args) =>
  args[0]?.startsWith("-") ? { unknown: "a wrapper with options" } : inner(args);

/**
 * Programs that run the command in their arguments and change nothing about it. Options are followed only where each of
 * them is known; a wrapper that is not here is never stripped.
 */
const wrappers: Readonly<Record<string, Unwrap>> = {
  nohup: plain,
  builtin: plain,
  exec: plain,
  // `command -v name` runs nothing: it is a command of its own.
  command: (args) => (/^-[vV]$/.test(args[0] ?? "") ? null : plain(args)),
  time: (args) => plain(args[0] === "-p" ? args.slice(1) : args),
  nice: (args) => plain(afterOptions(args, /^(?:-\d+|-n-?\d+|--adjustment=-?\d+)$/, /^-n$/)),
  stdbuf: (args) =>
    plain(
      afterOptions(args, /^(?:-[ioe][0LKM\d]+|--(?:in|out|err)(?:or|put)=[0L\d]+)$/, /^-[ioe]$/),
    ),
  timeout: (args) => {
    const rest = afterOptions(
      args,
      /^(?:--foreground|--preserve-status|-v|--verbose|--signal=\w+|--kill-after=[\d.]+[smhd]?|-s\w+|-k[\d.]+[smhd]?)$/,
      /^-[sk]$/,
    );
    return /^\d+(?:\.\d+)?[smhd]?$/.test(rest[0] ?? "")
      ? plain(rest.slice(1))
      : { unknown: "timeout with options that are not known" };
  },
  env: (args) => {
    const first = args.findIndex((word) => !/^\w+=/.test(word));
    if (first === -1) return null;
    const unwrapped = plain(args.slice(first));
    if (unwrapped === null || "unknown" in unwrapped) return unwrapped;
    const variables = args.slice(0, first).map((word) => word.slice(0, word.indexOf("=")));
    return { ...unwrapped, variables };
  },
  xargs: (args) => (args.length === 0 ? null : plain([...args, gap])),
};

/** Returns the command that a wrapper runs; null when the command is not a wrapper. */
export function unwrap(words: readonly string[]): Unwrapped | null {
  const [name = "", ...args] = words;
  const base = name.slice(name.lastIndexOf("/") + 1);
  if (!Object.hasOwn(wrappers, base)) return null;
  const unwrapped = wrappers[base]?.(args) ?? null;
  return unwrapped !== null && base !== name
    ? { unknown: "a wrapper that is called by its path" }
    : unwrapped;
}

/** Returns the first variable that does not leave the command as it is, if any. */
export function tellingVariable(names: readonly string[]): string | null {
  const bad = names.filter((name) => assignmentEffect(name) !== "harmless");
  return bad.find((name) => assignmentEffect(name) === "dangerous") ?? bad[0] ?? null;
}

function inner(words: readonly string[]): Unwrapped | null {
  return words.length === 0 ? null : { words, variables: [] };
}

/** Skips options that match `alone`, and those that match `withValue` together with the word after them. */
function afterOptions(
  args: readonly string[],
  alone: RegExp,
  withValue: RegExp,
): readonly string[] {
  let index = 0;
  while (index < args.length) {
    const word = args[index] ?? "";
    if (alone.test(word)) index += 1;
    else if (withValue.test(word) && !args[index + 1]?.includes(gap)) index += 2;
    else break;
  }
  return args.slice(index);
}
