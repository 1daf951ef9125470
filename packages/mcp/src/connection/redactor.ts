import type { Endpoint } from "../options/server-settings.js";

/** Shorter values are not secrets, and redacting them would hide ordinary words. */
const shortestSecret = 4;

/** Segments of a path from this length on are taken for keys: many servers have one in their URL. */
const shortestKey = 16;

/** Returns a function that redacts the server's secrets: values of `env`, of headers and of the query, and long segments of the path. */
export function redactor(endpoint: Endpoint): (text: string) => string {
  const given =
    endpoint.kind === "stdio"
      ? Object.values(endpoint.env)
      : [
          ...Object.values(endpoint.headers),
          ...endpoint.url.searchParams.values(),
          ...endpoint.url.pathname.split("/").filter((part) => part.length >= shortestKey),
        ];
  const secrets = given
    // A server may repeat a token without the "Bearer" in front of it.
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= shortestSecret)
    .sort((one, other) => other.length - one.length);
  return (text) =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, () => "[redacted]"), text);
}
