import type { McpServer } from "@agentclientprotocol/sdk";
import type { EditorSession } from "../acp-options.js";
import type { EditorClient } from "./editor-client.js";
import { diskSearches, EditorFilesystem } from "./editor-filesystem.js";
import { editorMcpServers } from "./mcp-servers.js";
import { terminalTool } from "./terminal-tool.js";

/** Returns what the editor has for an agent that works on a session. */
export function editorSession(
  client: EditorClient,
  session: {
    readonly sessionId: string;
    readonly cwd: string;
    readonly mcpServers: readonly McpServer[];
    readonly timeoutMs: number;
  },
): EditorSession {
  const { sessionId, cwd, mcpServers, timeoutMs } = session;
  const { fs, terminal } = client.capabilities;
  const hasFiles = fs?.readTextFile === true || fs?.writeTextFile === true;
  return {
    sessionId,
    cwd,
    mcpServers: editorMcpServers(mcpServers, cwd),
    filesystem: (disk) =>
      hasFiles ? new EditorFilesystem({ client, sessionId, cwd, disk, timeoutMs }) : disk,
    ...(terminal === true && { terminal: terminalTool({ client, sessionId, cwd, timeoutMs }) }),
    plugin: diskSearches(),
  };
}
