import type { Tool } from "@holdfast/core";
import { HeldCalls } from "./asking/held-calls.js";
import { AuthorizationFailed } from "./auth/authorization-needed.js";
import { Authorizers, isPerUser } from "./auth/authorizers.js";
import type { McpAuthorization } from "./auth/oauth-options.js";
import type { TokenHolder, TokenStore } from "./auth/token-store.js";
import { SignInTools } from "./catalogue/sign-in-tools.js";
import { ToolCatalogue } from "./catalogue/tool-catalogue.js";
import type { CallServer } from "./connection/call-server.js";
import type { ListedTools } from "./connection/list-tools.js";
import { ReconnectingServer } from "./connection/reconnecting-server.js";
import { UserServer } from "./connection/user-server.js";
import { McpServerError } from "./mcp-server-error.js";
import type { McpRedirect, McpServerChange } from "./options/mcp-tools-options.js";
import type { McpToolsSettings } from "./options/read-options.js";
import type { ServerSettings } from "./options/server-settings.js";
import { runTool } from "./run-tool.js";

/** Servers that are connected to at the same time. */
const concurrency = 8;

/** Parts of {@link McpServers}. */
export interface McpServersParts {
  readonly settings: McpToolsSettings;
  /** Store of tokens; undefined when no server needs it. */
  readonly tokens: TokenStore | undefined;
  emit(change: McpServerChange): void;
}

/** The servers of one agent. */
export class McpServers {
  readonly #settings: McpToolsSettings;
  readonly #parts: McpServersParts;
  readonly #catalogue: ToolCatalogue;
  readonly #authorizers: Authorizers;
  readonly #held = new HeldCalls();
  #servers: ReadonlyMap<string, ReconnectingServer | UserServer> = new Map();
  readonly #signIns: SignInTools;
  #closed = false;

  constructor(parts: McpServersParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.#authorizers = new Authorizers(parts.tokens);
    this.#catalogue = new ToolCatalogue(parts.settings.servers, (server, name, input, ctx) =>
      runTool(this.#held, this.#server(server), { name, input }, ctx),
    );
    this.#signIns = new SignInTools((server, ctx) =>
      runTool(this.#held, this.#server(server), { name: null, input: {} }, ctx),
    );
  }

  get tools(): readonly Tool[] {
    return this.#signIns.after(this.#catalogue.tools);
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
    const servers = this.#settings.servers.map((server) => {
      const onTools = (listed: ListedTools, connected: boolean) => {
        if (starting) first.set(server, listed);
        return !starting && this.#onTools(server, listed, connected);
      };
      if (isPerUser(server)) {
        const { tokens } = this.#parts;
        const store = tokens as TokenStore;
        return new UserServer({ settings: server, authorizers: this.#authorizers, store, onTools });
      }
      const onAway = (reason: string, retryInMs: number) => {
        first.delete(server);
        this.#offerSignIns();
        this.#tell({ type: "away", server: server.name, reason, retryInMs });
      };
      return new ReconnectingServer(server, { onTools, onAway }, this.#authorizers.get(server));
    });
    this.#servers = new Map(servers.map((one) => [one.settings.name, one]));
    const queue = [...servers];
    const worker = async (): Promise<void> => {
      for (let one = queue.shift(); one && !this.#closed; one = queue.shift()) await one.start();
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    if (this.#closed) return;
    const missing = servers.find(isMissing);
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
    this.#offerSignIns();
  }

  /**
   * Finishes an authorization that was begun in any process.
   *
   * @returns whose authorization it is; null when this agent has begun none with that state, or for another user
   * @throws McpServerError when the authorization server refuses the code
   */
  async finishAuthorization({
    state,
    code,
    iss,
    userId,
  }: McpRedirect): Promise<McpAuthorization | null> {
    const begun = await this.#parts.tokens?.finish(state, Date.now());
    const settings = this.#settings.servers.find(({ name }) => name === begun?.server);
    if (!begun || !settings) return null;
    const { holder } = begun;
    const ownerId = holder.kind === "user" ? holder.id : null;
    // Before the code is redeemed: the tokens of one person must not become those of another.
    if (userId !== undefined && holder.kind !== "agent" && ownerId !== userId) return null;
    try {
      await this.#authorizers.get(settings, holder)?.finish(begun, code, iss);
    } catch (error) {
      if (!(error instanceof AuthorizationFailed)) throw error;
      throw new McpServerError(
        settings.name,
        `the MCP server ${JSON.stringify(settings.name)} ${error.message}; begin again`,
      );
    }
    const server = this.#servers.get(settings.name);
    if (server instanceof ReconnectingServer) server.retry();
    return { server: settings.name, userId: ownerId };
  }

  /** Deletes what a user, or a session without one, has authorized; also before the start. */
  async forget(holder: TokenHolder): Promise<void> {
    const servers = this.#settings.servers.filter(isPerUser);
    // First, or a browser that comes back would bring new tokens.
    if (servers.length > 0) await this.#parts.tokens?.dropBegun(holder);
    for (const settings of servers) {
      await this.#authorizers.forget(settings, holder);
      const server = this.#servers.get(settings.name);
      if (server instanceof UserServer) server.drop(holder);
    }
  }

  /** Ends every connection and server process; no call may follow. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#held.close();
    await this.#closeServers();
  }

  #server({ name }: ServerSettings): ReconnectingServer | UserServer {
    return this.#servers.get(name) as ReconnectingServer | UserServer;
  }

  /** Offers to sign in at the servers whose tools are not known because nobody has signed in. */
  #offerSignIns(): void {
    const isUnknown = ({ settings }: CallServer) => !this.#catalogue.has(settings);
    const wants = (one: ReconnectingServer | UserServer) =>
      one instanceof UserServer || typeof one.failure?.authorize === "string";
    const servers = [...this.#servers.values()].filter((one) => wants(one) && isUnknown(one));
    this.#signIns.offer(servers.map(({ settings }) => settings));
  }

  async #closeServers(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((one) => one.close()));
  }

  #onTools(server: ServerSettings, listed: ListedTools, connected: boolean): boolean {
    const { changed, tools, leftOut } = this.#catalogue.update(server, listed);
    const type = connected ? "connected" : "tools_changed";
    this.#offerSignIns();
    if (connected || changed) this.#tell({ type, server: server.name, tools, leftOut });
    return changed;
  }

  #tell(change: McpServerChange): void {
    this.#parts.emit(change);
    try {
      this.#settings.onServerChange?.(change);
    } catch {
      // A listener that throws must not end a connection.
    }
  }
}

function isMissing(one: ReconnectingServer | UserServer): one is ReconnectingServer {
  return one instanceof ReconnectingServer && one.settings.required && one.failure !== null;
}

function startError({ settings: { name }, failure }: ReconnectingServer): McpServerError {
  const said = failure?.stderr ? `; its last lines on stderr:\n${failure.stderr}` : "";
  return new McpServerError(
    name,
    `the MCP server ${JSON.stringify(name)} is required and ${failure?.message}${said}`,
  );
}
