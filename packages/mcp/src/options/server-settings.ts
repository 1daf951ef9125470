import type { McpAuth } from "../auth/oauth-options.js";
import type { McpGroup } from "./mcp-tools-options.js";

/** Command or URL of a server. */
export type Endpoint =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | undefined;
      readonly onStderr: ((line: string) => void) | undefined;
    }
  | {
      readonly kind: "http";
      readonly url: URL;
      readonly headers: Readonly<Record<string, string>>;
      readonly auth?: McpAuth | undefined;
    };

/** Settings of one server, with defaults filled in. */
export interface ServerSettings {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly group: McpGroup | undefined;
  readonly include: ReadonlySet<string> | undefined;
  readonly exclude: ReadonlySet<string>;
  readonly prefix: string;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly questionTimeoutMs: number;
  readonly required: boolean;
  readonly trustAnnotations: boolean;
  readonly maxTools: number;
  readonly maxDescriptionChars: number;
  readonly maxSchemaChars: number;
  readonly maxResultChars: number;
  readonly maxMessageBytes: number;
  readonly maxMessagesPerSecond: number;
  readonly maxBytesPerSecond: number;
  readonly maxUnsentBytes: number;
  readonly writeTimeoutMs: number;
  readonly retry: { readonly baseDelayMs: number; readonly maxDelayMs: number };
}
