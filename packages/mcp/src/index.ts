export { McpServerError } from "./mcp-server-error.js";
export { mcpTools } from "./mcp-tools.js";
export type {
  McpGroup,
  McpHttpServerOptions,
  McpRetryOptions,
  McpServerCommonOptions,
  McpServerOptions,
  McpStdioServerOptions,
  McpToolsOptions,
} from "./options/mcp-tools-options.js";
export type { McpServerChange, McpToolLeftOut } from "./options/server-change.js";
