export type { McpEvents } from "./mcp-events.js";
export { McpServerError } from "./mcp-server-error.js";
export { mcpTools } from "./mcp-tools.js";
export type {
  McpGroup,
  McpHttpServerOptions,
  McpRetryOptions,
  McpServerChange,
  McpServerCommonOptions,
  McpServerOptions,
  McpStdioServerOptions,
  McpToolLeftOut,
  McpToolsOptions,
} from "./options/mcp-tools-options.js";
