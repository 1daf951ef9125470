import { isRecord } from "../../json/json.js";
import type { PortName } from "../../middleware/plugin.js";
import { contractProblem } from "../../plugin-kit/contract-problem.js";
import { showValue, strayItem, strayValue } from "../../plugin-kit/show-value.js";
import { misspellingOf, nearestName } from "../../plugin-kit/unknown-names.js";
import type { DistributedStore } from "../../ports/distributed-store.js";
import { storeParts } from "../../ports/distributed-store.js";
import type { Model } from "../../ports/model.js";
import { collectHooks } from "./compose.js";

/** Parts of an agent that a program passes as one object. */
export type PartName = PortName | "fallbackModel" | "distributedStore";

/** Methods by which each part is recognised. */
const methods: { readonly [P in Exclude<PartName, "distributedStore">]: readonly string[] } = {
  model: ["stream"],
  fallbackModel: ["stream"],
  stateStore: ["load", "save", "delete", "list"],
  log: ["append", "read", "search", "sessions", "delete"],
  keyValue: ["get", "put", "delete", "list"],
  gate: ["acquire", "calls"],
  signals: ["send", "listen"],
  filesystem: ["read", "write", "append", "delete", "list"],
  offloader: ["offloadContext", "offloadToolResult"],
  tokenCounter: ["countText", "countMessages", "countTools"],
  compactor: ["compact"],
  toolGuard: ["check"],
};

/** Returns what is wrong with a value that should be a part of an agent, and what was probably meant; or null. */
export function partProblem(name: PartName, value: unknown): string | null {
  if (name === "distributedStore") return bundleProblem(value);
  const contract = otherContract(value);
  if (contract !== null) return `it ${contractProblem(contract)}`;
  // Not read: a store may do something when its methods are looked up.
  const missing = methods[name].filter((method) => !(isRecord(value) && method in value));
  const isNoStream = (model: unknown) => typeof (model as Partial<Model>).stream !== "function";
  if (missing.length === 0 && !(isModel(name) && isNoStream(value))) return null;
  if (name === "model" && value === undefined)
    return 'the agent needs one, for example fromAiSdk(openai("…")) of @holdfast/model-ai-sdk';
  const stray =
    functionAdvice(name, value) ??
    strayValue(value) ??
    (isModel(name) ? modelAdvice(value) : storeAdvice(name, value));
  if (stray !== null) return stray;
  return isModel(name)
    ? `must have a stream function (a model of the AI SDK goes through fromAiSdk of @holdfast/model-ai-sdk), got ${showValue(value)}`
    : `it has no ${missing.join(", ")}, so it is no ${name}; got ${showValue(value)}`;
}

function otherContract(value: unknown): number | null {
  const contract: unknown = isRecord(value) ? value["contract"] : undefined;
  return typeof contract === "number" && contract !== 1 ? contract : null;
}

function isModel(name: PartName): boolean {
  return name === "model" || name === "fallbackModel";
}

function modelAdvice(value: unknown): string | null {
  return isRecord(value) && ("doStream" in value || "specificationVersion" in value)
    ? "it is a model of the AI SDK; wrap it with fromAiSdk(model) from @holdfast/model-ai-sdk"
    : null;
}

/** Advice for a function where an object with that function is needed. */
function functionAdvice(name: PartName, value: unknown): string | null {
  if (typeof value !== "function") return null;
  if (name === "tokenCounter")
    return "it is a function; pass tokenCounterOf({ id, countText }) of @holdfast/core/plugin-kit with it as countText";
  return name === "toolGuard" ? "it is a function; pass { check } with it as check" : null;
}

/** Forms in which stores are often passed by mistake. */
function storeAdvice(name: PartName, value: unknown): string | null {
  if (name === "filesystem" && typeof value === "string")
    return "it is a text; pass new LocalFilesystem({ root }) of @holdfast/workspace, or another filesystem";
  if (typeof value === "string" || value instanceof URL)
    return "it is a text, not a store; connect first and pass RedisDistributedStore.from(client) or MysqlDistributedStore.from(pool) as distributedStore, or new JsonFileAgentStateStore({ root }) as stateStore";
  if (!isRecord(value)) return null;
  if (isBundle(value) && name !== "distributedStore")
    return `it holds all five parts of a store; pass it as distributedStore instead of ${name}`;
  if (looksLikeRedis(value))
    return "it is a Redis client; pass RedisDistributedStore.from(client) as distributedStore, or new RedisAgentStateStore({ client }) as stateStore";
  if ("getConnection" in value && ("query" in value || "execute" in value))
    return "it is a MySQL pool; pass MysqlDistributedStore.from(pool) as distributedStore, or new MysqlAgentStateStore({ pool }) as stateStore";
  return null;
}

function looksLikeRedis(value: object): boolean {
  const isIoredis = "duplicate" in value && ("defineCommand" in value || "nodes" in value);
  return isIoredis || ("sendCommand" in value && "duplicate" in value);
}

function isBundle(value: object): value is DistributedStore {
  return storeParts.every((part) => part in value);
}

function bundleProblem(value: unknown): string | null {
  if (isRecord(value) && isBundle(value)) {
    const problems = storeParts.flatMap((part) => {
      // Another contract is reported under the part's own name, wherever the part comes from.
      const problem = otherContract(value[part]) === null ? partProblem(part, value[part]) : null;
      return problem === null ? [] : [`its ${part}: ${problem}`];
    });
    return problems[0] ?? null;
  }
  const stray = strayValue(value) ?? storeAdvice("distributedStore", value);
  if (stray !== null) return stray;
  if (partProblem("stateStore", value) === null)
    return "it is a state store; pass it as stateStore, its log, gate and signals come with it";
  const parts = isRecord(value) ? value : {};
  const missing = storeParts.filter((part) => !(part in parts));
  const misspelt = missing.find((part) => misspellingOf(part, parts, storeParts) !== undefined);
  const advice =
    misspelt === undefined
      ? "pass what a store package's DistributedStore.from returns"
      : `it has ${showValue(misspellingOf(misspelt, parts, storeParts))}: did you mean ${misspelt}?`;
  return `it has no ${missing.join(", ")}; ${advice}`;
}

const hookNames = Object.keys(collectHooks([]));

/** Returns what is wrong with a value that should be a middleware, or null. */
export function middlewareProblem(value: unknown): string | null {
  const stray = strayItem(value);
  if (stray !== null) return `a middleware is an object with a name and hooks: ${stray}`;
  if (!isRecord(value))
    return `a middleware is an object with a name and hooks, got ${showValue(value)}`;
  const { name } = value;
  if (typeof value["setup"] === "function")
    return `middleware ${showValue(name)} is a plugin; pass it to plugins, or to use() of a builder`;
  if (typeof name !== "string" || name === "") return "a middleware needs a name";
  for (const key of Object.keys(value)) {
    if (!/^on[A-Z]/i.test(key) || hookNames.includes(key)) continue;
    const nearest = nearestName(key, hookNames);
    return `middleware ${JSON.stringify(name)} has ${showValue(key)}, which is no hook${nearest === undefined ? "" : `; did you mean ${nearest}?`}`;
  }
  const wrong = hookNames.find(
    (hook) => value[hook] !== undefined && typeof value[hook] !== "function",
  );
  return wrong === undefined
    ? null
    : `middleware ${JSON.stringify(name)}: ${wrong} must be a function, got ${showValue(value[wrong])}`;
}

/** Returns what is wrong with a value that should be a tool, or null. */
export function toolProblem(value: unknown): string | null {
  const made = "tool({ name, description, input, execute }) of @holdfast/core";
  const stray = strayItem(value);
  if (stray !== null) return `a tool is made with ${made}: ${stray}`;
  const name: unknown = isRecord(value) ? value["name"] : undefined;
  if (
    isRecord(value) &&
    typeof name === "string" &&
    isRecord(value["inputSchema"]) &&
    "input" in value
  )
    return null;
  const isAiSdk =
    isRecord(value) &&
    typeof name !== "string" &&
    ("inputSchema" in value || "parameters" in value) &&
    "description" in value;
  if (isAiSdk) return `a tool of the AI SDK has no name of its own; make one with ${made}`;
  return name === undefined
    ? `a tool is made with ${made}, got ${showValue(value)}`
    : `tool ${showValue(name)} was not made by ${made}, got ${showValue(value)}`;
}

/** Returns what is wrong with a value that should be a group of tools, or null. */
export function toolGroupProblem(value: unknown): string | null {
  if (isRecord(value) && typeof value["name"] === "string" && Array.isArray(value["tools"]))
    return null;
  return `a tool group is { name, tools: [tool({ … })] }, got ${showValue(value)}`;
}
