import type { Slot } from "@holdfast/core";
import { BoundedMap } from "@holdfast/core/plugin-kit";
import type { ServerSettings } from "../options/server-settings.js";
import { Authorizer } from "./authorizer.js";
import type { McpAuth, McpOAuth } from "./oauth-options.js";
import { idOf, type TokenHolder, type TokenStore } from "./token-store.js";

/** Authorizers that are kept for users who come back; the tokens themselves are in the store. */
const maxKept = 1_000;
const agentHolder: TokenHolder = { kind: "agent", id: "" };

/** Tells whether the tokens are kept by this package, and not by a provider of the program. */
export function isStored(auth: McpAuth | undefined): auth is McpOAuth {
  return auth !== undefined && "kind" in auth && auth.kind === "authorization_code";
}

/** Tells whether every user of a server has an authorization of their own. */
export function isPerUser({ endpoint }: ServerSettings): boolean {
  return endpoint.kind === "http" && isStored(endpoint.auth) && endpoint.auth.per === "user";
}

/** Returns the party that holds the tokens for calls of a session. */
export function holderOf({ userId, sessionId }: Slot): TokenHolder {
  return userId === null ? { kind: "session", id: sessionId } : { kind: "user", id: userId };
}

/** Returns the id under which a server's client and tokens are kept: another URL or client is another authorization. */
export function authorizationId({ name, endpoint }: ServerSettings): string {
  if (endpoint.kind !== "http" || !isStored(endpoint.auth)) return "";
  const { redirectUrl, clientId = "", clientMetadataUrl = "" } = endpoint.auth;
  return idOf(name, endpoint.url.href, redirectUrl, clientId, clientMetadataUrl);
}

/** Authorizers of one agent: one per server, and one per user where users sign in themselves. */
export class Authorizers {
  readonly #store: TokenStore | undefined;
  readonly #kept = new BoundedMap<string, Authorizer>({
    maxEntries: maxKept,
    leastRecentlyUsed: true,
  });

  constructor(store: TokenStore | undefined) {
    this.#store = store;
  }

  /** Returns the authorizer of a server for a holder; undefined when the server needs none. */
  get(settings: ServerSettings, holder: TokenHolder = agentHolder): Authorizer | undefined {
    const { endpoint, name } = settings;
    if (endpoint.kind !== "http" || !endpoint.auth) return undefined;
    const key = keyOf(settings, holder);
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const { url: serverUrl, auth } = endpoint;
    const made = isStored(auth)
      ? new Authorizer({
          serverUrl,
          stored: {
            options: auth,
            store: this.#store as TokenStore,
            server: name,
            id: authorizationId(settings),
            holder,
          },
        })
      : new Authorizer({ serverUrl, provider: auth });
    this.#kept.set(key, made);
    return made;
  }

  /** Deletes the tokens that a holder has for a server. */
  async forget(settings: ServerSettings, holder: TokenHolder): Promise<void> {
    await this.#store?.saveTokens(authorizationId(settings), holder, null);
    this.#kept.get(keyOf(settings, holder))?.forget();
  }
}

function keyOf({ name }: ServerSettings, { kind, id }: TokenHolder): string {
  return `${name} ${kind} ${id}`;
}
