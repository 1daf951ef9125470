import { assignmentEffect } from "./environment.js";
import { gap } from "./shell-word.js";

/** Shells whose language the parser reads. */
const knownShells = new Set(["sh", "bash", "dash", "ash"]);

const otherShells = new Set(
  `zsh ksh mksh fish csh tcsh rbash pwsh powershell cmd cmd.exe nu xonsh elvish`.split(/\s+/),
);

/** Builtins that run text, or change what the words after them mean. */
const changing = new Set(
  `. alias bind compgen complete coproc declare disown enable eval fc getopts hash history let local
  mapfile read readarray readonly shopt source trap typeset unalias unset setopt unsetopt autoload
  zmodload emulate noglob nocorrect function`.split(/\s+/),
);

/** Returns why a call of the shell itself cannot be known; null when it can, or is no such call. */
export function shellProblem(words: readonly string[]): string | null {
  const [name = "", ...args] = words;
  const base = name.slice(name.lastIndexOf("/") + 1);
  if (changing.has(base)) return `the shell builtin ${base}`;
  if (base === "export") return args.every(isHarmlessExport) ? null : "an exported variable";
  if (base === "set") return args.every(isHarmlessSet) ? null : "a shell option";
  if (otherShells.has(base)) return "a shell whose language is not read";
  if (!knownShells.has(base)) return null;
  if (scriptText(words) !== null) return args.length > 2 ? "arguments of a nested script" : null;
  const file = args[0];
  return file === undefined || file.startsWith("-") || file.includes(gap)
    ? "a shell that runs text which is not in the command"
    : null;
}

/**
 * Returns the commands that are given to a shell or to `eval` as text; null when there are none, or when a part of them
 * is not known.
 */
export function scriptText(words: readonly string[]): string | null {
  const [name = "", ...args] = words;
  if (name === "eval") return args.some((word) => word.includes(gap)) ? null : args.join(" ");
  const base = name.slice(name.lastIndexOf("/") + 1);
  const [option = "", script] = args;
  if (!knownShells.has(base) || !/^-[elux]*c$/.test(option) || script === undefined) return null;
  return script.includes(gap) ? null : script;
}

function isHarmlessExport(word: string): boolean {
  const name = /^(\w+)=/.exec(word)?.[1];
  return name !== undefined && assignmentEffect(name) === "harmless";
}

function isHarmlessSet(word: string): boolean {
  return /^[-+][euxo]+$/.test(word) || word === "pipefail";
}
