export {
  clientCredentials,
  type McpAuth,
  type McpAuthorization,
  type McpClientCredentialsOptions,
  type McpOAuth,
  type McpOAuthOptions,
  oauth,
} from "./auth/oauth-options.js";
export type { McpEvents } from "./mcp-events.js";
export { McpServerError } from "./mcp-server-error.js";
export { type McpPlugin, mcpTools } from "./mcp-tools.js";
export type {
  McpGroup,
  McpHttpServerOptions,
  McpRedirect,
  McpRetryOptions,
  McpServerChange,
  McpServerCommonOptions,
  McpServerOptions,
  McpStdioServerOptions,
  McpToolLeftOut,
  McpToolsOptions,
} from "./options/mcp-tools-options.js";
