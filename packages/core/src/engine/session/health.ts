import { errorName } from "../../errors/error-name.js";
import { HoldfastError } from "../../errors/holdfast-error.js";
import { StoreUnavailableError } from "../../errors/store-errors.js";
import { storeParts } from "../../ports/distributed-store.js";
import { withDeadline } from "../../store-kit/deadline.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import type { LifecycleState } from "./lifecycle.js";

/** Report of what works and what does not. */
export interface HealthReport {
  /** True when the agent takes calls and every part works. */
  readonly ok: boolean;
  /** State of the agent: it takes calls only while `running`. */
  readonly lifecycle: LifecycleState;
  /** Calls of this instance, and other work on sessions. */
  readonly calls: {
    /** Those that hold their session. */
    readonly running: number;
    /** Those that wait for it, or for the agent's start. */
    readonly waiting: number;
  };
  /** The parts of the store, with the event feed if there is one, then the start of the plugins, then the plugins that have a check. */
  readonly parts: readonly {
    /** `stateStore`, `log`, `keyValue`, `gate`, `signals`, `eventFeed`, `start`, or `plugin "name"`. */
    readonly part: string;
    readonly ok: boolean;
    /** Kind of a store's part, for example `redis`. */
    readonly kind?: string | undefined;
    /** Time the check took. */
    readonly durationMs: number;
    /** Code or name of the error, when it is not well. */
    readonly code?: string | undefined;
    /** Problem of a part that is not well, and its remedy. */
    readonly problem?: string | undefined;
  }[];
}

type PartHealth = HealthReport["parts"][number];

/** Id of a session that no call uses: reading it reaches the store and finds nothing. */
const PROBE = "holdfast.health";

/** Looks at the parts of one agent, in bounded time. */
export class HealthCheck {
  readonly #parts: AgentParts;

  constructor(parts: AgentParts) {
    this.#parts = parts;
  }

  /** Never rejects. */
  async report(timeoutMs: number): Promise<HealthReport> {
    const { lifecycle, onHealth } = this.#parts;
    const parts = await Promise.all([
      ...this.#probeStore(timeoutMs).map(async (checked) => healthOf(await checked, inReady)),
      ...this.#probeFeed(timeoutMs),
      this.#start(),
      ...onHealth.map(async ({ plugin, run }) =>
        healthOf(await check(`plugin "${plugin}"`, timeoutMs, run), inPlugin),
      ),
    ]);
    const calls = lifecycle.active;
    const running = calls.filter(({ isRunning }) => isRunning).length;
    return {
      ok: lifecycle.state === "running" && parts.every(({ ok }) => ok),
      lifecycle: lifecycle.state,
      calls: { running, waiting: calls.length - running },
      parts,
    };
  }

  /**
   * Resolves once the store answers and the plugins have started.
   *
   * @throws StoreUnavailableError when one of them does not in its time
   */
  async ready(storeMs: number, startMs: number = Number.POSITIVE_INFINITY): Promise<void> {
    await this.#reachStore(storeMs);
    const { lifecycle, settings } = this.#parts;
    const late = () =>
      new StoreUnavailableError(
        `agent "${settings.name}" is not ready: its plugins had not started within ${startMs} ms; they go on with it, and the next call or agent.ready() waits for them`,
      );
    await withDeadline(() => lifecycle.start(), startMs, late);
  }

  async #reachStore(timeoutMs: number): Promise<void> {
    const checked = await Promise.all(this.#probeStore(timeoutMs));
    const failed = checked.filter(({ failure }) => failure !== undefined);
    const [first] = failed;
    if (!first) return;
    const { problem } = healthOf(first, "and is in error.cause");
    throw new StoreUnavailableError(
      `agent "${this.#parts.settings.name}" is not ready: ${failed.map(nameOf).join(", ")} cannot be used. ${problem}`,
      { cause: first.failure?.error },
    );
  }

  /** Reads from each part of the store what is not there. */
  #probeStore(timeoutMs: number): Promise<CheckedPart>[] {
    const { stateStore, log, keyValue, gate, signals, settings } = this.#parts;
    const slot = { agentId: settings.agentId, userId: null, sessionId: PROBE };
    const probes: { readonly [P in (typeof storeParts)[number]]: () => Promise<unknown> } = {
      stateStore: () => stateStore.load(slot),
      log: () => log.read(slot, { limit: 1 }),
      keyValue: () => keyValue.get([PROBE], PROBE),
      gate: () => gate.calls(slot),
      // Nothing listens there, so that it is a question and no signal.
      signals: () => signals.send(slot, PROBE, { kind: "interrupt" }),
    };
    return storeParts.map(async (name) => {
      const { kind } = this.#parts[name];
      return { ...(await check(name, timeoutMs, probes[name])), kind };
    });
  }

  /** Reads a feed that is not there. No call waits for its feed, so that `ready` does not ask for it. */
  #probeFeed(timeoutMs: number): Promise<PartHealth>[] {
    const { feeds, settings } = this.#parts;
    if (!feeds) return [];
    const { kind } = feeds;
    const slot = { agentId: settings.agentId, userId: null, sessionId: PROBE };
    const probe = async (): Promise<PartHealth> => {
      const checked = await check("eventFeed", timeoutMs, () => feeds.probe(slot, PROBE));
      return healthOf({ ...checked, kind }, inFeed);
    };
    return [probe()];
  }

  /** State of the plugins' start; a start that nothing asked for yet is no problem. */
  async #start(): Promise<PartHealth> {
    const { startState: start, startFailure } = this.#parts.lifecycle;
    const found = { part: "start", durationMs: 0 };
    if (start === "starting")
      return { ...found, ok: false, problem: "plugins are starting; calls wait for them" };
    if (start !== "failed") return { ...found, ok: true };
    const problem = `${describe("the start of a plugin", startFailure, "and is thrown by agent.ready()")}; the next call or agent.ready() tries again`;
    return { ...found, ok: false, code: errorName(startFailure), problem };
  }
}

/** Outcome of a check; what it threw is kept apart from what may be shown. */
interface CheckedPart extends Pick<PartHealth, "part" | "kind" | "durationMs"> {
  readonly failure?: { readonly error: unknown } | undefined;
}

/** Places where the message of a foreign error can be read. */
const inReady = "and is in error.cause of agent.ready()";
const inFeed = "and is the feed's own to log";
const inPlugin = "and is the plugin's own to log";

/** Runs one check; what it throws is its result. */
async function check(part: string, timeoutMs: number, run: () => unknown): Promise<CheckedPart> {
  const began = performance.now();
  const noAnswer = () =>
    new StoreUnavailableError(
      `${part} gave no answer within ${timeoutMs} ms; check that what it is on runs and can be reached`,
    );
  try {
    await withDeadline(async () => run(), timeoutMs, noAnswer);
    return { part, durationMs: performance.now() - began };
  } catch (error) {
    return { part, durationMs: performance.now() - began, failure: { error } };
  }
}

/** @param whereabouts - see {@link describe} */
function healthOf({ failure, ...checked }: CheckedPart, whereabouts: string): PartHealth {
  if (!failure) return { ...checked, ok: true };
  const { error } = failure;
  const problem = describe(nameOf(checked), error, whereabouts);
  return { ...checked, ok: false, code: errorName(error), problem };
}

function nameOf({ part, kind }: Pick<PartHealth, "part" | "kind">): string {
  return kind === undefined ? part : `${part} (${kind})`;
}

/**
 * Messages of foreign errors may hold secrets, such as the password of an address; those of this project do not.
 *
 * @param whereabouts - where the message of a foreign error is instead, as the end of a sentence
 */
function describe(what: string, error: unknown, whereabouts: string): string {
  if (HoldfastError.is(error)) return error.message;
  return `${what} failed with ${kindOfError(error)}; its message is withheld here ${whereabouts}`;
}

function kindOfError(error: unknown): string {
  if (!(error instanceof Error)) return "a value that is no Error";
  const name = errorName(error);
  if (name !== error.name) return name;
  return `${/^[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
}
