import { ShuttingDownError } from "../../errors/errors.js";
import { longestTimerMs, withDeadline } from "../../store-kit/deadline.js";
import type { AgentParts } from "../assemble/agent-parts.js";

/** Result of a shutdown. */
export interface ShutdownReport {
  /** Calls that were in flight when it began. */
  readonly calls: number;
  /** Those that had to be cut because the time was up. */
  readonly cut: number;
  /**
   * Descriptions of what had not ended when the time was up and was left behind: calls that did not react to being cut, and plugins
   * that did not close. Absent when everything ended.
   */
  readonly abandoned?: readonly string[] | undefined;
}

/** Time that calls which were cut get to be saved, and plugins to close: as long as a command of a store may take. */
const STORE_DEADLINE_MS = 5_000;

/** Part of the time left that one thing may use, so that one that hangs leaves some for the others. */
const SHARE = 0.8;

/** Ends one agent, whatever hangs: within the time given and one deadline of a store. */
export class Ending {
  readonly #parts: AgentParts;
  /** Names of the plugins whose `onClose` runs or ran out of time. */
  readonly #closing = new Set<string>();
  /** Calls that were abandoned, in words. */
  readonly #abandoned = new Set<string>();
  #closed: Promise<void> | undefined;

  constructor(parts: AgentParts) {
    this.#parts = parts;
  }

  /**
   * Waits until no call is in flight. After `timeoutMs` those that are left are cut, and soon after that abandoned.
   *
   * @param stops - lets calls stop at their next safe point instead of running to their end
   */
  async endCalls(timeoutMs: number, stops: boolean): Promise<Omit<ShutdownReport, "abandoned">> {
    const { lifecycle } = this.#parts;
    const calls = lifecycle.active;
    lifecycle.drain(performance.now() + timeoutMs + this.#graceMs);
    if (stops) for (const call of calls) call.drain();
    let cut = 0;
    const timers = [
      after(timeoutMs, () => {
        for (const call of lifecycle.active) {
          cut++;
          call.drain();
          call.cut();
        }
      }),
      after(timeoutMs + SHARE * this.#graceMs, () => {
        for (const call of lifecycle.active) {
          this.#abandoned.add(`call ${JSON.stringify(call.callId)}`);
          call.abandon();
        }
      }),
    ];
    await lifecycle.idle();
    for (const timer of timers) clearTimeout(timer);
    return { calls: calls.length, cut };
  }

  /**
   * Runs what plugins do at the end, once, and waits for it no longer than there is time.
   *
   * @throws the first error of an `onClose`
   */
  async closePlugins(): Promise<void> {
    const { lifecycle } = this.#parts;
    lifecycle.close();
    this.#closed ??= this.#close();
    const closed = this.#closed;
    await withDeadline(() => closed, lifecycle.leftMs(), outOfTime).catch(ignoreOutOfTime);
  }

  /** Names of the parts left behind so far. */
  get abandoned(): readonly string[] {
    return [...this.#abandoned, ...[...this.#closing].map((name) => `plugin "${name}"`)];
  }

  get #graceMs(): number {
    return Math.min(this.#parts.settings.saveDeadlineMs, STORE_DEADLINE_MS);
  }

  async #close(): Promise<void> {
    const failures: unknown[] = [];
    for (const { plugin, run } of this.#parts.onClose) {
      this.#closing.add(plugin);
      const closing = (async () => run())().finally(() => this.#closing.delete(plugin));
      const left = Math.max(SHARE * this.#parts.lifecycle.leftMs(), 1);
      try {
        await withDeadline(() => closing, left, outOfTime);
      } catch (error) {
        if (error instanceof OutOfTime) continue;
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** The agent is closed, but something of it did not end. */
export class LeftBehindError extends ShuttingDownError {
  constructor(agent: string, abandoned: readonly string[]) {
    super(
      `agent "${agent}" is closed, but did not end in time: ${abandoned.join(", ")}. End the process to be rid of it`,
    );
  }
}

class OutOfTime extends Error {}

function outOfTime(): Error {
  return new OutOfTime();
}

function ignoreOutOfTime(error: unknown): void {
  if (!(error instanceof OutOfTime)) throw error;
}

function after(ms: number, run: () => void): NodeJS.Timeout {
  return setTimeout(run, Math.min(ms, longestTimerMs));
}
