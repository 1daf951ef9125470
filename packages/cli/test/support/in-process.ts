import { PassThrough, Readable } from "node:stream";
import { run } from "../../src/run.js";
import { createTerminal } from "../../src/terminal/terminal.js";
import { plainEnvironment } from "./command.js";

/** Result of a command. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Stdout as one JSON document. */
  json<T = Record<string, unknown>>(): T;
}

/** Options of a command. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly input?: string | undefined;
  /** Pretend that both ends are a terminal. @default false */
  readonly isTerminal?: boolean | undefined;
}

/** Runs a command within this process: all but `main.ts`, without the time it takes to start Node. */
export async function holdfast(
  args: readonly string[],
  { env, input = "", isTerminal = false }: RunOptions = {},
): Promise<Outcome> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const source = Readable.from(input === "" ? [] : [input]);
  if (isTerminal) for (const stream of [out, source]) Object.assign(stream, { isTTY: true });
  const texts = [textOf(out), textOf(err)];
  const terminal = createTerminal({ out, err, in: source, env: plainEnvironment(env), argv: args });
  const code = await run(args, terminal);
  out.end();
  err.end();
  const [stdout = "", stderr = ""] = await Promise.all(texts);
  return { code, stdout, stderr, json: () => JSON.parse(stdout) };
}

async function textOf(stream: PassThrough): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += chunk;
  return text;
}
