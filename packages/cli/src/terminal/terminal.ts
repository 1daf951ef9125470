import picocolors from "picocolors";
import { safeJson, safeText } from "./safe-text.js";

/** Functions that colour a text, or return it unchanged where colours are off. */
export type Colors = ReturnType<typeof picocolors.createColors>;

/** Input and output of a command. */
export interface Terminal {
  readonly out: NodeJS.WritableStream;
  readonly err: NodeJS.WritableStream;
  readonly in: NodeJS.ReadableStream;
  /** Environment variables. */
  readonly env: NodeJS.ProcessEnv;
  /** Input and output are a terminal, and neither CI nor `--json` is set. */
  readonly isInteractive: boolean;
  /** `--json` was given. */
  readonly isJson: boolean;
  /** Off with NO_COLOR, in pipes and with `--json`; on with FORCE_COLOR. */
  readonly colors: Colors;
  /** Width of the terminal; 80 where there is none. */
  readonly columns: number;
  /** Writes a line to stdout. */
  line(text?: string): void;
  /** Writes one JSON document, or one line of NDJSON, to stdout. */
  json(value: unknown): void;
  /** Writes a line to stderr, with control characters escaped. */
  warn(text: string): void;
}

/** Options of {@link createTerminal}. */
export interface TerminalOptions {
  readonly out?: NodeJS.WritableStream | undefined;
  readonly err?: NodeJS.WritableStream | undefined;
  readonly in?: NodeJS.ReadableStream | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Arguments of the command; only `--json` matters here. */
  readonly argv?: readonly string[] | undefined;
}

/** Creates a terminal over the given streams, by default those of the process. */
export function createTerminal(options: TerminalOptions = {}): Terminal {
  const {
    out = process.stdout,
    err = process.stderr,
    in: input = process.stdin,
    env = process.env,
    argv = process.argv.slice(2),
  } = options;
  const isJson = hasFlag(argv, "--json");
  const isCi = isSet(env["CI"]) && env["CI"] !== "false" && env["CI"] !== "0";
  return {
    out,
    err,
    in: input,
    env,
    isJson,
    isInteractive: isTty(out) && isTty(input) && !isCi && !isJson,
    colors: picocolors.createColors(!isJson && wantsColors(env, isTty(out))),
    get columns() {
      const { columns } = out as { columns?: number };
      return columns !== undefined && columns > 0 ? columns : 80;
    },
    line: (text = "") => void out.write(`${text}\n`),
    json: (value) => void out.write(`${safeJson(value)}\n`),
    warn: (text) => void err.write(`${safeText(text)}\n`),
  };
}

/** Follows https://no-color.org (set and not empty); FORCE_COLOR takes precedence, unless it is 0 or false. */
function wantsColors(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if (isSet(env["NO_COLOR"])) return false;
  return isTerminal && env["TERM"] !== "dumb";
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}

function isTty(stream: unknown): boolean {
  return (stream as { isTTY?: boolean }).isTTY === true;
}

function hasFlag(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes(flag);
}
