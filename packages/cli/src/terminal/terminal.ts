import picocolors from "picocolors";
import { safeJson, safeText } from "./safe-text.js";

/** Functions that colour text, or give it back as it is where colours are off. */
export type Colors = ReturnType<typeof picocolors.createColors>;

/** Where a command reads and writes, and how. */
export interface Terminal {
  readonly out: NodeJS.WritableStream;
  readonly err: NodeJS.WritableStream;
  readonly in: NodeJS.ReadableStream;
  /** The environment the command goes by. */
  readonly env: NodeJS.ProcessEnv;
  /** Both ends are a terminal, and neither CI nor `--json` says otherwise. */
  readonly isInteractive: boolean;
  /** Whether `--json` was given. */
  readonly isJson: boolean;
  /** Off with NO_COLOR, in pipes and with `--json`; on with FORCE_COLOR. */
  readonly colors: Colors;
  /** Width of the terminal; 80 where there is none. */
  readonly columns: number;
  /** A line on stdout. */
  line(text?: string): void;
  /** One JSON document, or one line of NDJSON, on stdout. */
  json(value: unknown): void;
  /** A line on stderr, its control characters made harmless. */
  warn(text: string): void;
}

/** What a {@link Terminal} is made of. */
export interface TerminalOptions {
  readonly out?: NodeJS.WritableStream | undefined;
  readonly err?: NodeJS.WritableStream | undefined;
  readonly in?: NodeJS.ReadableStream | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** The arguments behind the command's name; only `--json` is looked for. */
  readonly argv?: readonly string[] | undefined;
}

/** A terminal over the process's own streams, or over those given. */
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

/** https://no-color.org: set and not empty; FORCE_COLOR is stronger, unless it says 0 or false. */
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
