import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";
import { type ToolDefinition, toolDefinition } from "./tool-definition.js";

/** What a server that sends page after page is read of at most. */
const maxPages = 64;
const maxListed = 5_000;

/** The tools of a server, and how many of them could not be understood. */
export interface ListedTools {
  readonly tools: readonly ToolDefinition[];
  readonly malformed: number;
}

const page = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** Reads all pages of a server's tools; a server without tools has none. */
export async function listTools(
  client: Client,
  options: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<ListedTools> {
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], malformed: 0 };
  const listed: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    if (cursor !== undefined) seen.add(cursor);
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request(
      { method: "tools/list", params },
      page,
      options,
    );
    listed.push(...tools.slice(0, maxListed));
    cursor = nextCursor;
  } while (
    cursor !== undefined &&
    !seen.has(cursor) &&
    seen.size < maxPages &&
    listed.length < maxListed
  );
  const tools = listed
    .slice(0, maxListed)
    .flatMap((one) => toolDefinition.safeParse(one).data ?? []);
  return { tools, malformed: Math.min(listed.length, maxListed) - tools.length };
}
