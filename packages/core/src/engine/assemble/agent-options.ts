import type { RuntimeContext } from "../../context/runtime-context.js";
import { ConfigurationError } from "../../errors/errors.js";
import type { AgentEvent } from "../../events/agent-event.js";
import type { Middleware } from "../../middleware/middleware.js";
import type { Plugin, PortName, Ports } from "../../middleware/plugin.js";
import { plainProblem } from "../../plugin-kit/plain-problem.js";
import * as s from "../../plugin-kit/schema/index.js";
import { showKind, showValue } from "../../plugin-kit/show-value.js";
import { unknownNames } from "../../plugin-kit/unknown-names.js";
import type { DistributedStore } from "../../ports/distributed-store.js";
import type { EventFeed } from "../../ports/event-feed.js";
import type { Model } from "../../ports/model.js";
import { checkId } from "../../slot/slot.js";
import type { Tool } from "../../tool/tool.js";
import type { ToolGroup } from "../../tool/tool-group.js";
import type { StateSealOptions } from "../save/state-seal.js";

/** When a call's work is saved. */
export type Persistence = "call" | "step";

/** Policy of a save when another process saved in between. */
export type ConflictPolicy = "fail" | "merge-append" | "overwrite";

/** Retries of failing model calls, with exponential backoff. */
export interface ModelRetryOptions {
  /** Attempts in all. @default 3 */
  readonly attempts?: number | undefined;
  /** First pause; doubles each time. @default 500 */
  readonly baseDelayMs?: number | undefined;
  /** @default 30_000 */
  readonly maxDelayMs?: number | undefined;
}

/** Bounds on what one session may hold. */
export interface LimitOptions {
  /** One message as JSON. @default 1_048_576 */
  readonly messageBytes?: number | undefined;
  /** Everything but the messages. @default 262_144 */
  readonly headBytes?: number | undefined;
  /** All messages; a call on a larger session is refused. @default 8_388_608 */
  readonly stateBytes?: number | undefined;
}

/** Bounds of the cache of states. `maxSessions: 0` turns it off. */
export interface StateCacheOptions {
  /** @default 1_000 */
  readonly maxSessions?: number | undefined;
  /** @default 67_108_864 */
  readonly maxBytes?: number | undefined;
}

/** Named calls (`callId`) that a session remembers, so that a repeated one goes on with its own run. */
export interface RememberCallsOptions {
  /** Most calls remembered per session. Where the store keeps them in the head, at most 16. @default 100 */
  readonly max?: number | undefined;
  /** @default 604_800_000 (7 days) */
  readonly forMs?: number | undefined;
}

/** The ports a program may bring itself; what it does not bring comes from plugins or from the state store. */
export type PortOptions = {
  readonly [P in Exclude<PortName, "compactor" | "toolGuard" | "model">]?: Ports[P] | undefined;
};

/** Configuration of a {@link ReActAgent}. */
export interface ReActAgentOptions extends PortOptions {
  readonly name: string;
  /** Namespace of this agent's sessions; agents that share sessions use the same. @default the name */
  readonly agentId?: string | undefined;
  readonly model: Model;
  /** Used when `model` fails before its first token. */
  readonly fallbackModel?: Model | undefined;
  /** @default "" */
  readonly systemPrompt?: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
  readonly toolGroups?: readonly ToolGroup[] | undefined;
  /** Offer the model `reset_equipped_tools`, with which it switches groups itself. @default false */
  readonly resetEquippedTools?: boolean | undefined;
  readonly middleware?: readonly Middleware[] | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  /** Store, log, gate, signals and key-value store in one; single parts given beside it win. */
  readonly distributedStore?: DistributedStore | undefined;
  /** Only one node will ever run, so a distributed state store may have a local gate, log or signals. @default false */
  readonly singleNode?: boolean | undefined;
  /** @default "call" */
  readonly persistence?: Persistence | undefined;
  /** @default "fail" */
  readonly conflictPolicy?: ConflictPolicy | undefined;
  /**
   * Policy of a call on a session whose store has lost acknowledged saves, as a restored backup or a failover may: it goes on
   * with what is stored and emits `store_rolled_back`, or it is also refused with `StateConflictError`. A session that was deleted
   * elsewhere and begun anew is not refused, unless it has a message older than the last one known here. Noticed for sessions that
   * are in the cache (`stateCache`), and for as many whose last call failed or was not saved.
   * @default "report"
   */
  readonly onStoreRolledBack?: "report" | "refuse" | undefined;
  /** Rounds of reasoning in one call. @default 10 */
  readonly maxIterations?: number | undefined;
  /** @default "default" */
  readonly defaultSessionId?: string | undefined;
  /**
   * Refuses calls, and everything else about a session, that do not name one; `"user"` also those without a userId. For
   * products in which a forgotten id would let strangers share a session. @default false
   */
  readonly requireSession?: boolean | "user" | undefined;
  /** Calls that may wait for one session. @default 100 */
  readonly maxQueue?: number | undefined;
  /** @default 300_000 */
  readonly toolTimeoutMs?: number | undefined;
  /** Time for which a save repeats itself when the store does not answer. @default 30_000 */
  readonly saveDeadlineMs?: number | undefined;
  readonly modelRetry?: ModelRetryOptions | undefined;
  /** Further words with which a model says that a request is longer than its window; see `isContextOverflow`. */
  readonly overflowPatterns?: readonly RegExp[] | undefined;
  readonly limits?: LimitOptions | undefined;
  /**
   * Notices when permissions or plan mode of a stored session were changed past the agent: they are sealed with `key`, at
   * least 32 bytes, the same on every node. `acceptUnsealed` takes sessions from before there was a key. @default no seal
   */
  readonly integrity?:
    | { readonly key: string | Uint8Array; readonly acceptUnsealed?: boolean | undefined }
    | undefined;
  readonly rememberCalls?: RememberCallsOptions | undefined;
  /**
   * Continues runs whose process died on another node with `recover`, as `resume` would, without a caller: each on one node, at
   * most `concurrency` (4) at once, and after `maxAttempts` (3) of them no more. Costs two commands for each call, beside its own.
   * @default false
   */
  readonly recover?:
    | boolean
    | { readonly maxAttempts?: number | undefined; readonly concurrency?: number | undefined }
    | undefined;
  readonly stateCache?: StateCacheOptions | undefined;
  /**
   * Keeps the events of calls for a while, so that `attach` reads them in any process: in the store, with `true`, or in a feed of
   * its own. Costs one command for each batch of events, of 50 ms or 4 KB, beside the call. @default false
   */
  readonly eventFeed?: boolean | EventFeed | undefined;
  /** Own keying, for example a tenant in front of the user id. */
  readonly slot?:
    | ((ctx: RuntimeContext) => { readonly userId: string | null; readonly sessionId: string })
    | undefined;
  /** Every event of every call, background ones included. Must not throw. */
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
  /** Time for `createdAt` and log records. @default the system's */
  readonly clock?: (() => Date) | undefined;
}

/** The plain settings, with defaults filled in. */
export interface AgentSettings {
  readonly name: string;
  readonly agentId: string;
  readonly systemPrompt: string;
  readonly resetEquippedTools: boolean;
  readonly singleNode: boolean;
  readonly persistence: Persistence;
  readonly conflictPolicy: ConflictPolicy;
  readonly onStoreRolledBack: "report" | "refuse";
  readonly maxIterations: number;
  readonly defaultSessionId: string;
  readonly requireSession: boolean | "user";
  readonly maxQueue: number;
  readonly toolTimeoutMs: number;
  readonly saveDeadlineMs: number;
  readonly overflowPatterns: readonly RegExp[];
  readonly modelRetry: Required<{ [K in keyof ModelRetryOptions]: number }>;
  readonly limits: Required<{ [K in keyof LimitOptions]: number }>;
  readonly integrity: StateSealOptions | undefined;
  readonly rememberCalls: Required<{ [K in keyof RememberCallsOptions]: number }>;
  /** False when runs of other nodes are left alone. */
  readonly recover: false | { readonly maxAttempts: number; readonly concurrency: number };
  readonly stateCache: Required<{ [K in keyof StateCacheOptions]: number }>;
}

const count = s.number().int().min(1);

/** Options that are objects of options themselves. */
const groups = {
  modelRetry: s.object({
    attempts: count.default(3),
    baseDelayMs: s.number().min(0).default(500),
    maxDelayMs: s.number().min(0).default(30_000),
  }),
  limits: s.object({
    messageBytes: count.default(1_048_576),
    headBytes: count.default(262_144),
    stateBytes: count.default(8_388_608),
  }),
  rememberCalls: s.object({
    max: s.number().int().min(0).max(10_000).default(100),
    forMs: s.number().min(0).default(604_800_000),
  }),
  stateCache: s.object({
    maxSessions: s.number().int().min(0).default(1_000),
    maxBytes: s.number().int().min(0).default(67_108_864),
  }),
};

const integrity = s.strictObject({
  key: s
    .union([s.string(), s.instanceOf(Uint8Array)], "must be a text or bytes")
    .refine((key) => Buffer.from(key).length >= 32, "must have at least 32 bytes"),
  acceptUnsealed: s.boolean().default(false),
});

const recovering = s.strictObject({
  maxAttempts: count.default(3),
  concurrency: count.default(4),
});

const settings = s.object({
  name: s.string().min(1).max(255),
  agentId: s.string().min(1).max(255).optional(),
  systemPrompt: s.string().default(""),
  resetEquippedTools: s.boolean().default(false),
  singleNode: s.boolean().default(false),
  persistence: s.enum(["call", "step"]).default("call"),
  conflictPolicy: s.enum(["fail", "merge-append", "overwrite"]).default("fail"),
  onStoreRolledBack: s.enum(["report", "refuse"]).default("report"),
  maxIterations: count.default(10),
  defaultSessionId: s.string().min(1).max(255).default("default"),
  requireSession: s
    .union([s.boolean(), s.literal("user")], 'must be true, false or "user"')
    .default(false),
  maxQueue: s.number().int().min(0).default(100),
  toolTimeoutMs: count.default(300_000),
  saveDeadlineMs: count.default(30_000),
  modelRetry: groups.modelRetry.prefault({}),
  overflowPatterns: s.array(s.instanceOf(RegExp)).default([]),
  limits: groups.limits.prefault({}),
  rememberCalls: groups.rememberCalls.prefault({}),
  recover: s
    .union(
      [s.boolean().transform((on) => on && recovering.parse({})), recovering],
      "must be true, false or { maxAttempts?, concurrency? }, each at least 1",
    )
    .default(false),
  stateCache: groups.stateCache.prefault({}),
  integrity: integrity.optional(),
});

type OtherOption = Exclude<keyof ReActAgentOptions, keyof typeof settings.shape>;

/** Options that are not plain settings. Written out so that the compiler finds a missing one. */
const otherOptions: { readonly [O in OtherOption]-?: true } = {
  model: true,
  fallbackModel: true,
  tools: true,
  toolGroups: true,
  middleware: true,
  plugins: true,
  distributedStore: true,
  eventFeed: true,
  stateStore: true,
  log: true,
  keyValue: true,
  gate: true,
  signals: true,
  filesystem: true,
  offloader: true,
  tokenCounter: true,
  slot: true,
  onEvent: true,
  clock: true,
};

/** Names of all options of an agent. */
export const agentOptionNames: readonly string[] = [
  ...Object.keys(settings.shape),
  ...Object.keys(otherOptions),
];

/** Fills in defaults and adds what is wrong to `problems`; undefined when something is. */
export function readSettings(
  options: ReActAgentOptions,
  problems: string[],
): AgentSettings | undefined {
  const parsed = settings.safeParse(options);
  if (!parsed.success) {
    problems.push(...parsed.error.issues.map(settingProblem));
    return undefined;
  }
  for (const [group, schema] of Object.entries(groups)) {
    const unknown = unknownNames(
      options[group as keyof typeof groups] ?? {},
      Object.keys(schema.shape),
      "option",
    );
    problems.push(...unknown.map((problem) => `${group}: ${problem}`));
  }
  const { agentId = parsed.data.name, integrity, ...rest } = parsed.data;
  if (rest.requireSession !== false && options.defaultSessionId !== undefined)
    problems.push(
      "defaultSessionId: with requireSession no call goes to a default session; leave one of them out",
    );
  try {
    checkId(agentId, "agentId");
    checkId(rest.defaultSessionId, "defaultSessionId");
  } catch (error) {
    problems.push((error as Error).message);
    return undefined;
  }
  return { ...rest, agentId, integrity };
}

function settingProblem(issue: s.SchemaIssue): string {
  const path = issue.path.join(".");
  // A key must not be shown, nor one that was given in place of { key }.
  const problem = `${path}: ${plainProblem(issue.message)}`;
  if (path === "integrity.key") return problem;
  const got = path === "integrity" ? showKind(issue.input) : showValue(issue.input);
  return `${problem}, got ${got}`;
}

/** Throws every problem at once. */
export function throwProblems(problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigurationError(problems);
}
