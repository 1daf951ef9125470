import { foldCase, matchesWildcard, star, starPattern, type Token } from "./wildcard.js";

/** Specifier for addresses, compiled. */
export interface UrlPattern {
  /** Host in the form that a parsed address has; `*.` in front stands for any subdomain, `*` for any host. */
  readonly host: string;
  /** Port, `*` for any; null for the usual port of the scheme. */
  readonly port: string | null;
  /** Scheme with its colon; null for `http:` and `https:`. */
  readonly scheme: string | null;
  /** Path and query. */
  readonly rest: readonly Token[];
  /** The whole as it was written, for rules that forbid. */
  readonly text: readonly Token[];
}

/**
 * Compiles a specifier for addresses.
 * - `domain:example.com` is every address of this host, `domain:*.example.com` of its subdomains
 * - `domain:localhost:8080` also names the port, `domain:localhost:*` any port
 * - any other specifier is an address in which `*` spans anything within the host's first labels, or within the path
 *
 * @returns null when no address could match
 */
export function urlPattern(pattern: string): UrlPattern | null {
  const text = starPattern(foldCase(pattern));
  const domain = /^domain:(.*)$/s.exec(pattern)?.[1];
  if (domain !== undefined) return authority(domain, null, [star], text);
  const parts = /^([a-z][a-z0-9+.-]*:)\/\/([^/?#]*)(.*)$/is.exec(pattern);
  if (parts === null) return null;
  const [, scheme = "", host = "", path = ""] = parts;
  // `https://example.com*` must not be `https://example.com.evil.test`.
  const isOpen = host.length > 1 && host.endsWith("*") && !host.endsWith(":*") && path === "";
  const rest = starPattern(isOpen ? "/*" : path === "" ? "/" : path);
  return authority(isOpen ? host.slice(0, -1) : host, scheme.toLowerCase(), rest, text);
}

/** Reports whether the pattern covers the address. */
export function coversUrl(pattern: UrlPattern, value: string): boolean {
  const url = parsed(value);
  // A user name in front of the host is how an address is made to look like another.
  if (url === null || url.username !== "" || url.password !== "") return false;
  const schemes = pattern.scheme === null ? ["http:", "https:"] : [pattern.scheme];
  if (!schemes.includes(url.protocol) || !coversHost(pattern.host, hostOf(url))) return false;
  if (pattern.port !== "*" && (pattern.port ?? "") !== url.port) return false;
  return matchesWildcard(pattern.rest, `${url.pathname}${url.search}`);
}

/**
 * Compares an address with the pattern of a rule that forbids: port, scheme and user name do not matter.
 *
 * @returns `maybe` when the address cannot be parsed
 */
export function forbidsUrl(pattern: UrlPattern, value: string): "match" | "maybe" | "none" {
  if (matchesWildcard(pattern.text, foldCase(value.trim()))) return "match";
  const url = parsed(value);
  if (url === null) return "maybe";
  if (!coversHost(pattern.host, hostOf(url))) return "none";
  const rest = pattern.rest.map((token) => (typeof token === "string" ? foldCase(token) : token));
  if (matchesWildcard(rest, foldCase(`${url.pathname}${url.search}`))) return "match";
  // An encoded path may be decoded by the server.
  return /%|\/\/|;/.test(url.pathname) ? "maybe" : "none";
}

function authority(
  text: string,
  scheme: string | null,
  rest: readonly Token[],
  whole: readonly Token[],
): UrlPattern | null {
  const [, host = "", port] = /^(.*?)(?::(\d+|\*))?$/s.exec(text) ?? [];
  const isSub = host.startsWith("*.");
  if (host === "*") return { host, port: port ?? null, scheme, rest, text: whole };
  const plain = parsed(
    `${scheme ?? "https:"}//${isSub ? host.slice(2) : host}${port === undefined || port === "*" ? "" : `:${port}`}`,
  );
  if (plain === null || host.includes("@") || /\*/.test(isSub ? host.slice(2) : host)) return null;
  const name = `${isSub ? "*." : ""}${hostOf(plain)}`;
  return { host: name, port: port === "*" ? "*" : plain.port || null, scheme, rest, text: whole };
}

function coversHost(pattern: string, host: string): boolean {
  if (pattern === "*") return true;
  return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : host === pattern;
}

function hostOf(url: URL): string {
  return url.hostname.toLowerCase().replace(/\.+$/, "");
}

function parsed(value: string): URL | null {
  // The parser drops tabs and line ends; a program that does not would see another address.
  if (/[\s\\\p{Cc}]/u.test(value)) return null;
  try {
    const url = new URL(value);
    return url.hostname === "" ? null : url;
  } catch {
    return null;
  }
}
