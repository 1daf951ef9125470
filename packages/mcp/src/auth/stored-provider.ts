import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { McpOAuth } from "./oauth-options.js";
import {
  type BegunAuthorization,
  newState,
  type TokenHolder,
  type TokenStore,
} from "./token-store.js";

/** Parts of a {@link StoredProvider}. */
export interface StoredProviderParts {
  readonly options: McpOAuth;
  readonly store: TokenStore;
  readonly server: string;
  /** Id of the client at this server: another URL or redirect is another client. */
  readonly id: string;
  readonly holder: TokenHolder;
}

/** One attempt of the SDK to get tokens, from and to the store. */
export class StoredProvider implements OAuthClientProvider {
  readonly #parts: StoredProviderParts;
  readonly #state = newState();
  #codeVerifier: string | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  /** Tokens that this attempt works with. */
  #tokens: StoredOAuthTokens | undefined;
  declare readonly clientMetadataUrl?: string;
  /** Scope that the attempt asks for, kept with what was begun. */
  scope: string | undefined;
  /** Address that a person has to open; undefined as long as none is needed. */
  authorizationUrl: string | undefined;

  /** @param begun - authorization that is finished by this attempt */
  constructor(parts: StoredProviderParts, begun?: BegunAuthorization) {
    this.#parts = parts;
    const { clientMetadataUrl } = parts.options;
    if (clientMetadataUrl !== undefined) Object.assign(this, { clientMetadataUrl });
    this.#codeVerifier = begun?.codeVerifier;
    this.#discovery = begun?.discovery;
  }

  get redirectUrl(): string {
    return this.#parts.options.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    const { clientName, scope, redirectUrl } = this.#parts.options;
    return {
      client_name: clientName ?? "Holdfast agent",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      ...(scope !== undefined && { scope }),
    };
  }

  state(): string {
    return this.#state;
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { options, store, id } = this.#parts;
    const { clientId, clientSecret, issuer } = options;
    if (clientId === undefined) return store.client(id);
    return {
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      ...(issuer !== undefined && { issuer }),
    };
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    const { options, store, id } = this.#parts;
    if (options.clientId === undefined) await store.saveClient(id, client);
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    const { store, id, holder } = this.#parts;
    this.#tokens = await store.tokens(id, holder);
    return this.#tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    const { store, id, holder } = this.#parts;
    await store.saveTokens(id, holder, tokens);
  }

  saveCodeVerifier(codeVerifier: string): void {
    this.#codeVerifier = codeVerifier;
  }

  codeVerifier(): string {
    return this.#codeVerifier ?? "";
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.#discovery = discovery;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const { store, server, holder } = this.#parts;
    const { scope } = this;
    const codeVerifier = this.codeVerifier();
    const begun = { server, holder, codeVerifier, discovery: this.#discovery, scope };
    await store.begin(this.#state, { ...begun, at: Date.now() });
    this.authorizationUrl = url.href;
  }

  async invalidateCredentials(
    what: "all" | "client" | "tokens" | "verifier" | "discovery",
  ): Promise<void> {
    const { store, id, holder } = this.#parts;
    if (what === "all" || what === "client") await store.saveClient(id, null);
    if (what === "discovery") this.#discovery = undefined;
    if (what !== "all" && what !== "tokens") return;
    const used = this.#tokens?.refresh_token;
    const stored = await store.tokens(id, holder);
    // Another process has refreshed them meanwhile, with the same refresh token: its tokens are good.
    if (stored && stored.refresh_token === used) await store.saveTokens(id, holder, null);
  }
}
