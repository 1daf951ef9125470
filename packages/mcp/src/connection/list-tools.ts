import * as s from "@holdfast/core/plugin-kit/schema";
import type { Client } from "@modelcontextprotocol/client";

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
const toolDefinition: s.Schema<ToolDefinition> = s.object({
  name: s.string().min(1).max(1_000),
  title: s.string().optional().catch(undefined),
  description: s.string().optional().catch(undefined),
  inputSchema: s.record(s.string(), s.unknown()),
  annotations: s.object({ readOnlyHint: s.boolean().optional() }).optional().catch(undefined),
  execution: s.object({ taskSupport: s.string().optional() }).optional().catch(undefined),
});

/** Limits for a server that sends page after page. */
const maxPages = 64;
const maxListed = 5_000;

/** Tools of a server, and what its list holds beside them. */
export interface ListedTools {
  readonly tools: readonly ToolDefinition[];
  /** Number of definitions that are not valid. */
  readonly malformed: number;
  /** Reason why the rest of the list was not read; undefined = all of it was. */
  readonly cut?: string | undefined;
}

/** Options of {@link listTools}. */
export interface ListToolsOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
  /** Characters of all pages together. */
  readonly maxListChars: number;
}

const page = s.object({ tools: s.array(s.unknown()), nextCursor: s.string().optional() });

/** Reads all pages of a server's tools, within limits. */
export async function listTools(
  client: Client,
  { signal, timeout, maxListChars }: ListToolsOptions,
): Promise<ListedTools> {
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], malformed: 0 };
  const list = new ToolList(maxListChars);
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    if (cursor !== undefined) seen.add(cursor);
    const params = cursor === undefined ? {} : { cursor };
    const request = { method: "tools/list", params };
    const { tools, nextCursor } = await client.request(request, page, { signal, timeout });
    for (const one of tools) list.add(one);
    cursor = nextCursor;
    if (seen.size >= maxPages) list.cut ??= `its list has more than ${maxPages} pages`;
  } while (cursor !== undefined && !seen.has(cursor) && list.cut === undefined);
  const { tools, malformed, cut } = list;
  return { tools, malformed, cut };
}

class ToolList {
  readonly tools: ToolDefinition[] = [];
  malformed = 0;
  cut: string | undefined;
  readonly #maxChars: number;
  #chars = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  add(one: unknown): void {
    if (this.cut !== undefined) return;
    const chars = jsonChars(one);
    this.#chars += chars ?? 0;
    if (this.#chars > this.#maxChars)
      this.cut = `its list has more than ${this.#maxChars} characters`;
    else if (this.tools.length + this.malformed >= maxListed)
      this.cut = `its list has more than ${maxListed} tools`;
    if (this.cut !== undefined) return;
    const { data } = toolDefinition.safeParse(one);
    if (data === undefined || chars === null) this.malformed++;
    else this.tools.push(data);
  }
}

/** Returns the length of a value as JSON; null for one that is nested too deep to tell. */
function jsonChars(value: unknown): number | null {
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch {
    return null;
  }
}
