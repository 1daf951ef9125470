import { ConfigurationError } from "@holdfast/core";
import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import {
  ClientCredentialsProvider,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
} from "@modelcontextprotocol/client";

/** A person's authorization that is wanted, as {@link McpOAuthOptions.onAuthorize} is told. */
export interface McpAuthorization {
  /** The server's name in the options. */
  readonly server: string;
  /** User whose authorization it is; null when it is the agent's, or of a session without a user. */
  readonly userId: string | null;
}

/** Options of {@link oauth}. */
export interface McpOAuthOptions {
  /** Address of your program that the browser is sent back to; its handler calls `finishAuthorization`. */
  readonly redirectUrl: string;
  /** One authorization for the whole agent, or one for each user. @default "agent" */
  readonly per?: "agent" | "user" | undefined;
  /** Scopes to ask for when the server names none, separated by spaces. @default none */
  readonly scope?: string | undefined;
  /** Id of a client that was registered beforehand. @default registered with the authorization server when it is needed */
  readonly clientId?: string | undefined;
  /** Secret of that client. @default none: a public client */
  readonly clientSecret?: string | undefined;
  /** Issuer of the authorization server that knows the client: its secret goes nowhere else. @default the one that the server names */
  readonly issuer?: string | undefined;
  /** URL of a client metadata document, which some authorization servers take in place of a registration. @default none */
  readonly clientMetadataUrl?: string | undefined;
  /** Name that the authorization server shows to the person. @default "Holdfast agent" */
  readonly clientName?: string | undefined;
  /**
   * Called with the address that a person has to open. When it has resolved and the authorization is finished by then, the
   * request goes on; otherwise the person is asked through the tool call. @default none
   */
  readonly onAuthorize?:
    | ((url: string, about: McpAuthorization) => void | Promise<void>)
    | undefined;
}

/** Options of {@link clientCredentials}: a secret, or a private key that signs assertions. */
export interface McpClientCredentialsOptions {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** Private key in PEM or JWK form, in place of a secret. */
  readonly privateKey?: string | Uint8Array | Record<string, unknown> | undefined;
  /** Algorithm of the private key, for example `ES256`. */
  readonly algorithm?: string | undefined;
  /** Issuer of the authorization server that knows the client: nothing is sent to another. @default the one that the server names */
  readonly issuer?: string | undefined;
  readonly scope?: string | undefined;
}

/** Authorization of an HTTP server: made with {@link oauth} or {@link clientCredentials}, or a provider of the MCP SDK. */
export type McpAuth = McpOAuth | OAuthClientProvider;

/** Authorization code flow; made with {@link oauth}. */
export interface McpOAuth extends McpOAuthOptions {
  readonly kind: "authorization_code";
  readonly per: "agent" | "user";
}

const webAddress = s
  .string()
  .refine((text) => /^https?:/i.test(text) && URL.canParse(text), "must be an http or https URL");
const options = s.strictObject({
  redirectUrl: webAddress,
  per: s.enum(["agent", "user"]).default("agent"),
  scope: s.string().optional(),
  clientId: s.string().min(1).optional(),
  clientSecret: s.string().min(1).optional(),
  issuer: webAddress.optional(),
  clientMetadataUrl: webAddress.optional(),
  clientName: s.string().min(1).default("Holdfast agent"),
  onAuthorize: s.custom((value) => typeof value === "function", "must be a function").optional(),
});

/**
 * Signs a person in at the server's authorization server: authorization code with PKCE, refresh tokens, step-up scopes. Tokens
 * are kept in the agent's key-value store.
 *
 * @throws ConfigurationError
 * @example
 * mcpTools({ servers: { crm: { url, auth: oauth({ redirectUrl: "https://app.example/oauth", per: "user" }) } } })
 */
export function oauth(given: McpOAuthOptions): McpOAuth {
  const { clientSecret, ...shown } = given;
  // Apart: a problem must not show it.
  const parsed = parseOptions(options, shown, "oauth");
  if (clientSecret !== undefined && (typeof clientSecret !== "string" || !parsed.clientId))
    throw new ConfigurationError("oauth: clientSecret must be a text, and needs a clientId");
  return Object.freeze({
    kind: "authorization_code",
    ...parsed,
    ...(clientSecret !== undefined && { clientSecret }),
  }) as McpOAuth;
}

/**
 * Signs the program itself in, without a person: OAuth client credentials, with a secret or a signed assertion.
 *
 * @throws ConfigurationError
 * @example
 * mcpTools({ servers: { crm: { url, auth: clientCredentials({ clientId, clientSecret }) } } })
 */
export function clientCredentials(given: McpClientCredentialsOptions): OAuthClientProvider {
  const { clientId, clientSecret, privateKey, algorithm, scope, issuer } = given;
  if (typeof clientId !== "string" || clientId === "")
    throw new ConfigurationError("clientCredentials: clientId must be a non-empty text");
  if ((clientSecret === undefined) === (privateKey === undefined))
    throw new ConfigurationError("clientCredentials: give either clientSecret or privateKey");
  const about = {
    clientId,
    ...(scope !== undefined && { scope }),
    ...(issuer !== undefined && { expectedIssuer: issuer }),
  };
  if (clientSecret !== undefined) return new ClientCredentialsProvider({ ...about, clientSecret });
  if (typeof algorithm !== "string")
    throw new ConfigurationError("clientCredentials: a privateKey needs its algorithm");
  return new PrivateKeyJwtProvider({
    ...about,
    privateKey: privateKey as string | Uint8Array | Record<string, unknown>,
    algorithm,
  });
}
