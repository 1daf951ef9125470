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
  /** Ids of records about other runs. */
  readonly #aboutOthers = new Set<string>();
  /** Ends of other runs that no save has yet, by the id of the mark without the revision of a save. */
  readonly #endsOfOthers = new Map<string, LogDraft>();
  /** Ids of records that were copied from another session. */
  readonly #copies = new Set<string>();
  #holdsMore = false;
  #hasEnded = false;
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
      const original = this.#originalOf(message);
      const place = this.#inputPlaces.get(message.id) ?? this.#messageIds.length;
      this.#messageIds.push(message.id);
      this.#push(`${this.#run.runId}.${place}`, { kind: "message", message: original });
    }
  }

  mark(mark: LogMark): void {
    this.#push(`${this.#run.runId}.mark.${this.#others++}`, { kind: "mark", mark });
  }

  /**
   * Says how the run ended, in place of what an unwritten mark said before.
   *
   * @param isMerged - the save leaves what another process has saved as it is, and adds to it
   */
  callEnd(outcome: CallOutcome, lineage: Lineage | undefined, isMerged: boolean): void {
    const { from = null, to, over = [] } = lineage ?? {};
    const details = {
      ...(to !== undefined && { from, to, ...(over.length > 0 && { over }) }),
      ...(isMerged && { merged: true }),
    };
    const hasDetails = Object.keys(details).length > 0;
    const suffix = to === undefined ? outcome : `${outcome}.${to}`;
    this.#end(suffix, outcome, hasDetails ? details : undefined);
  }

  /**
   * Says how the run ended that could not be saved.
   *
   * @param kept - how many of its messages were saved before
   */
  unsavedEnd(outcome: CallOutcome, kept: number): void {
    this.#end(`${outcome}.unsaved`, outcome, { saved: false, kept });
  }

  /** Adds the input of another run, which could not say it itself; what that run has logged of it is not added again. */
  addInput({ runId, callId }: RunName, messages: readonly Message[]): void {
    for (const [index, message] of messages.entries())
      this.#addOther(`${runId}.input.${index}`, callId, this.#originalOf(message));
  }

  /** Adds a message that belongs to no run, under an id of its own. */
  addForeign(id: string, callId: string, message: Message): void {
    this.#addOther(id, callId, message);
  }

  /** Adds records of another session, as they are; they are true of the state that is about to be saved. */
  addCopies(drafts: readonly LogDraft[]): void {
    for (const draft of drafts) {
      this.#copies.add(draft.id);
      this.#drafts.push(draft);
    }
  }

  /** Adds messages that put a dead run right, under that run. */
  addRepairs(run: DeadRun, messages: readonly Message[]): void {
    const { runId = this.#run.runId, callId } = run;
    for (const message of messages)
      this.#addOther(`${runId}.repair.${this.#run.runId}.${this.#others++}`, callId, message);
  }

  /**
   * Says how an earlier run ended, which could not say so itself. It is true of the state that is about to be saved, so that
   * the mark is written for a save only.
   *
   * @param kept - how many of its messages were saved; null when it saved nothing at all
   */
  endOf({ runId, callId }: DeadRun, outcome: CallOutcome, kept: number | null): void {
    const id = runId
      ? `${runId}.end.${outcome}.by.${this.#run.runId}`
      : `${this.#run.runId}.before`;
    // Once, behind everything that is added of the run.
    const before = this.#endsOfOthers.get(id)?.mark?.details;
    this.#drafts = this.#drafts.filter((draft) => draft.id !== id);
    const hasSaved = kept !== null || (before !== undefined && before["saved"] !== false);
    const details = {
      by: this.#run.runId,
      kept: Math.max(kept ?? 0, Number(before?.["kept"] ?? 0)),
      ...(!hasSaved && { saved: false }),
    };
    const mark = { name: "call_end", outcome, details } as const;
    this.#endsOfOthers.set(id, this.#push(id, { kind: "mark", mark }, callId));
  }

  /** True while there are ends of other runs that no save has. */
  get endsOthers(): boolean {
    return this.#endsOfOthers.size > 0;
  }

  /** Lets the ends of other runs name the revision of the save that they are written for. */
  nameSave({ from, over, to }: Lineage): void {
    const stored = from === null ? over : [from, ...over];
    for (const [id, end] of this.#endsOfOthers) {
      // A run of an earlier release has no id, and its mark is known by its own.
      const isNamed = !id.endsWith(".before");
      const details = {
        ...end.mark?.details,
        ...(isNamed && { with: to }),
        ...(stored.length > 0 && { over: stored }),
      };
      const named: LogDraft = {
        ...end,
        id: isNamed ? `${id}.${to}` : id,
        mark: { ...end.mark, name: "call_end", details },
      };
      const at = this.#drafts.findIndex((draft) => draft.id.startsWith(id));
      if (at < 0) this.#drafts.push(named);
      else this.#drafts[at] = named;
    }
  }

  /**
   * Forgets what was found of other runs: it is as another process has saved it, and not as it was taken in here.
   *
   * @param except - id of a run of which it is not so
   */
  forgetOthers(except?: string): void {
    const isForgotten = (id: string) => except === undefined || !id.startsWith(`${except}.`);
    const isEnd = this.#isEndOfOther();
    this.#drafts = this.#drafts.filter(
      ({ id }) => !isForgotten(id) || !(this.#aboutOthers.has(id) || isEnd(id)),
    );
    for (const id of this.#endsOfOthers.keys()) if (isForgotten(id)) this.#endsOfOthers.delete(id);
  }

  /** True when there is more of a message to write than the context got. */
  get holdsMore(): boolean {
    return this.#holdsMore;
  }

  /** True once the run has said how it ended. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Ids of the run's messages so far. */
  get messageIds(): readonly string[] {
    return this.#messageIds;
  }

  get drafts(): readonly LogDraft[] {
    return this.#drafts;
  }

  /** The drafts that are true whether or not a save follows. */
  get saidDrafts(): readonly LogDraft[] {
    const isEnd = this.#isEndOfOther();
    return this.#drafts.filter(({ id }) => !isEnd(id) && !this.#copies.has(id));
  }

  /** These drafts are in the log. */
  written(drafts: readonly LogDraft[]): void {
    const ids = new Set(drafts.map(({ id }) => id));
    this.#drafts = this.#drafts.filter(({ id }) => !ids.has(id));
    if (this.#drafts.every(({ kind }) => kind === "mark")) this.#holdsMore = false;
  }

  /** Notes that everything found of other runs is saved. */
  saved(): void {
    this.#endsOfOthers.clear();
  }

  #isEndOfOther(): (id: string) => boolean {
    const ends = [...this.#endsOfOthers.keys()];
    return (id) => ends.some((end) => id.startsWith(end));
  }

  #originalOf(message: Message): Message {
    const original = this.#originals.get(message.id) ?? message;
    this.#originals.delete(message.id);
    return original;
  }

  #addOther(id: string, callId: string, message: Message): void {
    this.#aboutOthers.add(id);
    this.#push(id, { kind: "message", message }, callId);
  }

  #end(suffix: string, outcome: CallOutcome, details: JsonObject | undefined): void {
    const end = `${this.#run.runId}.end.`;
    this.#drafts = this.#drafts.filter(({ id }) => !id.startsWith(end));
    const mark = { name: "call_end", outcome, ...(details && { details }) } as const;
    this.#push(`${end}${suffix}`, { kind: "mark", mark });
    this.#hasEnded = true;
  }

  #push(
    id: string,
    body: Pick<LogDraft, "kind" | "message" | "mark">,
    callId = this.#run.callId,
  ): LogDraft {
    const draft: LogDraft = { v: 1, id, callId, at: this.now().toISOString(), ...body };
    this.#drafts.push(draft);
    return draft;
  }
}
