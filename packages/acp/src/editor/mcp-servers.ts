import type { McpServer } from "@agentclientprotocol/sdk";

/** MCP server that the editor wants a session to use, as `mcpTools` of `@holdfast/mcp` takes it. */
export type EditorMcpServer =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** Most servers of one session. */
const MAX_SERVERS = 32;

/** Returns the servers by names that tools can begin with; those of a transport that is not offered are left out. */
export function editorMcpServers(
  servers: readonly McpServer[],
  cwd: string,
): Readonly<Record<string, EditorMcpServer>> {
  const found: Record<string, EditorMcpServer> = {};
  for (const server of servers.slice(0, MAX_SERVERS)) {
    const name = freeName(server.name, found);
    if (!("type" in server)) {
      const { command, args, env } = server;
      found[name] = { command, args, env: recordOf(env), cwd };
    } else if (server.type === "http")
      found[name] = { url: server.url, headers: recordOf(server.headers) };
  }
  return found;
}

/** Longest name, with room for a number. */
const MAX_NAME_CHARS = 36;

function freeName(wanted: string, taken: Readonly<Record<string, unknown>>): string {
  const plain = wanted.replaceAll(/[^a-zA-Z0-9_-]+/g, "_").slice(0, MAX_NAME_CHARS) || "server";
  let name = plain;
  for (let number = 2; Object.hasOwn(taken, name); number++) name = `${plain}-${number}`;
  return name;
}

function recordOf(
  entries: readonly { readonly name: string; readonly value: string }[],
): Record<string, string> {
  return Object.fromEntries(entries.map(({ name, value }) => [name, value]));
}
