import { createHash, randomBytes } from "node:crypto";
import { type JsonObject, type KeyValueStore, StateConflictError } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

/** Party that an authorization belongs to: the agent, a user, or a session without a user. */
export interface TokenHolder {
  readonly kind: "agent" | "user" | "session";
  readonly id: string;
}

/** An authorization that was begun in a browser, until the browser comes back. */
export interface BegunAuthorization {
  readonly server: string;
  readonly holder: TokenHolder;
  readonly codeVerifier: string;
  readonly discovery: OAuthDiscoveryState | undefined;
  readonly scope: string | undefined;
  /** Time it was begun, in milliseconds. */
  readonly at: number;
}

/** Time a person has for an authorization. */
export const authorizationMs = 900_000;

/** Keeps clients, tokens and begun authorizations of one agent in its key-value store. */
export class TokenStore {
  readonly #values: KeyValueStore;
  readonly #namespace: readonly string[];

  constructor(values: KeyValueStore, agentId: string) {
    this.#values = values;
    this.#namespace = ["mcp", agentId, "oauth"];
  }

  /** Returns the registration of this program with a server's authorization server. */
  async client(id: string): Promise<StoredOAuthClientInformation | undefined> {
    return (await this.#get(`client:${id}`)) as StoredOAuthClientInformation | undefined;
  }

  async saveClient(id: string, client: StoredOAuthClientInformation | null): Promise<void> {
    await this.#put(`client:${id}`, client);
  }

  async tokens(id: string, holder: TokenHolder): Promise<StoredOAuthTokens | undefined> {
    return (await this.#get(tokensKey(id, holder))) as StoredOAuthTokens | undefined;
  }

  async saveTokens(
    id: string,
    holder: TokenHolder,
    tokens: StoredOAuthTokens | null,
  ): Promise<void> {
    await this.#put(tokensKey(id, holder), tokens);
  }

  /** Returns the list of tools that users of a server were offered last; undefined when there is none. */
  async toolList(id: string): Promise<JsonObject | undefined> {
    return this.#get(`tools:${id}`);
  }

  async saveToolList(id: string, list: JsonObject): Promise<void> {
    await this.#put(`tools:${id}`, list);
  }

  /** Keeps what is needed to finish an authorization, in any process. */
  async begin(state: string, begun: BegunAuthorization): Promise<void> {
    await this.#dropOld(begun.at);
    await this.#put(stateKey(state), begun);
  }

  /** Returns what was begun with a state, once; null when it is unknown, too old, or was finished. */
  async finish(state: string, now: number): Promise<BegunAuthorization | null> {
    const key = stateKey(state);
    const found = await this.#values.get(this.#namespace, key);
    if (!found || !isRecord(found.value)) return null;
    try {
      const condition = { expected: found.version };
      if (!(await this.#values.delete(this.#namespace, key, condition))) return null;
    } catch (error) {
      if (StateConflictError.is(error)) return null;
      throw error;
    }
    const begun = found.value as unknown as BegunAuthorization;
    return now - begun.at <= authorizationMs ? begun : null;
  }

  /** Forgets what a holder has begun, so that a browser which comes back brings no tokens. */
  async dropBegun({ kind, id }: TokenHolder): Promise<void> {
    const isTheirs = ({ holder }: BegunAuthorization) => holder?.kind === kind && holder.id === id;
    let cursor: string | undefined;
    do {
      const page = await this.#values.list(this.#namespace, { prefix: "state:", cursor });
      await this.#drop(page.keys, isTheirs);
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  /** Forgets authorizations that nobody finished. */
  async #dropOld(now: number): Promise<void> {
    const { keys } = await this.#values.list(this.#namespace, { prefix: "state:", limit: 20 });
    await this.#drop(keys, ({ at }) => now - at > authorizationMs);
  }

  async #drop(
    keys: readonly string[],
    isOver: (begun: BegunAuthorization) => boolean,
  ): Promise<void> {
    const found = await this.#values.getMany(this.#namespace, keys);
    for (const [index, key] of keys.entries()) {
      const begun = found[index]?.value;
      if (isRecord(begun) && isOver(begun as unknown as BegunAuthorization))
        await this.#values.delete(this.#namespace, key);
    }
  }

  async #get(key: string): Promise<JsonObject | undefined> {
    const found = await this.#values.get(this.#namespace, key);
    return found && isRecord(found.value) ? (found.value as JsonObject) : undefined;
  }

  async #put(key: string, value: object | null): Promise<void> {
    if (value === null) await this.#values.delete(this.#namespace, key);
    else await this.#values.put(this.#namespace, key, JSON.parse(JSON.stringify(value)));
  }
}

/** Returns a new state: unguessable, since it stands for the person who was asked. */
export function newState(): string {
  return randomBytes(24).toString("base64url");
}

/** Returns a short id of the given texts, for keys. */
export function idOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 22);
}

function tokensKey(id: string, { kind, id: holder }: TokenHolder): string {
  return `tokens:${id}:${idOf(kind, holder)}`;
}

/** The state itself is not stored: who reads the store must not be able to finish an authorization of another. */
function stateKey(state: string): string {
  return `state:${idOf(state)}`;
}
