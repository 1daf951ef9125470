import type { McpAuth } from "../auth/oauth-options.js";

/** Tool group of a server's tools; see `toolGroups` of the agent. */
export interface McpGroup {
  readonly name: string;
  /** One sentence for the model, shown by `reset_equipped_tools`. */
  readonly description?: string | undefined;
  /** Start sessions with the group switched on. @default false */
  readonly active?: boolean | undefined;
}

/** Exponential backoff with jitter between attempts to reach a server. */
export interface McpRetryOptions {
  /** Delay after the first failure. @default 500 */
  readonly baseDelayMs?: number | undefined;
  /** Upper limit of the delay. @default 30_000 */
  readonly maxDelayMs?: number | undefined;
}

/** Options of every server, whatever its transport. */
export interface McpServerCommonOptions {
  /** Offer the tools only while this group is on in the session. @default no group: always offered */
  readonly group?: string | McpGroup | undefined;
  /** Tools to take, by the server's own names. @default all */
  readonly include?: readonly string[] | undefined;
  /** Tools to leave out, by the server's own names. @default none */
  readonly exclude?: readonly string[] | undefined;
  /** Prefix of the tools' names. @default the server's name and `_` */
  readonly prefix?: string | undefined;
  /** Time a call may take without an answer or progress, and time it waits for a server that is away. @default 60_000 */
  readonly timeoutMs?: number | undefined;
  /** Time a call may take in total, however much progress it reports. @default 300_000, or `timeoutMs` if that is longer */
  readonly maxTimeoutMs?: number | undefined;
  /** Time that connecting and listing the tools may take. @default 30_000 */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * Time a question of the server stays open there while this process waits for a person's answer. Later, or in another process,
   * the tool is called anew and gets the answers again. @default 300_000
   */
  readonly questionTimeoutMs?: number | undefined;
  /** Fail the start of the agent if this server cannot be reached. @default false */
  readonly required?: boolean | undefined;
  /** Trust the server's statement that a tool only reads; such tools stay available in plan mode. @default false */
  readonly trustAnnotations?: boolean | undefined;
  /** Maximum number of tools; the first by name are taken. @default 128 */
  readonly maxTools?: number | undefined;
  /** Maximum characters of a description, of the tool or within its schema. @default 4_000 */
  readonly maxDescriptionChars?: number | undefined;
  /** Maximum characters of an input schema as JSON; a tool with a larger one is left out. @default 32_000 */
  readonly maxSchemaChars?: number | undefined;
  /** Maximum characters of text and base64 data in one result. @default 4_000_000 */
  readonly maxResultChars?: number | undefined;
  /** Maximum bytes of one message from the server; a larger one fails its call, or over stdio the connection. @default 10_485_760 */
  readonly maxMessageBytes?: number | undefined;
  /** Messages that are read from the server per second; if it sends more, it waits. @default 1_000 */
  readonly maxMessagesPerSecond?: number | undefined;
  /** Bytes that are read from the server per second, and from its stderr; if it sends more, it waits. @default 20_971_520 */
  readonly maxBytesPerSecond?: number | undefined;
  /** Bytes that may wait for a server process to read them; with more, the connection is closed. @default 8_388_608 */
  readonly maxUnsentBytes?: number | undefined;
  /** Time the server may take to read a message that it is sent, before the connection is closed. @default 30_000 */
  readonly writeTimeoutMs?: number | undefined;
  /** Backoff between attempts to reach the server. */
  readonly retry?: McpRetryOptions | undefined;
}

/** Server that is started as a process and speaks MCP over stdin and stdout. */
export interface McpStdioServerOptions extends McpServerCommonOptions {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Variables in addition to `PATH`, `HOME`, `USER` and the like; no other variable of this process is passed on. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Working directory. @default this process's */
  readonly cwd?: string | undefined;
  /** Listener for lines of the server's stderr, each cut at 4,000 characters. @default none: stderr is discarded */
  readonly onStderr?: ((line: string) => void) | undefined;
}

/** Server that speaks MCP over streamable HTTP. */
export interface McpHttpServerOptions extends McpServerCommonOptions {
  readonly url: string | URL;
  /** Headers of every request, for example `Authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** OAuth: `oauth()`, `clientCredentials()` or a provider of the MCP SDK. @default none */
  readonly auth?: McpAuth | undefined;
}

/** One MCP server. */
export type McpServerOptions = McpStdioServerOptions | McpHttpServerOptions;

/** Options of {@link mcpTools}. */
export interface McpToolsOptions {
  /** The servers by name: letters, digits, `_` and `-`, at most 40. */
  readonly servers: Readonly<Record<string, McpServerOptions>>;
  /** Listener for servers that connect (at the start: once all have been tried), go away or change their tools. Must return at once. */
  readonly onServerChange?: ((change: McpServerChange) => void) | undefined;
}

/** Parameters with which a browser comes back from an authorization. */
export interface McpRedirect {
  readonly state: string;
  readonly code: string;
  /** Issuer, if the authorization server names it. */
  readonly iss?: string | undefined;
  /**
   * User who is signed in to your program, `null` for none: what another user began is not finished. Leave it out only where every
   * authorization is the agent's. @default not compared
   */
  readonly userId?: string | null | undefined;
}

/** Tool of a server that the agent does not get, with the reason. */
export interface McpToolLeftOut {
  readonly name: string;
  readonly reason: string;
}

/** Change in the connection or the tools of a server. */
export type McpServerChange =
  | {
      /** `connected`: the server is connected, for the first time or again. `tools_changed`: its list of tools has changed. */
      readonly type: "connected" | "tools_changed";
      readonly server: string;
      /** Names of its tools as shown to the model, in order. */
      readonly tools: readonly string[];
      readonly leftOut: readonly McpToolLeftOut[];
    }
  | {
      /** The server could not be reached, or the connection was lost; another attempt follows. */
      readonly type: "away";
      readonly server: string;
      /** A sentence without secrets. */
      readonly reason: string;
      readonly retryInMs: number;
    };
