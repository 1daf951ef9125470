import { ConfigurationError } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import type { Endpoint } from "./server-settings.js";

/**
 * Splits the options of a server into its endpoint and the rest.
 *
 * Checked by hand instead of by a schema: arguments, variables, headers and the URL may contain secrets, which a problem must
 * not show.
 *
 * @throws ConfigurationError
 */
export function readEndpoint(
  options: unknown,
  where: string,
): { endpoint: Endpoint; rest: Record<string, unknown> } {
  if (!isRecord(options)) throw new ConfigurationError(`${where}: its options are not an object`);
  if ((options["command"] === undefined) === (options["url"] === undefined))
    throw new ConfigurationError(
      `${where}: give either command (a program to start) or url (an address to reach)`,
    );
  return options["url"] === undefined ? readStdio(options, where) : readHttp(options, where);
}

function readStdio(
  options: Record<string, unknown>,
  where: string,
): { endpoint: Endpoint; rest: Record<string, unknown> } {
  const { command, args = [], env = {}, cwd, onStderr, ...rest } = options;
  const problems: string[] = [];
  if (typeof command !== "string" || command === "")
    problems.push(`${where}: command must be a non-empty string`);
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string"))
    problems.push(`${where}: args must be a list of strings`);
  if (!isTexts(env)) problems.push(`${where}: env must be an object of strings`);
  if (cwd !== undefined && typeof cwd !== "string")
    problems.push(`${where}: cwd must be a directory's path`);
  if (onStderr !== undefined && typeof onStderr !== "function")
    problems.push(`${where}: onStderr must be a function`);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const endpoint = { kind: "stdio", command, args, env, cwd, onStderr } as Endpoint;
  return { endpoint, rest };
}

function readHttp(
  options: Record<string, unknown>,
  where: string,
): { endpoint: Endpoint; rest: Record<string, unknown> } {
  const { url, headers = {}, auth, ...rest } = options;
  const problems: string[] = [];
  const parsed = url instanceof URL ? url : typeof url === "string" ? parseUrl(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    problems.push(`${where}: url must be an address that begins with http:// or https://`);
  else if (parsed.username !== "" || parsed.password !== "")
    problems.push(`${where}: url must not hold a user or a password; send them in headers`);
  if (!isTexts(headers) || !isHeaders(headers))
    problems.push(`${where}: headers must be an object of names and texts that HTTP can carry`);
  if (auth !== undefined && !isAuth(auth))
    problems.push(
      `${where}: auth must be oauth(…), clientCredentials(…) or an OAuthClientProvider`,
    );
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { endpoint: { kind: "http", url: parsed, headers, auth } as Endpoint, rest };
}

function isAuth(value: unknown): boolean {
  // A provider may be an instance of a class of the SDK, of which there may be several copies.
  if (typeof value !== "object" || value === null) return false;
  const isProvider = "tokens" in value && typeof value.tokens === "function";
  return isProvider || ("kind" in value && value.kind === "authorization_code");
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

function isTexts(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((item) => typeof item === "string");
}

function isHeaders(headers: Record<string, string>): boolean {
  try {
    new Headers(headers);
    return true;
  } catch {
    return false;
  }
}
