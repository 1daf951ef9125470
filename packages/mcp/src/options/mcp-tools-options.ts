import type { McpServerChange } from "./server-change.js";

/** The group a server's tools are in; see `toolGroups` of the agent. */
export interface McpGroup {
  readonly name: string;
  /** One sentence for the model, shown by `reset_equipped_tools`. */
  readonly description?: string | undefined;
  /** Whether the group is on in a session that never changed it. @default false */
  readonly active?: boolean | undefined;
}

/** How the pauses between attempts to reach a server grow: doubled each time, with jitter. */
export interface McpRetryOptions {
  /** @default 500 */
  readonly baseDelayMs?: number | undefined;
  /** @default 30_000 */
  readonly maxDelayMs?: number | undefined;
}

/** What every server can be told, however it is reached. */
export interface McpServerCommonOptions {
  /** Offer the tools only while this group is on in the session. @default no group: always */
  readonly group?: string | McpGroup | undefined;
  /** The only tools taken, by the server's own names. @default all */
  readonly include?: readonly string[] | undefined;
  /** Tools left out, by the server's own names. @default none */
  readonly exclude?: readonly string[] | undefined;
  /** What the names of the tools begin with. @default the server's name and `_` */
  readonly prefix?: string | undefined;
  /** How long a call may go without an answer or a sign of progress, and how long it waits for a server that is away. @default 60_000 */
  readonly timeoutMs?: number | undefined;
  /** How long a call may take in all, however much progress it reports. @default 300_000, or `timeoutMs` if that is longer */
  readonly maxTimeoutMs?: number | undefined;
  /** How long connecting and listing the tools may take. @default 30_000 */
  readonly connectTimeoutMs?: number | undefined;
  /** Fail the start of the agent when this server cannot be reached. @default false */
  readonly required?: boolean | undefined;
  /** Believe the server when it says that a tool only reads; such tools stay available in plan mode. @default false */
  readonly trustAnnotations?: boolean | undefined;
  /** Tools taken at most, the first by name. @default 128 */
  readonly maxTools?: number | undefined;
  /** Characters of a description, the tool's or one in its schema. @default 4_000 */
  readonly maxDescriptionChars?: number | undefined;
  /** Characters of an input schema as JSON; a tool with a larger one is left out. @default 32_000 */
  readonly maxSchemaChars?: number | undefined;
  /** Characters of text and of base64 data of one result. @default 4_000_000 */
  readonly maxResultChars?: number | undefined;
  /** Bytes of one message of the server; a larger one fails the call it answers, or else the connection, as over stdio. @default 10_485_760 */
  readonly maxMessageBytes?: number | undefined;
  readonly retry?: McpRetryOptions | undefined;
}

/** A server that is started as a process and spoken to over its stdin and stdout. */
export interface McpStdioServerOptions extends McpServerCommonOptions {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Added to the few variables every server gets (`PATH`, `HOME`, `USER` …); nothing else of this process's is passed on. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** @default this process's */
  readonly cwd?: string | undefined;
  /** Gets what the server writes to stderr, line by line, as it is but for lines over 4,000 characters, which are cut. @default it is read and dropped */
  readonly onStderr?: ((line: string) => void) | undefined;
}

/** A server that is reached over streamable HTTP. */
export interface McpHttpServerOptions extends McpServerCommonOptions {
  readonly url: string | URL;
  /** Sent with every request, for example `Authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** One MCP server. */
export type McpServerOptions = McpStdioServerOptions | McpHttpServerOptions;

/** What {@link mcpTools} is told. */
export interface McpToolsOptions {
  /** The servers by name: letters, digits, `_` and `-`, at most 40. */
  readonly servers: Readonly<Record<string, McpServerOptions>>;
  /** Told when a server connects (at the start: when all have, or could not), goes away or changes its tools. It must return at once. */
  readonly onServerChange?: ((change: McpServerChange) => void) | undefined;
}
