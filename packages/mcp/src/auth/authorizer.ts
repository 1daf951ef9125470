import {
  auth,
  computeScopeUnion,
  isStrictScopeSuperset,
  type OAuthClientProvider,
  OAuthError,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { boundedFetch } from "../connection/bounded-fetch.js";
import {
  AuthorizationFailed,
  AuthorizationNeeded,
  authorizationWords,
} from "./authorization-needed.js";
import { StoredProvider, type StoredProviderParts } from "./stored-provider.js";
import { authorizationMs, type BegunAuthorization } from "./token-store.js";

/** Demand of a server that answered 401 or 403. */
export interface Challenge {
  /** Access token that was refused; undefined when none was sent. */
  readonly refused: string | undefined;
  readonly scope: string | undefined;
  readonly resourceMetadataUrl: URL | undefined;
  /** The token is good and allows too little. */
  readonly isStepUp: boolean;
}

/** Parts of an {@link Authorizer}: a provider of the program's own, or one that keeps tokens in the store. */
export type AuthorizerParts = { readonly serverUrl: URL } & (
  | { readonly provider: OAuthClientProvider }
  | { readonly stored: StoredProviderParts }
);

/** Limits of what authorization servers may answer. */
const limits = {
  maxMessageBytes: 1_048_576,
  maxMessagesPerSecond: 1_000,
  maxBytesPerSecond: 20_971_520,
};
const requestMs = 30_000;

/** Gets access tokens for one server and one holder, of which one attempt runs at a time. */
export class Authorizer {
  readonly #parts: AuthorizerParts;
  readonly #fetch: typeof fetch;
  #tokens: StoredOAuthTokens | undefined;
  #running: Promise<void> | undefined;
  #scope: string | undefined;
  /** Authorization that a person was asked for and that may still be finished. */
  #asked:
    | { readonly url: string; readonly scope: string | undefined; readonly at: number }
    | undefined;

  constructor(parts: AuthorizerParts) {
    this.#parts = parts;
    const bounded = boundedFetch(limits, () => {});
    this.#fetch = (input, init) =>
      bounded(input, { ...init, signal: AbortSignal.timeout(requestMs) });
  }

  /** Returns the access token to send; undefined when there is none yet. */
  async token(): Promise<string | undefined> {
    this.#tokens ??= await this.#stored();
    return this.#tokens?.access_token;
  }

  /**
   * Gets a token that satisfies the server: one that another process got, a refreshed one, or a new one.
   *
   * @throws AuthorizationNeeded when a person has to sign in first
   * @throws AuthorizationFailed
   */
  authorize(challenge: Challenge): Promise<void> {
    this.#running ??= this.#authorize(challenge).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Finishes what was begun in a browser, in any process. @throws AuthorizationFailed */
  async finish(begun: BegunAuthorization, code: string, iss: string | undefined): Promise<void> {
    if (!("stored" in this.#parts)) throw new AuthorizationFailed(authorizationWords);
    const provider = new StoredProvider(this.#parts.stored, begun);
    try {
      await this.#get(provider, {
        authorizationCode: code,
        ...(iss !== undefined && { iss }),
        ...(begun.scope !== undefined && { scope: begun.scope }),
      });
    } finally {
      // Also when it failed: its address works once, and a person who is asked again needs a new one.
      this.forget();
    }
  }

  /** Reads the tokens anew when they are needed next. */
  forget(): void {
    this.#asked = undefined;
    this.#tokens = undefined;
  }

  /** Takes the tokens that are stored now; returns whether there were some and are none any more. */
  async wasForgotten(): Promise<boolean> {
    if (!this.#tokens) return false;
    this.#tokens = await this.#stored();
    return !this.#tokens;
  }

  /** Takes the access token out of a text of the server, which knows it. */
  redact(text: string): string {
    const token = this.#tokens?.access_token;
    return token ? text.replaceAll(token, () => "[redacted]") : text;
  }

  #stored(): Promise<StoredOAuthTokens | undefined> {
    const { stored, provider } = { stored: undefined, provider: undefined, ...this.#parts };
    return Promise.resolve(
      stored ? stored.store.tokens(stored.id, stored.holder) : provider?.tokens(),
    );
  }

  async #authorize(challenge: Challenge): Promise<void> {
    const { refused, isStepUp, resourceMetadataUrl } = challenge;
    const tokens = await this.#stored();
    this.#tokens = tokens;
    if (!isStepUp && tokens && tokens.access_token !== refused) return;
    const scope = isStepUp
      ? computeScopeUnion(this.#scope, tokens?.scope, challenge.scope)
      : (challenge.scope ?? this.#scope);
    this.#scope = scope;
    const asked = this.#asked;
    if (asked && asked.scope === scope && Date.now() - asked.at < authorizationMs / 2)
      throw new AuthorizationNeeded(asked.url);
    const own = "stored" in this.#parts ? new StoredProvider(this.#parts.stored) : undefined;
    if (own) own.scope = scope;
    const result = await this.#get(
      own ?? (this.#parts as { provider: OAuthClientProvider }).provider,
      {
        ...(scope !== undefined && { scope }),
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        forceReauthorization: isStepUp && isStrictScopeSuperset(scope, tokens?.scope),
      },
    );
    if (result === "REDIRECT") await this.#askPerson(own, refused, scope);
    this.#asked = undefined;
    this.#tokens = await this.#stored();
  }

  /** Lets the program show the address, and goes on if the authorization was finished by then. */
  async #askPerson(
    provider: StoredProvider | undefined,
    refused: string | undefined,
    scope: string | undefined,
  ): Promise<void> {
    const url = provider?.authorizationUrl;
    if (url !== undefined) this.#asked = { url, scope, at: Date.now() };
    if ("stored" in this.#parts && url !== undefined) {
      const { options, server, holder } = this.#parts.stored;
      const userId = holder.kind === "user" ? holder.id : null;
      await options.onAuthorize?.(url, { server, userId });
    }
    const tokens = await this.#stored();
    if (!tokens || tokens.access_token === refused) throw new AuthorizationNeeded(url);
  }

  async #get(
    provider: OAuthClientProvider,
    options: Omit<Parameters<typeof auth>[1], "serverUrl" | "fetchFn">,
  ): Promise<Awaited<ReturnType<typeof auth>>> {
    try {
      const { serverUrl } = this.#parts;
      return await auth(provider, { ...options, serverUrl, fetchFn: this.#fetch });
    } catch (error) {
      // Without the cause: what an authorization server says may repeat codes and secrets.
      const why = error instanceof OAuthError ? String(error.code) : nameOf(error);
      throw new AuthorizationFailed(`${authorizationWords} that could not be had (${why})`);
    }
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown error";
}
