import type { Endpoint } from "../options/server-settings.js";

/** Shorter values would blank out ordinary words, and are no secrets. */
const shortestSecret = 4;

/** Parts of a path that are as long are hardly names: many servers have a key in their address. */
const shortestKey = 16;

/** Replaces what the server was given in confidence, should it say it again: values of `env`, of headers and of the address's query, and long parts of its path. */
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
