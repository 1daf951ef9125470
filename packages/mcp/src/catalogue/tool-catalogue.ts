import { type Tool, type ToolCallContext, tool } from "@holdfast/core";
import type { ListedTools, ToolDefinition } from "../connection/list-tools.js";
import type { McpToolLeftOut } from "../options/mcp-tools-options.js";
import type { ServerSettings } from "../options/server-settings.js";
import { cleanText } from "./clean-text.js";
import { toolInput, UnusableSchema } from "./tool-input.js";
import { ToolNames } from "./tool-names.js";

/** Runs a tool of a server by its name on the server. */
export type RunTool = (
  settings: ServerSettings,
  name: string,
  input: Readonly<Record<string, unknown>>,
  ctx: ToolCallContext,
) => Promise<unknown>;

/** Outcome of an update with a new list of tools. */
export interface CatalogueUpdate {
  readonly changed: boolean;
  readonly tools: readonly string[];
  readonly leftOut: readonly McpToolLeftOut[];
}

/** Time by which the engine's own limit, a safety net, exceeds the server's. */
const graceMs = 5_000;

/** Tools of all servers, ordered by server and then by name, whichever server answered first. */
export class ToolCatalogue {
  readonly #servers: readonly ServerSettings[];
  readonly #run: RunTool;
  readonly #names = new ToolNames();
  readonly #byServer = new Map<string, ReadonlyMap<string, { definition: string; tool: Tool }>>();
  #tools: readonly Tool[] = [];

  constructor(servers: readonly ServerSettings[], run: RunTool) {
    this.#servers = servers;
    this.#run = run;
  }

  /** Stays the same array as long as nothing changes. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Tells whether a server has tools. */
  has({ name }: ServerSettings): boolean {
    return (this.#byServer.get(name)?.size ?? 0) > 0;
  }

  /** Takes over a server's list of tools. A tool that did not change stays the same object. */
  update(settings: ServerSettings, listed: ListedTools): CatalogueUpdate {
    const before = this.#byServer.get(settings.name);
    const leftOut: McpToolLeftOut[] = [];
    if (listed.malformed > 0)
      leftOut.push({ name: `(${listed.malformed})`, reason: "not a valid MCP tool definition" });
    if (listed.cut !== undefined) leftOut.push({ name: "(the rest)", reason: listed.cut });
    const made = new Map<string, { definition: string; tool: Tool }>();
    for (const one of chosen(settings, listed.tools, leftOut)) {
      try {
        const definition = JSON.stringify(one);
        const same = before?.get(one.name);
        made.set(
          one.name,
          same?.definition === definition ? same : { definition, tool: this.#make(settings, one) },
        );
      } catch (error) {
        leftOut.push({ name: shown(one.name), reason: reasonOf(error) });
      }
    }
    const changed =
      before?.size !== made.size ||
      [...made].some(([name, { tool: own }]) => before.get(name)?.tool !== own);
    if (changed) {
      this.#byServer.set(settings.name, made);
      this.#tools = this.#servers.flatMap(({ name }) =>
        [...(this.#byServer.get(name)?.values() ?? [])].map((entry) => entry.tool),
      );
      const there = new Set(this.#tools.map(({ name }) => name));
      this.#names.forget((name) => there.has(name));
    }
    return { changed, tools: [...made.values()].map(({ tool: { name } }) => name), leftOut };
  }

  #make(settings: ServerSettings, definition: ToolDefinition): Tool {
    const { name, description = "", title = "", inputSchema, annotations } = definition;
    const { maxDescriptionChars, trustAnnotations } = settings;
    return tool({
      name: this.#names.nameOf(settings.name, settings.prefix, name),
      description:
        cleanText(description, maxDescriptionChars) ||
        cleanText(title, maxDescriptionChars) ||
        `${shown(name)} of the server ${settings.name}`,
      input: toolInput(inputSchema, settings),
      readOnly: trustAnnotations && annotations?.readOnlyHint === true,
      group: settings.group?.name,
      timeoutMs: settings.maxTimeoutMs + graceMs,
      execute: (input, ctx) => this.#run(settings, name, input as Record<string, unknown>, ctx),
    });
  }
}

/** Returns the tools for the agent, sorted by name; of two with one name, the first. */
function chosen(
  { include, exclude, maxTools }: ServerSettings,
  listed: readonly ToolDefinition[],
  leftOut: McpToolLeftOut[],
): readonly ToolDefinition[] {
  const unique = new Map<string, ToolDefinition>();
  const names = new Set(listed.map(({ name }) => name));
  for (const name of include ?? [])
    if (!names.has(name))
      leftOut.push({ name: shown(name), reason: "the server does not have it" });
  for (const one of listed) {
    if ((include && !include.has(one.name)) || exclude.has(one.name)) continue;
    if (unique.has(one.name)) leftOut.push({ name: shown(one.name), reason: "listed twice" });
    else if (one.execution?.taskSupport === "required")
      leftOut.push({ name: shown(one.name), reason: "it runs only as an MCP task" });
    else unique.set(one.name, one);
  }
  // Sorted by code units, not by locale: the order is part of the request's prefix and must be the same everywhere.
  const sorted = [...unique.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const { name } of sorted.slice(maxTools))
    leftOut.push({ name: shown(name), reason: `there are more than maxTools, ${maxTools}` });
  return sorted.slice(0, maxTools);
}

function shown(name: string): string {
  return cleanText(name, 100);
}

function reasonOf(error: unknown): string {
  return error instanceof UnusableSchema ? error.message : "its definition cannot be used";
}
