/** A tool of a server that the agent does not get, and why. */
export interface McpToolLeftOut {
  readonly name: string;
  readonly reason: string;
}

/** Something that happened to a server. */
export type McpServerChange =
  | {
      /** `connected`: the server is there, again or for the first time. `tools_changed`: it has other tools than before. */
      readonly type: "connected" | "tools_changed";
      readonly server: string;
      /** Names of its tools as the model sees them, in order. */
      readonly tools: readonly string[];
      readonly leftOut: readonly McpToolLeftOut[];
    }
  | {
      /** The server could not be reached, or is no longer there; the next attempt follows. */
      readonly type: "away";
      readonly server: string;
      /** In words, without anything secret. */
      readonly reason: string;
      readonly retryInMs: number;
    };
