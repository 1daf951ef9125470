import { RuntimeContext } from "../../context/runtime-context.js";
import { errorName } from "../../errors/error-name.js";
import { SessionBusyError, ShuttingDownError } from "../../errors/errors.js";
import type { EventBody } from "../../events/agent-event.js";
import type { AgentReply } from "../../events/agent-reply.js";
import type { Slot } from "../../slot/slot.js";
import { Heartbeat } from "../../store-kit/lease/heartbeat.js";
import { elapsedMs, type Moment, presentMoment } from "../../store-kit/lease/moment.js";
import { type AgentParts, backgroundEvent } from "../assemble/agent-parts.js";
import { Call, RESUME } from "../call.js";
import { NothingToResume } from "../turn.js";
import type { RunMark, RunMarks, StoredMark } from "./run-marks.js";

/** Time between two looks at the records of other nodes. */
const LOOK_MS = 3_000;
/** Time for which the record of a node has to stand still before its runs are looked at: more than two heartbeats. */
const SILENT_MS = 5_000;
/** Longest wait for a session; it is longer than a dead node keeps one from a call that waits. */
const QUEUE_MS = 45_000;
/** First and longest pause before a run is tried again. */
const BACKOFF_MS = { first: 5_000, most: 300_000 };

/** Node as the last looks have seen it. */
interface SeenNode {
  readonly version: string;
  /** When it was first seen with that version. */
  readonly since: Moment;
}

/**
 * Continues runs whose node died, as `agent.resume` would, without anybody asking for it.
 *
 * Contract:
 * - Every 3 s, with jitter, it looks for nodes whose record stands still. Looks that fail, or between which this process stood
 *   still, begin anew: an outage of the store is not a death.
 * - Of several nodes one gets the mark of a run. It waits for the session like any call, so that the gate has the last word: a
 *   node that lives keeps its session.
 * - At most `concurrency` runs are continued at once, and of those that have failed before one at a time: a run that kills its
 *   process takes few others with it.
 * - An attempt is counted in the store before it begins. After `maxAttempts` of them the run is left to people.
 */
export class Recovery {
  readonly #parts: AgentParts;
  readonly #marks: RunMarks;
  readonly #maxAttempts: number;
  readonly #concurrency: number;
  readonly #looks: Heartbeat = new Heartbeat(() => this.#look());
  readonly #seen = new Map<string, SeenNode>();
  #lookedAt: Moment | undefined;
  /** Runs that are being continued, by the key of their mark. */
  readonly #active = new Map<string, RunMark>();
  /** Runs of this node that wait for their next attempt. */
  readonly #parked = new Map<string, RunMark>();

  constructor(
    parts: AgentParts,
    marks: RunMarks,
    { maxAttempts, concurrency }: { readonly maxAttempts: number; readonly concurrency: number },
  ) {
    this.#parts = parts;
    this.#marks = marks;
    this.#maxAttempts = maxAttempts;
    this.#concurrency = concurrency;
    this.#looks.schedule(jittered(LOOK_MS));
  }

  /** Begins to look for runs of dead nodes, if the agent is to. */
  static of(parts: AgentParts): Recovery | undefined {
    const { runMarks, settings } = parts;
    if (!runMarks || settings.recover === false) return undefined;
    return new Recovery(parts, runMarks, settings.recover);
  }

  /** Continues no further run. Those under way are calls in flight. */
  stop(): void {
    this.#marks.track(this.#looks.stop());
  }

  async #look(): Promise<number> {
    try {
      for (const [key, mark] of [...this.#parked]) if (this.#isDue(mark)) await this.#retry(key);
      for (const [nodeId, version] of await this.#silentNodes())
        await this.#recoverFrom(nodeId, version);
    } catch {
      this.#seen.clear();
    }
    return jittered(LOOK_MS);
  }

  /** Returns the nodes whose record has stood still for long enough, in an unbroken series of looks. */
  async #silentNodes(): Promise<readonly (readonly [nodeId: string, version: string])[]> {
    const others = await this.#marks.others();
    const isUnbroken = this.#lookedAt !== undefined && elapsedMs(this.#lookedAt) < 3 * LOOK_MS;
    if (!isUnbroken) this.#seen.clear();
    this.#lookedAt = presentMoment();
    for (const nodeId of this.#seen.keys()) if (!others.has(nodeId)) this.#seen.delete(nodeId);
    for (const [nodeId, version] of others)
      if (this.#seen.get(nodeId)?.version !== version)
        this.#seen.set(nodeId, { version, since: presentMoment() });
    return [...others].filter(([nodeId]) => {
      const { since } = this.#seen.get(nodeId) ?? {};
      return since !== undefined && elapsedMs(since) >= SILENT_MS;
    });
  }

  async #recoverFrom(nodeId: string, version: string): Promise<void> {
    const found = await this.#marks.marksOf(nodeId);
    if (found.length === 0) await this.#marks.forget(nodeId, version);
    // In an order of its own, so that nodes which look at the same time compete for few.
    for (const stored of shuffled(found))
      if (this.#isDue(stored.mark) && !this.#active.has(stored.key))
        await this.#takeOver(nodeId, stored);
  }

  async #takeOver(nodeId: string, stored: StoredMark): Promise<void> {
    const { mark, key } = stored;
    const next = attempted(mark);
    const isTaken = await this.#marks.takeOver(nodeId, stored, next).catch(async (error) => {
      // It may be this node's now, and no other node finds it then. Where it is not, the gate and the run's record tell.
      await this.#park(key, mark, mark.attempts);
      throw error;
    });
    this.#parked.delete(key);
    if (!isTaken) return;
    if (mark.attempts < this.#maxAttempts) this.#begin(key, next);
    // The last node that tried died of it, or with it.
    else this.#giveUp(key, mark, "PROCESS_DIED");
  }

  async #retry(key: string): Promise<void> {
    const mark = this.#parked.get(key);
    if (!mark) return;
    const next = attempted(mark);
    await this.#marks.put(key, next);
    this.#parked.delete(key);
    this.#begin(key, next);
  }

  /** Tells whether a run may be tried now: its pause is over, and there is room for it. */
  #isDue({ attempts, notBefore }: RunMark): boolean {
    if (this.#parts.lifecycle.state !== "running") return false;
    const waitMs = notBefore === undefined ? 0 : Date.parse(notBefore) - Date.now();
    // A longer wait than any node asks for was written by one whose clock is ahead.
    if (waitMs > 0 && waitMs <= 2 * BACKOFF_MS.most) return false;
    const active = [...this.#active.values()];
    const isSuspect = attempts > 0 && active.some((other) => other.attempts > 1);
    return active.length < this.#concurrency && !isSuspect;
  }

  #begin(key: string, mark: RunMark): void {
    this.#active.set(key, mark);
    const attempt = this.#attempt(key, mark).finally(() => this.#active.delete(key));
    this.#marks.track(attempt);
  }

  async #attempt(key: string, mark: RunMark): Promise<void> {
    const began = performance.now();
    try {
      const { reply, isContinued } = await this.#resume(mark);
      const { reason } = reply;
      if (reason === "shutdown") return await this.#putBack(key, mark);
      this.#marks.end(key);
      const durationMs = performance.now() - began;
      if (isContinued)
        this.#emit(mark, { type: "run_recovered", attempt: mark.attempts, reason, durationMs });
    } catch (error) {
      if (error instanceof NothingToResume) this.#marks.end(key);
      else if (ShuttingDownError.is(error)) await this.#putBack(key, mark);
      // Its node lives, or another call has the session: that is no fault of the run.
      else if (SessionBusyError.is(error)) await this.#park(key, mark, mark.attempts - 1);
      else if (mark.attempts >= this.#maxAttempts) this.#giveUp(key, mark, errorName(error));
      else {
        this.#fail(mark, errorName(error), false);
        await this.#park(key, mark, mark.attempts);
      }
    }
  }

  /** Continues a run; one that has a reply by then is not continued, and its reply is returned. */
  async #resume(
    mark: RunMark,
  ): Promise<{ readonly reply: AgentReply; readonly isContinued: boolean }> {
    const slot = this.#slotOf(mark);
    const { userId, sessionId, callId } = mark;
    const ctx = RuntimeContext.of({ userId, sessionId, callId, queueTimeoutMs: QUEUE_MS });
    let isContinued = false;
    const parts: AgentParts = {
      ...this.#parts,
      // The mark names the slot itself, and stands for the run already.
      slotOf: () => slot,
      runMarks: undefined,
      observe: (event) => {
        isContinued ||= event.type === "run_resumed";
        this.#parts.observe(event);
      },
    };
    const reply = await new Call(parts, RESUME, ctx, null).run();
    return { reply, isContinued };
  }

  /** Leaves a run to another node; that this one shuts down is no fault of the run. */
  async #putBack(key: string, mark: RunMark): Promise<void> {
    await this.#marks.put(key, { ...mark, attempts: mark.attempts - 1 });
  }

  /** Lets a run wait for its next attempt here, or on another node should this one die. */
  async #park(key: string, mark: RunMark, attempts: number): Promise<void> {
    const pauseMs = Math.min(BACKOFF_MS.first * 2 ** Math.max(attempts - 1, 0), BACKOFF_MS.most);
    const notBefore = new Date(Date.now() + jittered(pauseMs)).toISOString();
    const parked = { ...mark, attempts, notBefore };
    this.#parked.set(key, parked);
    await this.#marks.put(key, parked);
  }

  #giveUp(key: string, mark: RunMark, code: string): void {
    this.#marks.end(key);
    this.#fail(mark, code, true);
  }

  #fail(mark: RunMark, code: string, gaveUp: boolean): void {
    this.#emit(mark, { type: "run_recovery_failed", attempt: mark.attempts, code, gaveUp });
  }

  #emit(mark: RunMark, event: EventBody): void {
    this.#parts.observe(backgroundEvent(this.#slotOf(mark), mark.callId, event));
  }

  #slotOf({ userId, sessionId }: RunMark): Slot {
    return { agentId: this.#parts.settings.agentId, userId, sessionId };
  }
}

function attempted(mark: RunMark): RunMark {
  const { notBefore: _, ...rest } = mark;
  return { ...rest, attempts: mark.attempts + 1 };
}

function jittered(ms: number): number {
  return ms * (0.8 + 0.4 * Math.random());
}

function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
