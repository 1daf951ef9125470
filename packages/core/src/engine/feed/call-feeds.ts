import { ConfigurationError, InvalidInputError, ShuttingDownError } from "../../errors/errors.js";
import { showValue } from "../../plugin-kit/show-value.js";
import { checkOptions } from "../../plugin-kit/unknown-names.js";
import type { EventFeed } from "../../ports/event-feed.js";
import { checkId, type Slot, slotText } from "../../slot/slot.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { replyReason, unfinishedCall } from "../session/run-records.js";
import type { NamedSession } from "../session/session-arguments.js";
import { AttachedRun } from "./attached-run.js";
import { CallFollower, type Whereabouts } from "./call-follower.js";
import { BEHIND_ALL, type FedRun, FeedWriter, type SharedFeed } from "./feed-writer.js";
import { readEvents } from "./read-events.js";

/** Options of `attach`. */
export interface AttachOptions {
  /** Call whose events to read, also one that has ended a short time ago. @default the call that runs */
  readonly callId?: string | undefined;
  /** `seq` of the last event that is known. @default every event is read */
  readonly afterSeq?: number | undefined;
  /** Ends the reading when aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** @throws InvalidInputError | InvalidIdError */
function attachOptions(given: unknown): AttachOptions {
  const options = checkOptions<AttachOptions>(given, ["callId", "afterSeq", "signal"], "attach");
  const { callId, afterSeq } = options;
  if (callId !== undefined) checkId(callId, "callId");
  if (afterSeq !== undefined && !(Number.isSafeInteger(afterSeq) && afterSeq >= -1))
    throw new InvalidInputError(
      `attach: afterSeq must be the seq of an event, got ${showValue(afterSeq)}`,
    );
  return options;
}

/** Returns the events of a call of a session; see `attach` of `ReActAgent`. */
export async function attachRun(
  parts: AgentParts,
  { slot, rest }: NamedSession,
): Promise<AttachedRun | null> {
  const options = attachOptions(rest[0]);
  const { feeds, settings } = parts;
  if (!feeds)
    throw new ConfigurationError(
      `attach has nothing to read: agent "${settings.name}" keeps no events; build it with eventFeed: true`,
    );
  return feeds.attach(parts, slot, options);
}

/** The feeds of the calls of one agent: what its runs write and its readers follow. */
export class CallFeeds {
  readonly #shared: SharedFeed;
  readonly #followers = new Map<string, CallFollower>();
  readonly #settling = new Set<Promise<void>>();

  constructor(feed: EventFeed) {
    this.#shared = { feed, awayUntil: 0, failures: new Map() };
  }

  get kind(): string {
    return this.#shared.feed.kind;
  }

  /**
   * Reaches the feed.
   *
   * @throws what it answers, also to runs of this process whose events wait for it
   */
  async probe(slot: Slot, callId: string): Promise<void> {
    const { feed, failures } = this.#shared;
    await feed.read(slot, callId, BEHIND_ALL);
    for (const failure of failures.values()) throw failure;
  }

  writer(run: FedRun): FeedWriter {
    return new FeedWriter(this.#shared, run);
  }

  /** Lets {@link close} wait for the last events of a run that has ended. */
  settle(writer: FeedWriter): void {
    const settling = writer.settled().finally(() => this.#settling.delete(settling));
    this.#settling.add(settling);
  }

  /** Returns the events of a call, or null when none runs, or its events are gone. @throws StoreError */
  async attach(parts: AgentParts, slot: Slot, options: AttachOptions): Promise<AttachedRun | null> {
    const { afterSeq: after = -1, signal } = options;
    const callId = options.callId ?? (await this.#runningCall(parts, slot));
    const { feed } = this.#shared;
    const page = callId === null ? null : await feed.read(slot, callId, BEHIND_ALL);
    if (callId === null || page === null) return null;
    const key = slotText(slot) + callId;
    const follower = () => {
      const known = this.#followers.get(key);
      if (known && !known.isOver) return known;
      const call = {
        ...{ feed, slot, callId },
        whereabouts: () => whereaboutsOf(parts, slot, callId),
        onUnused: () => {
          if (this.#followers.get(key) === made) this.#followers.delete(key);
        },
      };
      const made: CallFollower = new CallFollower(call, page);
      this.#followers.set(key, made);
      return made;
    };
    return new AttachedRun(callId, () => readEvents(follower(), { slot, callId, after, signal }));
  }

  /** Removes the feeds of a session. @throws StoreError */
  delete(slot: Slot): Promise<void> {
    return this.#shared.feed.delete(slot);
  }

  /** Ends the loops of readers with an error, and waits for the last events of the runs. */
  async close(name: string): Promise<void> {
    for (const follower of [...this.#followers.values()])
      follower.close(
        new ShuttingDownError(
          `agent "${name}" is closed; attach in another process, behind the last event that was read`,
        ),
      );
    await Promise.all(this.#settling);
  }

  /** Returns the call that holds the session, or whose run was lost. */
  async #runningCall(parts: AgentParts, slot: Slot): Promise<string | null> {
    const open = new Set(await this.#shared.feed.open(slot));
    if (open.size === 0) return null;
    const here = parts.lifecycle.active.map(({ callId }) => callId);
    const calls = [...(await parts.gate.calls(slot)), ...here];
    const running = calls.find((callId) => open.has(callId));
    if (running !== undefined) return running;
    const lost = await unfinishedCall(parts, slot);
    return lost !== null && open.has(lost) ? lost : null;
  }
}

async function whereaboutsOf(parts: AgentParts, slot: Slot, callId: string): Promise<Whereabouts> {
  if ((await parts.gate.calls(slot)).includes(callId)) return "running";
  if ((await unfinishedCall(parts, slot)) === callId) return "lost";
  const reason = await replyReason(parts, slot, callId);
  return reason === null ? "missing" : { replied: reason };
}
