import type { JsonObject } from "../../json/json.js";
import type { Message } from "../../message/message.js";
import type { Revision } from "../../ports/agent-state-store.js";
import type { CallOutcome, LogDraft, LogMark } from "../../ports/conversation-log.js";

/** A run and the call it serves. */
export interface RunName {
  readonly runId: string;
  readonly callId: string;
}

/** A run that ended without saying so; those of earlier releases have no id. */
export interface DeadRun {
  readonly runId?: string | undefined;
  readonly callId: string;
}

/** Revision that a run started from and the one that its save will produce, for stores that do not save state and log together. */
export interface Lineage {
  readonly from: Revision | null;
  /** Revisions of earlier ends that were stored before, and to which no later end goes back yet. */
  readonly over: readonly Revision[];
  readonly to: Revision;
}

/**
 * The log records of one run that are not written yet.
 *
 * A record gets its id when it is made, so that writing it again after an unknown outcome doubles nothing. It begins with the
 * run's id: a `callId` may be repeated, and the records of each run are its own. It does not contain the message's id:
 * callers choose those and may use one again.
 */
export class LogBatch {
  readonly #run: RunName;
  readonly now: () => Date;
  readonly #originals = new Map<string, Message>();
  readonly #inputPlaces = new Map<string, string>();
  #drafts: LogDraft[] = [];
  #holdsMore = false;
  /** Ids of the run's messages, in the order of their records. */
  readonly #messageIds: string[] = [];
  #others = 0;

  constructor(run: RunName, now: () => Date) {
    this.#run = run;
    this.now = now;
  }

  /** When the message with this id is added, log `original` in its place. */
  remember(original: Message): void {
    this.#originals.set(original.id, original);
    this.#holdsMore = true;
  }

  /** The run's input: a successor that has to log it does so under the same ids. */
  expectInput(messages: readonly Message[]): void {
    for (const [index, { id }] of messages.entries()) this.#inputPlaces.set(id, `input.${index}`);
  }

  add(messages: readonly Message[]): void {
    for (const message of messages) {
      const original = this.#originals.get(message.id) ?? message;
      this.#originals.delete(message.id);
      const place = this.#inputPlaces.get(message.id) ?? this.#messageIds.length;
      this.#messageIds.push(message.id);
      this.#push(`${this.#run.runId}.${place}`, { kind: "message", message: original });
    }
  }

  mark(mark: LogMark): void {
    this.#push(`${this.#run.runId}.mark.${this.#others++}`, { kind: "mark", mark });
  }

  /** Says how the run ended, in place of what an unwritten mark said before. */
  callEnd(outcome: CallOutcome, lineage?: Lineage): void {
    const details = lineage && {
      from: lineage.from,
      to: lineage.to,
      ...(lineage.over.length > 0 && { over: lineage.over }),
    };
    this.#end(lineage ? `${outcome}.${lineage.to}` : outcome, outcome, details);
  }

  /**
   * Says how the run ended that could not be saved.
   *
   * @param kept - how many of its messages were saved before
   */
  unsavedEnd(outcome: CallOutcome, kept: number): void {
    this.#end(`${outcome}.unsaved`, outcome, { saved: false, kept });
  }

  /** Adds the input of a run that died before the context had it; what that run has logged of it is not added again. */
  addInput({ runId, callId }: RunName, messages: readonly Message[]): void {
    for (const [index, message] of messages.entries())
      this.#push(`${runId}.input.${index}`, { kind: "message", message }, callId);
  }

  /** Adds a message that belongs to no run, under an id of its own. */
  addForeign(id: string, callId: string, message: Message): void {
    this.#push(id, { kind: "message", message }, callId);
  }

  /** Adds messages that put a dead run right, under that run. */
  addRepairs(run: DeadRun, messages: readonly Message[]): void {
    const { runId = this.#run.runId, callId } = run;
    for (const message of messages) {
      const id = `${runId}.repair.${this.#run.runId}.${this.#others++}`;
      this.#push(id, { kind: "message", message }, callId);
    }
  }

  /**
   * Says how an earlier run ended, which could not say so itself.
   *
   * @param kept - how many of its messages were saved; null when it saved nothing at all
   */
  endOf({ runId, callId }: DeadRun, outcome: CallOutcome, kept: number | null): void {
    const id = runId
      ? `${runId}.end.${outcome}.by.${this.#run.runId}`
      : `${this.#run.runId}.before`;
    // Once, behind everything that is added of the run.
    const before = this.#drafts.find((draft) => draft.id === id)?.mark?.details;
    this.#drafts = this.#drafts.filter((draft) => draft.id !== id);
    const hasSaved = kept !== null || (before !== undefined && before["saved"] !== false);
    const details = {
      by: this.#run.runId,
      kept: Math.max(kept ?? 0, Number(before?.["kept"] ?? 0)),
      ...(!hasSaved && { saved: false }),
    };
    this.#push(id, { kind: "mark", mark: { name: "call_end", outcome, details } }, callId);
  }

  /** True when there is more of a message to write than the context got. */
  get holdsMore(): boolean {
    return this.#holdsMore;
  }

  /** Ids of the run's messages so far. */
  get messageIds(): readonly string[] {
    return this.#messageIds;
  }

  get drafts(): readonly LogDraft[] {
    return this.#drafts;
  }

  /** The first `count` drafts are in the log. */
  written(count: number): void {
    this.#drafts = this.#drafts.slice(count);
    if (this.#drafts.length === 0) this.#holdsMore = false;
  }

  #end(suffix: string, outcome: CallOutcome, details: JsonObject | undefined): void {
    const end = `${this.#run.runId}.end.`;
    this.#drafts = this.#drafts.filter(({ id }) => !id.startsWith(end));
    const mark = { name: "call_end", outcome, ...(details && { details }) } as const;
    this.#push(`${end}${suffix}`, { kind: "mark", mark });
  }

  #push(
    id: string,
    body: Pick<LogDraft, "kind" | "message" | "mark">,
    callId = this.#run.callId,
  ): void {
    this.#drafts.push({ v: 1, id, callId, at: this.now().toISOString(), ...body });
  }
}
