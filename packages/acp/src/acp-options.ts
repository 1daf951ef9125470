import type { ToolKind } from "@agentclientprotocol/sdk";
import type { Filesystem, Plugin, Tool } from "@holdfast/core";
import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { longestTimerMs } from "@holdfast/core/store-kit";
import type { AcpAgent } from "./acp-agent.js";
import type { EditorMcpServer } from "./editor/mcp-servers.js";
import type { EditorMode } from "./session/session-modes.js";

/** Session of an editor, for which an agent is made. */
export interface EditorSession {
  readonly sessionId: string;
  /** Directory of the project; absolute. */
  readonly cwd: string;
  /** MCP servers that the editor names for the session, as `mcpTools` of `@holdfast/mcp` takes them. */
  readonly mcpServers: Readonly<Record<string, EditorMcpServer>>;
  /**
   * Returns the project's files as the editor shows them: text goes through the editor where it offers that, everything else to
   * `disk`, which has the files of `cwd`. Give the agent `plugin` as well.
   */
  filesystem(disk: Filesystem): Filesystem;
  /** Tool `execute`, which runs commands in a terminal of the editor; absent where the editor has none. */
  readonly terminal?: Tool | undefined;
  /** Lets tools that search many files read them from disk, not through the editor. */
  readonly plugin: Plugin;
}

/** Command that a person may type as `/name`, in place of a prompt. It does not enter the conversation. */
export interface SessionCommand {
  readonly name: string;
  readonly description: string;
  /** Words that stand for an argument; without them the command takes none. */
  readonly hint?: string | undefined;
  /** Runs it; the text is shown. @param argument - what was typed behind the name */
  run(argument: string): Promise<string>;
}

/** Agent of one editor session. */
export interface SessionAgent {
  readonly agent: AcpAgent;
  /**
   * Modes to offer: permission modes for an agent with `permissions()`, `plan` for one with `planning()`.
   * @default none
   */
  readonly modes?: readonly EditorMode[] | undefined;
  /** @default none */
  readonly commands?: readonly SessionCommand[] | undefined;
  /** Called when the session is closed or the editor has gone, for example to shut the agent down. */
  close?(): Promise<void>;
}

/** Way to sign in that an editor offers. */
export interface AcpAuthMethod {
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
}

/** Signing in, for agents that need it. */
export interface AcpAuth {
  readonly methods: readonly AcpAuthMethod[];
  /** Tells whether sessions may be used without signing in first. @default false, until `authenticate` has resolved */
  isSignedIn?(): boolean | Promise<boolean>;
  /** Signs in; rejects when that fails. */
  authenticate(methodId: string): void | Promise<void>;
  /** Signs out. @default not offered */
  logout?(): void | Promise<void>;
}

/** Options of {@link serveAcp}. */
export interface AcpOptions {
  /** Name of the agent, for the editor. */
  readonly name: string;
  /** @default "0" */
  readonly version?: string | undefined;
  /** Makes the agent of a session; all of them share one store, so that each finds the sessions of the others. */
  agentFor(session: EditorSession): SessionAgent | Promise<SessionAgent>;
  /** Owner of the sessions. @default null */
  readonly userId?: string | null | undefined;
  /** @default none is needed */
  readonly auth?: AcpAuth | undefined;
  /** Kind of a tool that is not one of Holdfast's own, by which an editor chooses its icon. @default "other" */
  readonly toolKind?: ((name: string) => ToolKind | undefined) | undefined;
  /** Goes on with a run that lost its process when its session is loaded. @default true */
  readonly resumeRuns?: boolean | undefined;
  /** Sessions that may be open at once on a connection. @default 32 */
  readonly maxSessions?: number | undefined;
  /** Records of the log, the newest, that loading a session replays. @default 5_000 */
  readonly maxReplayRecords?: number | undefined;
  /** Time that the editor may take to read or write a file, or to start a terminal. @default 30_000 */
  readonly requestTimeoutMs?: number | undefined;
  /** Time that a person may take to answer; what was asked stays in the session. @default 86_400_000 */
  readonly askTimeoutMs?: number | undefined;
  /** Receives errors that nobody waits for, and those whose message the editor does not get. @default ignored */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** {@link AcpOptions} with the defaults filled in. */
export interface AcpSettings extends AcpOptions {
  readonly version: string;
  readonly userId: string | null;
  readonly resumeRuns: boolean;
  readonly maxSessions: number;
  readonly maxReplayRecords: number;
  readonly requestTimeoutMs: number;
  readonly askTimeoutMs: number;
  readonly onError: (error: unknown) => void;
}

const milliseconds = s.int().min(1).max(longestTimerMs);
const isFunction = (value: unknown): boolean => typeof value === "function";

const schema: s.Schema<AcpSettings> = s.strictObject({
  name: s.string().min(1),
  version: s.string().default("0"),
  agentFor: s.custom<AcpOptions["agentFor"]>(isFunction, "must be a function"),
  userId: s.string().min(1).nullable().default(null),
  auth: s
    .custom<AcpAuth>(
      (value) => isFunction((value as AcpAuth)?.authenticate),
      "must have methods and a function authenticate",
    )
    .optional(),
  toolKind: s
    .custom<NonNullable<AcpOptions["toolKind"]>>(isFunction, "must be a function")
    .optional(),
  resumeRuns: s.boolean().default(true),
  maxSessions: s.int().min(1).default(32),
  maxReplayRecords: s.int().min(1).default(5_000),
  requestTimeoutMs: milliseconds.default(30_000),
  askTimeoutMs: milliseconds.default(86_400_000),
  onError: s
    .custom<NonNullable<AcpOptions["onError"]>>(isFunction, "must be a function")
    .default(() => () => undefined),
});

/**
 * Checks options and fills in defaults.
 *
 * @throws ConfigurationError
 */
export function readOptions(options: AcpOptions): AcpSettings {
  return parseOptions(schema, options, "serveAcp");
}
