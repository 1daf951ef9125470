/** Templates of projects. */
export type Template = "script" | "web-chat" | "worker";

/** Company whose models answer; `offline` is a script that needs no key. */
export type Provider = "anthropic" | "openai" | "google" | "offline";

/** Stores of sessions. */
export type Store = "json" | "redis" | "mysql";

/** Part of the agent that can be left out. */
export type Part =
  | "compaction"
  | "eviction"
  | "memory"
  | "session-tools"
  | "permissions"
  | "planning"
  | "subagents"
  | "mcp"
  | "otel"
  | "workspace";

/** One of the answers to a question. */
export interface Choice {
  /** Shown to a person who chooses. */
  readonly label: string;
  /** Packages that a project with it depends on. */
  readonly packages: readonly string[];
}

/** Templates by name. */
export const templates: Readonly<Record<Template, Choice & { readonly parts: readonly Part[] }>> = {
  script: {
    label: "a script: asks the agent once, and goes on with the session every time it runs",
    packages: ["zod"],
    parts: ["compaction", "session-tools"],
  },
  "web-chat": {
    label: "a chat in the browser, served by two processes that may die while they answer",
    packages: ["@holdfast/server", "@holdfast/testing", "zod"],
    parts: ["compaction", "session-tools", "permissions", "planning"],
  },
  worker: {
    label: "a worker: several processes take jobs from a Redis stream",
    packages: ["ioredis", "zod"],
    parts: ["compaction", "session-tools"],
  },
};

/** Provider with its default model. */
interface ProviderChoice extends Choice {
  /** Variable of the environment with its key; null when it needs none. */
  readonly key: string | null;
  readonly company: string;
  readonly model: string;
  /** Tokens of the model's context, as source text. */
  readonly contextWindow: string;
}

/** Providers by name. */
export const providers: Readonly<Record<Provider, ProviderChoice>> = {
  anthropic: {
    ...withKey("anthropic", "Anthropic", "ANTHROPIC_API_KEY"),
    ...{ model: "claude-sonnet-5-5", contextWindow: "200_000" },
  },
  openai: {
    ...withKey("openai", "OpenAI", "OPENAI_API_KEY"),
    ...{ model: "gpt-5.6", contextWindow: "400_000" },
  },
  google: {
    ...withKey("google", "Google", "GOOGLE_GENERATIVE_AI_API_KEY"),
    ...{ model: "gemini-flash-latest", contextWindow: "1_000_000" },
  },
  offline: {
    label: "none yet: a script that runs offline, without a key",
    packages: [],
    ...{ key: null, company: "", model: "", contextWindow: "" },
  },
};

function withKey(name: string, company: string, key: string) {
  const packages = [`@ai-sdk/${name}`, "@holdfast/model-ai-sdk"];
  return { label: `${company}, with a key in ${key}`, packages, key, company };
}

/** Stores by name. */
export const stores: Readonly<Record<Store, Choice>> = {
  json: { label: "files on this host, no server", packages: ["@holdfast/store-json"] },
  redis: { label: "Redis, for many hosts", packages: ["@holdfast/store-redis", "ioredis"] },
  mysql: {
    label: "MySQL or MariaDB, for many hosts",
    packages: ["@holdfast/store-mysql", "mysql2"],
  },
};

/** Part that is a plugin, or a setting of the harness. */
interface PartChoice extends Choice {
  /** Function that makes the plugin, and its arguments as source text; null for a setting. */
  readonly plugin: { readonly name: string; readonly input: string } | null;
}

/** Parts by name, in the order in which they are shown. */
export const parts: Readonly<Record<Part, PartChoice>> = {
  compaction: plugin("compaction", "summaries keep the context inside the window", "compaction"),
  eviction: plugin("eviction", "large tool results become files", "toolResultEviction"),
  memory: plugin("memory-flush", "facts that later sessions begin with", "memoryFlush"),
  "session-tools": {
    label: "the agent searches its earlier conversations",
    packages: [],
    plugin: null,
  },
  permissions: plugin(
    "permissions",
    "tool calls that change something ask a person",
    "permissions",
  ),
  planning: plugin("planning", "plans to approve, and a todo list", "planning"),
  subagents: plugin(
    "subagents",
    "tasks for other agents",
    "subagents",
    `{
    agents: [
      {
        name: "researcher",
        description: "Looks facts up. Give it one question.",
        systemPrompt: "You look facts up, and answer with the fact alone.",
      },
    ],
  }`,
  ),
  mcp: plugin(
    "mcp",
    "tools of MCP servers",
    "mcpTools",
    `{
    // By name: { command: "my-server", args: [] } over stdio, or { url: "https://…" } over HTTP.
    servers: {},
  }`,
  ),
  otel: plugin("otel", "OpenTelemetry traces and metrics", "otel", "", ["@opentelemetry/api"]),
  workspace: { label: "the agent reads and writes files", packages: [], plugin: null },
};

function plugin(
  folder: string,
  label: string,
  name: string,
  input = "",
  others: readonly string[] = [],
): PartChoice {
  return { label, packages: [`@holdfast/${folder}`, ...others], plugin: { name, input } };
}
