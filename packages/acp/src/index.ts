export type { AcpAgent } from "./acp-agent.js";
export type {
  AcpAuth,
  AcpAuthMethod,
  AcpOptions,
  EditorSession,
  SessionAgent,
  SessionCommand,
} from "./acp-options.js";
export { EditorError } from "./editor/editor-error.js";
export type { EditorMcpServer } from "./editor/mcp-servers.js";
export { type AcpServer, serveAcp } from "./serve-acp.js";
export type { EditorMode } from "./session/session-modes.js";
export { type StdioStreamOptions, stdioStream } from "./stdio-stream.js";
