import type { Tool } from "@holdfast/core";
import { callTool } from "./call-tool.js";
import { ToolCatalogue } from "./catalogue/tool-catalogue.js";
import type { ListedTools } from "./connection/list-tools.js";
import { ReconnectingServer } from "./connection/reconnecting-server.js";
import { McpServerError } from "./mcp-server-error.js";
import type { McpServerChange } from "./options/mcp-tools-options.js";
import type { McpToolsSettings } from "./options/read-options.js";
import type { ServerSettings } from "./options/server-settings.js";

/** Servers that are connected to at the same time. */
const concurrency = 8;

/** The servers of one agent. */
export class McpServers {
  readonly #settings: McpToolsSettings;
  readonly #emit: (change: McpServerChange) => void;
  readonly #catalogue: ToolCatalogue;
  #servers: ReadonlyMap<string, ReconnectingServer> = new Map();
  #closed = false;

  constructor(settings: McpToolsSettings, emit: (change: McpServerChange) => void) {
    this.#settings = settings;
    this.#emit = emit;
    this.#catalogue = new ToolCatalogue(settings.servers, (server, name, input, ctx) =>
      callTool(this.#servers.get(server.name) as ReconnectingServer, name, input, ctx),
    );
  }

  get tools(): readonly Tool[] {
    return this.#catalogue.tools;
  }

  /**
   * Connects to all servers and waits for the first attempt at each; further attempts follow in the background.
   *
   * @throws McpServerError if a required one could not be reached; then all are disconnected, and `start` may be called again
   */
  async start(): Promise<void> {
    if (this.#closed) return;
    // Applied in the order of the servers once all have answered: if two tools want the same name, the faster server must
    // not decide which one gets it.
    const first = new Map<ServerSettings, ListedTools>();
    let starting = true;
    const servers = this.#settings.servers.map(
      (server) =>
        new ReconnectingServer(server, {
          onTools: (listed, connected) => {
            if (starting) first.set(server, listed);
            return !starting && this.#onTools(server, listed, connected);
          },
          onAway: (reason, retryInMs) => {
            first.delete(server);
            this.#tell({ type: "away", server: server.name, reason, retryInMs });
          },
        }),
    );
    this.#servers = new Map(servers.map((one) => [one.settings.name, one]));
    const queue = [...servers];
    const worker = async (): Promise<void> => {
      for (let one = queue.shift(); one && !this.#closed; one = queue.shift()) await one.start();
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    if (this.#closed) return;
    const missing = servers.find((one) => one.settings.required && one.failure);
    if (missing) {
      const error = startError(missing);
      await this.#closeServers();
      throw error;
    }
    starting = false;
    for (const server of this.#settings.servers) {
      const listed = first.get(server);
      if (listed) this.#onTools(server, listed, true);
    }
  }

  /** Ends every connection and server process; no call may follow. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#closeServers();
  }

  async #closeServers(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((one) => one.close()));
  }

  #onTools(server: ServerSettings, listed: ListedTools, connected: boolean): boolean {
    const { changed, tools, leftOut } = this.#catalogue.update(server, listed);
    const type = connected ? "connected" : "tools_changed";
    if (connected || changed) this.#tell({ type, server: server.name, tools, leftOut });
    return changed;
  }

  #tell(change: McpServerChange): void {
    this.#emit(change);
    try {
      this.#settings.onServerChange?.(change);
    } catch {
      // A listener that throws must not end a connection.
    }
  }
}

function startError({ settings: { name }, failure }: ReconnectingServer): McpServerError {
  const said = failure?.stderr ? `; its last lines on stderr:\n${failure.stderr}` : "";
  return new McpServerError(
    name,
    `the MCP server ${JSON.stringify(name)} is required and ${failure?.message}${said}`,
  );
}
