import { ConfigurationError, type RuntimeContextFields } from "@holdfast/core";
import { checkId } from "@holdfast/core/store-kit";
import { type AllowedOrigins, corsHeaders } from "./cors.js";
import type { HandlerSettings } from "./handler-settings.js";
import { type RateLimit, RateLimiter } from "./rate-limiter.js";
import { readJson } from "./read-json.js";
import { type ErrorText, Refusal, refusalOf } from "./refusal.js";

/** Web-standard request handler. It never rejects: failures are responses. */
export type Handler = (request: Request) => Promise<Response>;

/** User of a request, and settings for the calls that it makes. */
export interface IdentifiedUser {
  readonly userId: string;
  /** Settings of the user's calls, such as `extra` for hooks and tools. @default none */
  readonly context?: Pick<RuntimeContextFields, "extra" | "onBusy" | "queueTimeoutMs"> | undefined;
}

/**
 * Finds the user of a request, for example by its session cookie or bearer token. `null` refuses the request with 401.
 *
 * Everything that a request can reach belongs to the user returned here. Visitors without an account need an id each, from a
 * cookie of their own; one id for all of them would show each the others' conversations.
 */
export type Identify = (
  request: Request,
) => string | IdentifiedUser | null | Promise<string | IdentifiedUser | null>;

/** Options of every handler. */
export interface HandlerOptions {
  readonly identify: Identify;
  /** Most bytes of a request's body. @default 1,048,576 */
  readonly maxBodyBytes?: number | undefined;
  /** Requests per user, counted in this process; `false` counts none. @default 120 per minute, 30 at once */
  readonly rateLimit?: RateLimit | false | undefined;
  /** Origins of other sites whose pages may use the handler. @default none */
  readonly allowOrigins?: AllowedOrigins | undefined;
  /** Silence after which a stream sends a comment. @default 15,000 */
  readonly heartbeatMs?: number | undefined;
  /** Words for errors by their code, for example in the user's language. @default English words */
  readonly errorText?: ErrorText | undefined;
  /** Called with errors behind a response of 500 or more, and behind a stream that broke off: for logs. @default none */
  readonly onError?: ((error: unknown, request: Request) => void) | undefined;
}

/** A request that was let in. */
export interface AdmittedRequest {
  readonly request: Request;
  readonly url: URL;
  readonly user: IdentifiedUser;
  /** Reads the body as JSON within the limit. */
  json(): Promise<unknown>;
}

/**
 * Makes a handler out of what it does for an identified user: who may enter, how often, with how much, and what is said of
 * errors is the same for every protocol.
 *
 * @param refuse - writes a refusal in the protocol's own form
 */
export function endpoint(
  settings: HandlerSettings,
  serve: (admitted: AdmittedRequest) => Promise<Response>,
  refuse: (refusal: Refusal) => Response = refuseWithJson,
): Handler {
  const limiter = settings.rateLimit === false ? null : new RateLimiter(settings.rateLimit);
  const answer = async (request: Request): Promise<Response> => {
    if (request.method === "OPTIONS") return new Response(null, { status: 204 });
    const user = await identified(settings.identify, request);
    limiter?.take(user.userId);
    const json = () => readJson(request, settings.maxBodyBytes);
    return serve({ request, url: new URL(request.url), user, json });
  };
  return async (request) => {
    const response = await answer(request).catch((error: unknown) => {
      const refusal = refusalOf(error, settings.errorText);
      if (refusal.status >= 500) report(settings, error, request);
      return refuse(refusal);
    });
    try {
      for (const [name, value] of Object.entries(corsHeaders(request, settings.allowOrigins)))
        response.headers.set(name, value);
    } catch (error) {
      // Without the headers no other site can read the answer.
      report(settings, error, request);
    }
    return response;
  };
}

/** Tells the product about an error; a listener that throws changes nothing. */
export function report({ onError }: HandlerOptions, error: unknown, request: Request): void {
  try {
    onError?.(error, request);
  } catch {
    // The answer to the client does not depend on the product's logging.
  }
}

/** @throws Refusal 401 */
async function identified(identify: Identify, request: Request): Promise<IdentifiedUser> {
  const found = await identify(request);
  if (found === null || found === undefined)
    throw new Refusal(401, "UNAUTHENTICATED", "Please sign in.");
  const user = typeof found === "string" ? { userId: found } : found;
  if (typeof user !== "object" || user.userId === "" || typeof user.userId !== "string")
    throw new ConfigurationError(
      "identify must return the user's id, { userId }, or null to refuse the request",
    );
  checkId(user.userId, "the userId that identify returned");
  return user;
}

function refuseWithJson({ status, code, message, headers }: Refusal): Response {
  return Response.json({ error: { code, message } }, { status, headers });
}

const sessionIdPattern = /^[\w.:~@-]{1,128}$/;

/**
 * Returns the id of a session that a client chose.
 *
 * @throws Refusal 400 unless it has 1 to 128 letters, digits and `_ . : ~ @ -`
 */
export function checkSessionId(id: unknown): string {
  if (typeof id === "string" && sessionIdPattern.test(id)) return id;
  throw new Refusal(400, "INVALID_ID", "The conversation's id is not valid.");
}

/**
 * Returns the segments of a URL's path behind that of a handler, decoded.
 *
 * @throws Refusal 404 when it is not below it
 */
export function segmentsBelow({ pathname }: URL, path: string): readonly string[] {
  const base = path.replace(/\/+$/, "");
  const rest = pathname.replace(/\/+$/, "");
  if (rest !== base && !rest.startsWith(`${base}/`)) throw notFound();
  try {
    return rest.slice(base.length).split("/").slice(1).map(decodeURIComponent);
  } catch {
    throw notFound();
  }
}

/** Returns the refusal of a request for something that is not there. */
export function notFound(): Refusal {
  return new Refusal(404, "NOT_FOUND", "There is no such thing here.");
}
