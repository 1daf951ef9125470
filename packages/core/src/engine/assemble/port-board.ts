import { InMemoryAgentStateStore } from "../../in-memory/in-memory-agent-state-store.js";
import type { PortName, Ports } from "../../middleware/plugin.js";
import { contractProblem } from "../../plugin-kit/contract-problem.js";
import { showValue } from "../../plugin-kit/show-value.js";
import type { AgentStateStore } from "../../ports/agent-state-store.js";
import { storeParts } from "../../ports/distributed-store.js";
import type { ToolGuard } from "../../ports/tool-guard.js";
import { type NamedGuard, strictestGuard } from "../tools/judge-call.js";
import type { ReActAgentOptions } from "./agent-options.js";
import { partProblem } from "./part-problems.js";
import { forwardTo } from "./plugin-state.js";

/** Ports of an agent while it is put together: those that the user passed, those that plugins provide, and those they need. */
export class PortBoard {
  /** All guards as one. */
  readonly guard: ToolGuard;
  readonly #problems: string[];
  readonly #ports = new Map<PortName, Ports[PortName]>();
  readonly #providers = new Map<PortName, string>();
  readonly #required: {
    readonly plugin: string;
    readonly port: PortName;
    readonly advice: string | undefined;
  }[] = [];
  readonly #guards: NamedGuard[] = [];

  constructor(options: ReActAgentOptions, problems: string[]) {
    this.#problems = problems;
    this.guard = strictestGuard(this.#guards);
    for (const name of storeParts) {
      const port = options[name] ?? options.distributedStore?.[name];
      if (port) this.#ports.set(name, port);
    }
    for (const name of ["filesystem", "offloader", "tokenCounter", "model"] as const)
      if (options[name]) this.#ports.set(name, options[name]);
  }

  get<P extends PortName>(port: P): Ports[P] | undefined {
    return this.#ports.get(port) as Ports[P] | undefined;
  }

  /** Takes what a plugin provides. */
  provide(plugin: string, port: PortName, implementation: Ports[PortName]): void {
    const refused = provideProblem(port, implementation);
    if (refused !== null) {
      this.#problems.push(`plugin "${plugin}" ${refused}`);
      return;
    }
    if (port === "toolGuard") {
      this.#guards.push({ plugin, guard: implementation as ToolGuard });
      this.#ports.set("toolGuard", this.guard);
      return;
    }
    const other = this.#providers.get(port);
    if (other !== undefined)
      this.#problems.push(`plugins "${other}" and "${plugin}" both provide a ${port}`);
    this.#providers.set(port, plugin);
    // What the user passed wins over what a plugin offers.
    if (!this.#ports.has(port)) this.#ports.set(port, implementation);
  }

  /** Returns a port that a plugin needs, to be used once the agent is built. */
  require<P extends PortName>(plugin: string, port: P, advice: string | undefined): Ports[P] {
    this.#required.push({ plugin, port, advice });
    return forwardTo(() => this.#ports.get(port), port) as Ports[P];
  }

  /** Parts of the store that neither the user nor a plugin brought: the state store's companions, else in memory. */
  fill(): void {
    const stateStore =
      (this.#ports.get("stateStore") as AgentStateStore | undefined) ??
      new InMemoryAgentStateStore();
    const companions =
      stateStore.companions?.() ?? new InMemoryAgentStateStore({ fused: false }).companions();
    for (const name of storeParts) {
      const port = this.#ports.get(name) ?? (name === "stateStore" ? stateStore : companions[name]);
      this.#ports.set(name, port);
      const problem = contractProblem((port as AgentStateStore).contract);
      if (problem !== null) this.#problems.push(`${name}: it ${problem}`);
    }
  }

  /** Adds what plugins need and nothing provides to the problems. */
  checkRequired(): void {
    for (const { plugin, port, advice } of this.#required)
      if (!this.#ports.has(port))
        this.#problems.push(
          `plugin "${plugin}" needs ${port === "offloader" ? "an" : "a"} ${port} and nothing provides one${advice === undefined ? "" : `; ${advice}`}`,
        );
  }
}

/** Ports that a plugin may provide; typed so that a new port cannot be forgotten. */
const isProvidable: { readonly [P in PortName]: boolean } = {
  stateStore: true,
  log: true,
  keyValue: true,
  gate: true,
  signals: true,
  filesystem: true,
  offloader: true,
  tokenCounter: true,
  compactor: true,
  toolGuard: true,
  // An agent is always built with a model, so that one of a plugin could never be used.
  model: false,
};

/** Returns the problem of what a plugin provides, or null; a port that is never used must not be accepted. */
function provideProblem(port: string, implementation: unknown): string | null {
  if (port === "model")
    return "provides a model, and an agent asks the one it was built with; pass it as model, or change the requests in an onModelCall hook";
  if (!Object.hasOwn(isProvidable, port)) {
    const names = Object.entries(isProvidable).flatMap(([name, can]) => (can ? name : []));
    return `provides ${JSON.stringify(port)}, which is not a port; there are: ${names.join(", ")}`;
  }
  const provided = `provides ${showValue(implementation)} as ${port}`;
  if (implementation === undefined || implementation === null)
    return `${provided}; pass an implementation`;
  const problem = partProblem(port as PortName, implementation);
  return problem === null ? null : `${provided}: ${problem}`;
}
