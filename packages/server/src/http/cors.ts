/** Origins whose pages may read the answers: a list of origins, or a function that decides about one. */
export type AllowedOrigins = readonly string[] | ((origin: string) => boolean);

/** Headers that let a page of an allowed origin read the answer; none for every other page. */
export function corsHeaders(
  request: Request,
  allowed: AllowedOrigins | undefined,
): Readonly<Record<string, string>> {
  const origin = request.headers.get("origin");
  if (allowed === undefined || origin === null) return {};
  const isAllowed = typeof allowed === "function" ? allowed(origin) : allowed.includes(origin);
  if (!isAllowed) return { vary: "Origin" };
  return {
    vary: "Origin",
    "access-control-allow-origin": origin,
    "access-control-allow-credentials": "true",
    "access-control-expose-headers": "x-call-id, x-before, retry-after",
    ...(request.method === "OPTIONS" && {
      "access-control-allow-methods": "GET, POST, PATCH, DELETE",
      "access-control-allow-headers":
        request.headers.get("access-control-request-headers") ?? "content-type",
      "access-control-max-age": "600",
    }),
  };
}
