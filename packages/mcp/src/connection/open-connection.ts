import type { Readable } from "node:stream";
import { Client } from "@modelcontextprotocol/client";
import { cleanText } from "../catalogue/clean-text.js";
import type { ServerSettings } from "../options/server-settings.js";
import { Connection, RequestFailed } from "./connection.js";
import { failureOf } from "./failure.js";
import { HttpTransport } from "./http-transport.js";
import type { ListedTools } from "./list-tools.js";
import { redactor } from "./redactor.js";
import { StderrLines } from "./stderr-lines.js";
import { StdioTransport } from "./stdio-transport.js";

const clientInfo = { name: "holdfast", version: "0.1.0" };
const maxStderrChars = 2_000;

/** A connection and the tools it began with. */
export interface Opened {
  readonly connection: Connection;
  readonly listed: ListedTools;
}

/** Why a server could not be connected to. */
export class ConnectFailed extends Error {
  override readonly name = "ConnectFailed";
  /** The last lines of its stderr, without secrets; for people, never for a model. */
  readonly stderr: string;

  constructor(words: string, stderr: string) {
    super(words);
    this.stderr = stderr;
  }
}

/**
 * Starts or reaches a server, shakes hands and reads its tools.
 *
 * @param signal - gives up
 * @param onTools - told when the server has other tools
 * @throws ConnectFailed after everything that was started has ended
 */
export async function openConnection(
  settings: ServerSettings,
  signal: AbortSignal,
  onTools: (listed: ListedTools) => void,
): Promise<Opened> {
  const { endpoint, connectTimeoutMs } = settings;
  const redact = redactor(endpoint);
  const { transport, stderr } = makeTransport(settings);
  const client = new Client(clientInfo, { capabilities: {} });
  const close = async (): Promise<void> => {
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
  };
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]);
  try {
    await client.connect(transport, { signal: deadline, timeout: connectTimeoutMs });
    const connection = new Connection({
      client,
      close,
      redact,
      listTimeoutMs: connectTimeoutMs,
      onTools,
    });
    try {
      return { connection, listed: await connection.firstTools(deadline) };
    } catch (error) {
      await connection.close();
      throw error;
    }
  } catch (error) {
    await close();
    const words = error instanceof RequestFailed ? error.message : failureOf(error, redact).words;
    const said = cleanText(redact(stderr?.last ?? ""), maxStderrChars);
    throw new ConnectFailed(words, said);
  }
}

function makeTransport({ endpoint, maxMessageBytes }: ServerSettings): {
  transport: StdioTransport | HttpTransport;
  stderr: StderrLines | undefined;
} {
  if (endpoint.kind === "http")
    return { transport: new HttpTransport(endpoint, maxMessageBytes), stderr: undefined };
  const { command, args, env, cwd, onStderr } = endpoint;
  const transport = new StdioTransport({
    command,
    args: [...args],
    // The transport adds PATH, HOME and the like, and nothing else of this process's.
    env: { ...env },
    stderr: "pipe",
    maxBufferSize: maxMessageBytes,
    ...(cwd !== undefined && { cwd }),
  });
  const stderr = transport.stderr as Readable;
  return { transport, stderr: new StderrLines(stderr, onStderr) };
}
