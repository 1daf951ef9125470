import type { Readable } from "node:stream";
import { timeLimit } from "@holdfast/core/plugin-kit";
import { Client } from "@modelcontextprotocol/client";
import type { Authorizer } from "../auth/authorizer.js";
import { cleanText } from "../catalogue/clean-text.js";
import type { ServerSettings } from "../options/server-settings.js";
import { Connection, RequestFailed } from "./connection.js";
import { failureOf } from "./failure.js";
import { HttpTransport } from "./http-transport.js";
import type { ListedTools } from "./list-tools.js";
import { redactor } from "./redactor.js";
import { StderrLines, StdioTransport } from "./stdio-transport.js";

const clientInfo = { name: "holdfast", version: "0.1.0" };
/** Limit of each line, so that long lines do not crowd out the last one, which says most. */
const maxStderrChars = 300;

/** A connection and its first list of tools. */
export interface Opened {
  readonly connection: Connection;
  readonly listed: ListedTools;
}

/** Failure to connect to a server. */
export class ConnectFailed extends Error {
  override readonly name = "ConnectFailed";
  /** Last lines of its stderr, without secrets; for people, never for a model. */
  readonly stderr: string;
  /** Resolves when everything that was started has ended; never rejects. */
  readonly closed: Promise<void>;
  /** Address that a person has to open first; null when the program has shown it, undefined when none is needed. */
  readonly authorize: string | null | undefined;

  constructor(
    words: string,
    stderr: string,
    closed: Promise<void> = Promise.resolve(),
    authorize?: string | null,
  ) {
    super(words);
    this.stderr = stderr;
    this.closed = closed;
    this.authorize = authorize;
  }
}

/** Settings of {@link openConnection}. */
export interface OpenOptions {
  /** Called with the list of tools when it may have changed; returns whether it has. */
  onTools(listed: ListedTools): boolean;
  /** Called when the server asks something. */
  onAsk(): void;
  /** Gets access tokens for a server that wants them. */
  readonly authorizer: Authorizer | undefined;
}

/**
 * Connects to a server, performs the handshake and reads its tools.
 *
 * @param signal - aborts the attempt
 * @throws ConnectFailed, at the latest when `connectTimeoutMs` is over; a process may then still be ending
 */
export async function openConnection(
  settings: ServerSettings,
  signal: AbortSignal,
  { onTools, onAsk, authorizer }: OpenOptions,
): Promise<Opened> {
  const { endpoint, connectTimeoutMs } = settings;
  const redactGiven = redactor(endpoint);
  const redact = (text: string) => redactGiven(authorizer?.redact(text) ?? text);
  const { transport, stderr } = makeTransport(settings, authorizer);
  const client = new Client(clientInfo, { capabilities: { elicitation: { form: {}, url: {} } } });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= closeBoth(client, transport);
    return closing;
  };
  using limit = timeLimit(connectTimeoutMs, { stops: [signal], keepsAlive: false });
  const deadline = limit.signal;
  try {
    const connected = client.connect(transport, { signal: deadline, timeout: connectTimeoutMs });
    // The client waits for the last step of the handshake without a limit of its own.
    await Promise.race([connected, over(deadline)]);
    const connection = new Connection({
      client,
      close,
      redact,
      listTimeoutMs: connectTimeoutMs,
      overHttp: endpoint.kind === "http",
      maxListChars: settings.maxMessageBytes,
      onTools,
      givenUpCalls: () => (transport instanceof StdioTransport ? transport.givenUpCalls : 0),
      onAsk,
    });
    try {
      return { connection, listed: await connection.firstTools(deadline) };
    } catch (error) {
      void connection.close();
      throw error;
    }
  } catch (error) {
    const closed = close();
    // A process that ends by itself has written all of its stderr then; one that does not end is not waited for.
    await Promise.race([closed, over(deadline).catch(() => {})]);
    const failed = transport.exceeded ?? (error instanceof RequestFailed ? error : null);
    const failure = error instanceof RequestFailed ? error.failure : failureOf(error, redact);
    const words = failed?.message ?? failure.words;
    const said = (stderr?.last ?? []).map((line) => cleanText(redact(line), maxStderrChars));
    throw new ConnectFailed(words, said.join("\n"), closed, failure.authorize);
  }
}

async function closeBoth(client: Client, transport: StdioTransport | HttpTransport): Promise<void> {
  await client.close().catch(() => {});
  await transport.close().catch(() => {});
}

/** Rejects when the time is over. */
function over(deadline: AbortSignal): Promise<never> {
  const failure = new RequestFailed({ kind: "unknown", words: "did not answer in time" });
  return new Promise((_, reject) => {
    if (deadline.aborted) reject(failure);
    deadline.addEventListener("abort", () => reject(failure), { once: true });
  });
}

function makeTransport(
  settings: ServerSettings,
  authorizer: Authorizer | undefined,
): {
  transport: StdioTransport | HttpTransport;
  stderr: StderrLines | undefined;
} {
  const { endpoint } = settings;
  if (endpoint.kind === "http")
    return { transport: new HttpTransport(endpoint, settings, authorizer), stderr: undefined };
  const { command, args, env, cwd, onStderr } = endpoint;
  const parameters = {
    command,
    args: [...args],
    // The transport adds PATH, HOME and the like, but no other variable of this process.
    env: { ...env },
    stderr: "pipe" as const,
    ...(cwd !== undefined && { cwd }),
  };
  const transport = new StdioTransport(parameters, settings);
  const stderr = transport.stderr as Readable;
  return { transport, stderr: new StderrLines(stderr, onStderr) };
}
