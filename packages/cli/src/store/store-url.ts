import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { CommandError, exitCodes } from "../exit-code.js";

/** File store in one directory. */
export interface JsonStoreUrl {
  readonly kind: "json";
  readonly url: string;
  readonly root: string;
}

/** Server, and the options behind the `?`. */
export interface ServerStoreUrl {
  readonly kind: "redis" | "mysql";
  /** URL without the password. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Database: a number for Redis, a name for MySQL. */
  readonly database: string | undefined;
  readonly tls: boolean;
  readonly options: Readonly<Record<string, string>>;
  /** Origin of the URL, for errors. */
  readonly from: string;
}

/** Parsed URL of a store. */
export type StoreUrl = JsonStoreUrl | ServerStoreUrl;

const accepted = {
  redis: ["prefix", "ttlMs", "minReplicas", "leaseMs", "timeoutMs"],
  mysql: ["prefix", "migrate", "ssl", "leaseMs", "timeoutMs"],
} as const;

const howTo =
  "a store is json:<directory>, redis://host:6379, rediss://host:6379 or mysql://user@host:3306/database, `config`, or a URL whose scheme is in `stores` of holdfast.config.ts";

const escaping = "in user and password write / as %2F, ? as %3F, # as %23, @ as %40";

/** Tells whether a text has a scheme that the command knows itself. */
export function isBuiltInUrl(text: string): boolean {
  return /^(?:json|rediss?|mysql):/iu.test(text);
}

/**
 * Parses the URL of a store. Nothing is opened, and no message repeats a password.
 *
 * @param from - origin of the URL, for errors
 * @throws CommandError with exit code 2
 */
export function parseStoreUrl(text: string, from = "--store"): StoreUrl {
  const usage = usageErrors(from);
  if (text.startsWith("json:")) return jsonUrl(text.slice("json:".length), usage);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = url?.protocol ?? "";
  if (url !== undefined && (scheme === "redis:" || scheme === "rediss:" || scheme === "mysql:"))
    return serverUrl(url, from);
  const name = /^[a-z][a-z0-9+.-]*(?=:)/iu.exec(text)?.[0];
  if (/^(?:rediss?|mysql)$/iu.test(name ?? ""))
    throw usage(`the ${name?.toLowerCase()} URL cannot be read; ${escaping}`);
  throw usage(name === undefined ? howTo : `there is no store ${JSON.stringify(name)}; ${howTo}`);
}

function jsonUrl(path: string, usage: UsageErrors): JsonStoreUrl {
  if (path.trim() === "") throw usage(`json: names no directory; ${howTo}`);
  // A shell expands ~ only at the beginning of a word.
  const root = resolve(
    path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path,
  );
  return { kind: "json", root, url: `json:${root}` };
}

function serverUrl(url: URL, from: string): ServerStoreUrl {
  const usage = usageErrors(from);
  const decode = (part: string): string => decoded(part, usage);
  const kind = url.protocol === "mysql:" ? "mysql" : "redis";
  // An unescaped password has ended up in a part of the URL that is printed.
  if (url.hash !== "" || [url.pathname, ...url.searchParams.keys()].some((part) => /@/u.test(part)))
    throw usage(`the ${url.protocol.slice(0, -1)} URL cannot be read; ${escaping}`);
  const host = decode(url.hostname).replace(/^\[(.*)\]$/u, "$1");
  if (host === "") throw usage(`${url.protocol}// names no host; ${howTo}`);
  const database = decode(url.pathname.replace(/^\//u, "")) || undefined;
  if (kind === "redis" && database !== undefined && !/^\d{1,5}$/u.test(database))
    throw usage(`redis: the database is a number, as in redis://${url.host}/0`);
  if (kind === "mysql" && database === undefined)
    throw usage(`mysql: name the database, as in mysql://${url.host}/holdfast`);
  const options: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (!(accepted[kind] as readonly string[]).includes(name))
      throw usage(
        `${kind}: no option ${JSON.stringify(name)}; there are ${accepted[kind].join(", ")}`,
      );
    options[name] = value;
  }
  const shown = new URL(url);
  shown.password = "";
  const parsed = {
    kind,
    url: shown.href,
    host,
    port: url.port === "" ? (kind === "redis" ? 6379 : 3306) : Number(url.port),
    user: decode(url.username) || undefined,
    password: decode(url.password) || undefined,
    database,
    options,
    from,
  } as const;
  return { ...parsed, tls: url.protocol === "rediss:" || booleanOption(parsed, "ssl") === true };
}

type GivenOptions = Pick<ServerStoreUrl, "kind" | "options" | "from">;

/** Returns the value of a numeric option, if given. @throws CommandError */
export function numberOption(url: GivenOptions, name: string): number | undefined {
  const text = url.options[name];
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/u.test(text)) return Number(text);
  throw usageErrors(url.from)(
    `${url.kind}: ${name} is a whole number, got ${JSON.stringify(text)}`,
  );
}

/** Returns the value of a boolean option, if given. @throws CommandError */
export function booleanOption(url: GivenOptions, name: string): boolean | undefined {
  const text = url.options[name];
  if (text === undefined) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw usageErrors(url.from)(`${url.kind}: ${name} is true or false, got ${JSON.stringify(text)}`);
}

function decoded(text: string, usage: UsageErrors): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw usage(
      "a % in a store URL begins an escape such as %40 for @; write %25 for the sign itself",
    );
  }
}

type UsageErrors = (problem: string) => CommandError;

function usageErrors(from: string): UsageErrors {
  return (problem) => new CommandError(exitCodes.usage, `${from}: ${problem}`);
}
