import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";

/** Definition of a tool by its server. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined } | undefined;
  readonly execution?: { readonly taskSupport?: string | undefined } | undefined;
}

/** The part of a definition that is used. Looser than the protocol: one odd tool must not hide the others of its server. */
const toolDefinition: z.ZodType<ToolDefinition> = z.object({
  name: z.string().min(1).max(1_000),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: z.object({ readOnlyHint: z.boolean().optional() }).optional().catch(undefined),
  execution: z.object({ taskSupport: z.string().optional() }).optional().catch(undefined),
});

/** Limits for a server that sends page after page. */
const maxPages = 64;
const maxListed = 5_000;

/** Tools of a server, and the number of invalid definitions. */
export interface ListedTools {
  readonly tools: readonly ToolDefinition[];
  readonly malformed: number;
}

const page = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** Reads all pages of a server's tools. */
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
