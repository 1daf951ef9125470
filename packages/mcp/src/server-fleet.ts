import type { Tool } from "@holdfast/core";
import { callTool } from "./call-tool.js";
import { ToolCatalogue } from "./catalogue/tool-catalogue.js";
import type { ListedTools } from "./connection/list-tools.js";
import { ServerLink } from "./connection/server-link.js";
import { McpServerError } from "./mcp-server-error.js";
import type { McpToolsSettings } from "./options/read-options.js";
import type { McpServerChange } from "./options/server-change.js";
import type { ServerSettings } from "./options/server-settings.js";

/** How many servers are connected to at the same time. */
const atOnce = 8;

/** The servers of one agent. */
export class ServerFleet {
  readonly #settings: McpToolsSettings;
  readonly #catalogue: ToolCatalogue;
  #links: ReadonlyMap<string, ServerLink> = new Map();
  #closed = false;

  constructor(settings: McpToolsSettings) {
    this.#settings = settings;
    this.#catalogue = new ToolCatalogue(settings.servers, (server, name, input, ctx) =>
      callTool(this.#links.get(server.name) as ServerLink, name, input, ctx),
    );
  }

  get tools(): readonly Tool[] {
    return this.#catalogue.tools;
  }

  /**
   * Connects to all servers and waits until each was reached or could not be; the latter are tried on.
   *
   * @throws McpServerError when a required one could not be reached; then none is connected, and it can be started anew
   */
  async start(): Promise<void> {
    if (this.#closed) return;
    // Taken in the order of the servers when all have answered: of two tools that want one name, who gets it must not
    // depend on who was faster.
    const first = new Map<ServerSettings, ListedTools>();
    let starting = true;
    const links = this.#settings.servers.map(
      (server) =>
        new ServerLink(server, {
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
    this.#links = new Map(links.map((link) => [link.settings.name, link]));
    const queue = [...links];
    const worker = async (): Promise<void> => {
      for (let link = queue.shift(); link && !this.#closed; link = queue.shift())
        await link.start();
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    if (this.#closed) return;
    const missing = links.find((link) => link.settings.required && link.failure);
    if (missing) {
      const error = startError(missing);
      await this.#closeLinks();
      throw error;
    }
    starting = false;
    for (const server of this.#settings.servers) {
      const listed = first.get(server);
      if (listed) this.#onTools(server, listed, true);
    }
  }

  /** Ends every connection and every server process; no call may come after it. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#closeLinks();
  }

  async #closeLinks(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }

  #onTools(server: ServerSettings, listed: ListedTools, connected: boolean): boolean {
    const { changed, tools, leftOut } = this.#catalogue.update(server, listed);
    const type = connected ? "connected" : "tools_changed";
    if (connected || changed) this.#tell({ type, server: server.name, tools, leftOut });
    return changed;
  }

  #tell(change: McpServerChange): void {
    try {
      this.#settings.onServerChange?.(change);
    } catch {
      // A listener of the program must not end a connection.
    }
  }
}

function startError({ settings: { name }, failure }: ServerLink): McpServerError {
  const said = failure?.stderr ? `; the last it wrote to stderr:\n${failure.stderr}` : "";
  return new McpServerError(
    name,
    `the MCP server ${JSON.stringify(name)} is required and ${failure?.message}${said}`,
  );
}
