import { extractWWWAuthenticateParams } from "@modelcontextprotocol/client";
import type { Authorizer } from "./authorizer.js";

/** Refusals after which a request is sent again: one for a token that is missing or old, one for a scope that is missing. */
const maxRefusals = 3;

/**
 * Returns a `fetch` that sends the access token, gets one when the server demands it, and repeats the request: one that was
 * refused with 401 or 403 has not run.
 */
export function authorizedFetch(base: typeof fetch, authorizer: Authorizer): typeof fetch {
  return async (input, init) => {
    let isRefreshed = false;
    let isSteppedUp = false;
    for (let refusals = 0; ; refusals++) {
      const token = await authorizer.token();
      const headers = new Headers(init?.headers);
      if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
      const response = await base(input, { ...init, headers });
      const isStepUp = isTooLittle(response);
      const isOver = isStepUp ? isSteppedUp : isRefreshed;
      if ((response.status !== 401 && !isStepUp) || isOver || refusals >= maxRefusals)
        return response;
      await response.body?.cancel().catch(() => {});
      const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
      await authorizer.authorize({ refused: token, scope, resourceMetadataUrl, isStepUp });
      if (isStepUp) isSteppedUp = true;
      else isRefreshed = true;
    }
  };
}

function isTooLittle({ status, headers }: Response): boolean {
  return status === 403 && /insufficient_scope/.test(headers.get("www-authenticate") ?? "");
}
