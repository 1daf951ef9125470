import type { JsonObject, Slot } from "@holdfast/core";
import { AuthorizationNeeded } from "../auth/authorization-needed.js";
import { type Authorizers, authorizationId, holderOf } from "../auth/authorizers.js";
import type { TokenHolder, TokenStore } from "../auth/token-store.js";
import type { ServerSettings } from "../options/server-settings.js";
import type { CallServer, UsedConnection } from "./call-server.js";
import type { Connection } from "./connection.js";
import type { ListedTools, ToolDefinition } from "./list-tools.js";
import { ConnectFailed, openConnection } from "./open-connection.js";

/** Connections of users that are kept open at the same time. */
const maxConnections = 64;
/** Time after its last call at which a user's connection is closed. */
const idleMs = 300_000;

/** A user's connection. */
interface UserConnection {
  readonly opened: Promise<Connection>;
  uses: number;
  idle: NodeJS.Timeout | undefined;
}

/** Parts of a {@link UserServer}. */
export interface UserServerParts {
  readonly settings: ServerSettings;
  readonly authorizers: Authorizers;
  readonly store: TokenStore;
  /** Called with the tools that users were offered so far. */
  onTools(listed: ListedTools, connected: boolean): boolean;
}

/** A server at which every user signs in themselves: each has a connection of their own, opened by their first call. */
export class UserServer implements CallServer {
  readonly settings: ServerSettings;
  readonly #parts: UserServerParts;
  readonly #users = new Map<string, UserConnection>();
  readonly #tools = new Map<string, ToolDefinition>();
  readonly #end = new AbortController();
  #awayReason = "is not connected yet";

  constructor(parts: UserServerParts) {
    this.settings = parts.settings;
    this.#parts = parts;
  }

  get awayReason(): string {
    return this.#awayReason;
  }

  /** Offers the tools that users were offered before, in whichever process. */
  async start(): Promise<void> {
    const { store, settings } = this.#parts;
    const kept = await store.toolList(authorizationId(settings)).catch(() => undefined);
    const tools = Array.isArray(kept?.["tools"]) ? kept["tools"] : [];
    if (tools.length > 0) this.#take({ tools: tools as unknown as ToolDefinition[], malformed: 0 });
  }

  async use(slot: Slot, signal: AbortSignal): Promise<UsedConnection> {
    const holder = holderOf(slot);
    const key = keyOf(holder);
    // Where another process has deleted the user, the id may be another person's by now.
    if (await this.#parts.authorizers.get(this.settings, holder)?.wasForgotten()) this.#drop(key);
    const known = this.#users.get(key);
    const user = known ?? this.#open(slot, key);
    user.uses++;
    clearTimeout(user.idle);
    const release = () => this.#release(key, user);
    try {
      const connection = await Promise.race([user.opened, aborted(signal)]);
      if (!connection.isLost) return { connection, release };
    } catch (error) {
      release();
      if (!(error instanceof ConnectFailed)) throw error;
      this.#awayReason = error.message;
      if (error.authorize === undefined) throw error;
      throw new AuthorizationNeeded(error.authorize ?? undefined);
    }
    // Unless another call has replaced it already. Before the release, which lets a connection of the list grow old there.
    if (this.#users.get(key) === user) this.#users.delete(key);
    release();
    return this.use(slot, signal);
  }

  /** Ends the connection of a holder, if there is one. */
  drop(holder: TokenHolder): void {
    this.#drop(keyOf(holder));
  }

  async close(): Promise<void> {
    this.#end.abort();
    const users = [...this.#users.values()];
    this.#users.clear();
    await Promise.all(users.map(closed));
  }

  #open(slot: Slot, key: string): UserConnection {
    for (const [other, { uses }] of this.#users)
      if (this.#users.size >= maxConnections && uses === 0) this.#drop(other);
    if (this.#users.size >= maxConnections)
      throw new ConnectFailed(`has calls of ${maxConnections} users in flight already`, "");
    const { settings, authorizers } = this.#parts;
    const opened = openConnection(settings, this.#end.signal, {
      onTools: (listed) => this.#take(listed),
      onAsk: () => {},
      authorizer: authorizers.get(settings, holderOf(slot)),
    }).then(({ connection, listed }) => {
      this.#take(listed, true);
      return connection;
    });
    const user: UserConnection = { opened, uses: 0, idle: undefined };
    this.#users.set(key, user);
    // The next call tries again.
    opened.catch(() => this.#users.get(key) === user && this.#users.delete(key));
    return user;
  }

  #release(key: string, user: UserConnection): void {
    user.uses--;
    if (user.uses > 0 || this.#users.get(key) !== user) return;
    user.idle = setTimeout(() => this.#drop(key), idleMs).unref();
  }

  #drop(key: string): void {
    const user = this.#users.get(key);
    this.#users.delete(key);
    if (user) void closed(user);
  }

  /** Adds to the tools that are offered: users may be allowed different ones, and their sessions share one list. */
  #take(listed: ListedTools, connected = false): boolean {
    for (const one of listed.tools) this.#tools.set(one.name, one);
    const tools = [...this.#tools.values()].slice(-this.settings.maxTools);
    const changed = this.#parts.onTools({ ...listed, tools }, connected);
    const { store, settings } = this.#parts;
    if (changed)
      void store
        .saveToolList(authorizationId(settings), { tools } as unknown as JsonObject)
        .catch(() => {});
    return changed;
  }
}

function keyOf({ kind, id }: TokenHolder): string {
  return `${kind} ${id}`;
}

async function closed({ opened, idle }: UserConnection): Promise<void> {
  clearTimeout(idle);
  await opened.then((connection) => connection.close()).catch(() => {});
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
