/** Background events of `mcpTools()`. They belong to no session: their slot has the `sessionId` `"-"` and no user. */
export interface McpEvents {
  /** A server is connected, for the first time or again. */
  readonly mcp_connected: {
    readonly server: string;
    /** Number of its tools that the model gets. */
    readonly tools: number;
    /** Number of its tools that the model does not get. */
    readonly leftOut: number;
  };
  /** The list of tools of a connected server has changed. */
  readonly mcp_tools_changed: {
    readonly server: string;
    readonly tools: number;
    readonly leftOut: number;
  };
  /** A server could not be reached, or its connection was lost; another attempt follows. */
  readonly mcp_away: {
    readonly server: string;
    /** A sentence without secrets. */
    readonly reason: string;
    readonly retryInMs: number;
  };
}

declare module "@holdfast/core" {
  interface EventTypes extends McpEvents {}
}
