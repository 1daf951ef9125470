import { type Command, forEachChild, parse, type Redirect, type SyntaxNode } from "unbash";
import { assignmentEffect, isLoopVariable } from "./environment.js";
import { scriptText, shellProblem } from "./shell-builtins.js";
import { assignmentWord, between, type Gaps, gap, shellWord, wider } from "./shell-word.js";
import { tellingVariable, unwrap } from "./unwrap.js";

/** Command without separators, pipes and nesting, as the shell starts it. */
export interface SimpleCommand {
  /** Words after assignments and wrappers were removed. */
  readonly words: readonly string[];
  /** Words with each wrapper, outermost first; the last entry is `words`. */
  readonly forms: readonly (readonly string[])[];
  readonly gaps: Gaps;
  /** Reason why the program that runs cannot be known; null when it can. */
  readonly unknown: string | null;
  /** Variable in front of the command that is not known to be harmless. */
  readonly variable: string | null;
  /** Variables are set in front of the command. */
  readonly hasVariables: boolean;
  /** A shell that runs the text of `commands` after it; the text decides. */
  readonly isShell: boolean;
}

/** File that the shell opens for a command. */
export interface OpenedFile {
  readonly path: string;
  readonly writes: boolean;
  /** False when the path holds an expansion, or is relative to a directory that the line changes. */
  readonly known: boolean;
}

/** Everything a command line would run, at every depth. */
export interface CommandLine {
  readonly commands: readonly SimpleCommand[];
  readonly files: readonly OpenedFile[];
  /** Reason why there may be more than `commands` says; null when there is none. */
  readonly unknown: string | null;
}

/** Characters of a command line that is read; a longer one counts as unknown. */
const maxCommandChars = 10_000;

const maxCommands = 200;
const maxDepth = 4;

/** Characters that a person does not see or that reorder what a person sees, and those used as marks here. */
const deceptive = /(?![\n\t\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFE\uFFFF]|(?! )\p{Zs}/u;

const plainTests = new Set(["-e", "-f", "-d", "-z", "-n", "-r", "-w", "-x", "-s", "-L", "-h"]);

const plainDelimiter = /^(?:[\w.-]+|'[\w.-]+'|"[\w.-]+"|\\[\w.-]+)$/;

/** Reads a command line; never throws. */
export function readCommand(line: string): CommandLine {
  const reader = new Reader();
  try {
    reader.read(line, 0);
  } catch {
    // A parser that fails has seen something it does not know.
    reader.unknown ??= "a command that cannot be parsed";
  }
  return reader.result();
}

/** Returns the line as it is when it starts in a directory of the workspace: behind a `cd`, with its files named from there. */
export function inDirectory(read: CommandLine, directory: string): CommandLine {
  if (/^(?:\.?\/)*\.?$/.test(directory) && !directory.startsWith("/")) return read;
  const words = ["cd", directory];
  const plain = {
    gaps: "none" as const,
    unknown: null,
    variable: null,
    hasVariables: false,
    isShell: false,
  };
  const change: SimpleCommand = { words, forms: [words], ...plain };
  const files = read.files.map((file) => ({
    ...file,
    path: /^[/~]/.test(file.path) ? file.path : `${directory}/${file.path}`,
  }));
  const isStrange = deceptive.test(directory) || directory.includes(gap);
  const unknown =
    read.unknown ?? (isStrange ? "a directory with characters that cannot be seen" : null);
  return { commands: [change, ...read.commands], files, unknown };
}

class Reader {
  readonly commands: SimpleCommand[] = [];
  readonly files: OpenedFile[] = [];
  unknown: string | null = null;

  read(line: string, depth: number): void {
    if (line.length > maxCommandChars) this.doubt("a command of more than 10,000 characters");
    else if (depth > maxDepth) this.doubt("shells nested too deeply");
    else {
      if (deceptive.test(line)) this.doubt("characters that cannot be seen");
      this.visit(parse(line.replaceAll(gap, "").replaceAll(between, "")), depth);
    }
  }

  result(): CommandLine {
    const moves = this.commands.some(({ forms }) =>
      forms.some(([name = ""]) => /^(?:cd|pushd|popd|chdir)$/.test(name)),
    );
    const files = this.files.map((file) =>
      moves && !/^[/~]/.test(file.path) ? { ...file, known: false } : file,
    );
    return { commands: this.commands, files, unknown: this.unknown };
  }

  private doubt(reason: string): void {
    this.unknown ??= reason;
  }

  private visit(node: SyntaxNode, depth: number): void {
    const reason = this.commands.length > maxCommands ? "too many commands" : doubtOf(node);
    if (reason !== null) this.doubt(reason);
    if (node.type === "Command") this.add(node, depth);
    else if (node.type === "Redirect") this.open(node);
    if (this.commands.length <= maxCommands)
      forEachChild(node, (child) => this.visit(child, depth));
  }

  private open({ operator, target }: Redirect): void {
    // Without a target there was a parse error.
    if (target === undefined) return;
    const { text, gaps } = shellWord(target);
    if (/^[<>]&$/.test(operator) && /^(?:\d+-?|-)$/.test(text)) return;
    if (/^\/dev\/(?:null|stdout|stderr|stdin)$/.test(text)) return;
    // Bash connects to a host when it opens these.
    const isNetwork = /\/dev\/(?:tcp|udp)\b/.test(text);
    const writes = operator !== "<" || isNetwork;
    this.files.push({ path: text, writes, known: gaps === "none" && !isNetwork });
  }

  private add(node: Command, depth: number): void {
    const set = node.prefix.filter((item) => item.type === "Assignment");
    const variables = set.map(({ name, index }) => (index === undefined ? name : `${name}[`));
    if (node.name === undefined) {
      const variable = tellingVariable(variables);
      if (variable !== null) this.push([], "none", variables, "a variable that later commands see");
      return;
    }
    const args = node.args.map((arg) =>
      arg.type === "Word" ? shellWord(arg) : assignmentWord(arg),
    );
    const words = [shellWord(node.name), ...args];
    const gaps = words.reduce<Gaps>((widest, word) => wider(widest, word.gaps), "none");
    const texts = words.map(({ text }) => text);
    const last = this.push(texts, gaps, variables, null);
    const script = scriptText(last.words);
    if (script !== null) this.read(script, depth + 1);
  }

  private push(
    words: readonly string[],
    gaps: Gaps,
    before: readonly string[],
    problem: string | null,
  ): SimpleCommand {
    const forms: (readonly string[])[] = [words];
    const variables = [...before];
    let unknown = problem;
    for (let current = words; unknown === null; ) {
      const unwrapped = unwrap(current);
      if (unwrapped === null) break;
      if ("unknown" in unwrapped) unknown = unwrapped.unknown;
      else {
        current = unwrapped.words;
        forms.push(current);
        variables.push(...unwrapped.variables);
      }
    }
    const innermost = forms.at(-1) ?? [];
    const variable = tellingVariable(variables);
    if (variable !== null && assignmentEffect(variable) === "dangerous")
      unknown ??= `the variable ${variable}, which can make programs run others`;
    const command: SimpleCommand = {
      words: innermost,
      forms,
      gaps: innermost.includes(gap) ? "value" : gaps,
      unknown: unknown ?? nameProblem(innermost) ?? shellProblem(innermost),
      variable,
      hasVariables: variables.length > 0,
      isShell: scriptText(innermost) !== null && innermost[0] !== "eval",
    };
    this.commands.push(command);
    return command;
  }
}

function nameProblem([name]: readonly string[]): string | null {
  if (name === undefined) return null;
  if (name.includes(gap)) return "a command whose name is the result of an expansion";
  return name === "" || /^[=%-]/.test(name) ? "a command name that a shell may change" : null;
}

/** Returns why a part of the syntax hides what runs, or means another thing to another shell. */
function doubtOf(node: SyntaxNode): string | null {
  switch (node.type) {
    case "Script":
      return node.errors === undefined || node.errors.length === 0
        ? null
        : "a command that cannot be parsed";
    case "Function":
      return "a function, which may replace a command";
    case "Coproc":
    case "Select":
    case "ArithmeticCommand":
    case "ArithmeticFor":
      return "syntax that shells read differently";
    case "TestBinary":
    case "TestLogical":
    case "TestNot":
    case "TestGroup":
      return "a test that shells read differently";
    case "TestUnary":
      return plainTests.has(node.operator) ? null : "a test that evaluates its operand";
    case "ExtendedGlob":
      return "a glob that shells read differently";
    case "AnsiCQuoted":
      return node.text.includes("\\'") ? "quotes that shells read differently" : null;
    case "ArithmeticExpansion":
      return /^\$\(\([\d\s+*/%-]*\)\)$/.test(node.text) ? null : "arithmetic on variables";
    case "HereDoc":
      return plainDelimiter.test(node.delimiter?.text ?? "")
        ? null
        : "a here-document whose end shells read differently";
    case "ParameterExpansion":
      // Within double quotes `'` opens a quotation in bash and is a letter in other shells.
      if (node.text.includes("'")) return "quotes that shells read differently";
      return isPlain(node) ? null : "an expansion that assigns or evaluates";
    case "For":
      return isLoopVariable(node.name.value) ? null : "a loop over a variable that programs read";
    default:
      return null;
  }
}

function isPlain(node: Extract<SyntaxNode, { type: "ParameterExpansion" }>): boolean {
  if (node.prefix === "!" || node.index !== undefined) return false;
  const { operation } = node;
  if (operation === undefined) return true;
  if (operation.type === "Default") return !operation.operator.includes("=");
  return ["Remove", "Replace", "CaseModification"].includes(operation.type);
}
