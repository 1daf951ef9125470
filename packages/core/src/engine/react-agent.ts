import type { RuntimeContext, RuntimeContextFields } from "../context/runtime-context.js";
import type { AgentReply, PendingCall } from "../events/agent-reply.js";
import type { Message } from "../message/message.js";
import { checkOptions } from "../plugin-kit/unknown-names.js";
import type { SlotPage, SlotQuery } from "../ports/agent-state-store.js";
import type { CompactionResult } from "../ports/compactor.js";
import type { LogRange } from "../ports/conversation-log.js";
import type { Slot } from "../slot/slot.js";
import type { AgentState } from "../state/agent-state.js";
import type { PermissionMode, PermissionRule, RememberedRule } from "../state/sections.js";
import type { InferInput, ToolInputSchema } from "../tool/input-schema.js";
import { AgentRun } from "./agent-run.js";
import type { ReActAgentOptions } from "./assemble/agent-options.js";
import type { AgentParts } from "./assemble/agent-parts.js";
import { assembleAgent } from "./assemble/assemble-agent.js";
import { Call } from "./call.js";
import type { CallInput } from "./call-input.js";
import { EventBuffer } from "./event-buffer.js";
import type { AttachedRun } from "./feed/attached-run.js";
import { type AttachOptions, attachRun } from "./feed/call-feeds.js";
import {
  type CompactOptions,
  compactOptions,
  type ForkOptions,
  type ResumeOptions,
  type SalvageOptions,
  salvageOption,
  timeoutOption,
} from "./method-options.js";
import { Recovery } from "./recovery/recovery.js";
import { resumeRun } from "./resume-run.js";
import type { StateEdit } from "./session/edit-state.js";
import { Ending, LeftBehindError, type ShutdownReport } from "./session/ending.js";
import { HealthCheck, type HealthReport } from "./session/health.js";
import {
  type Interruption,
  type InterruptOptions,
  interruptOnlyCall,
  interruptSession,
} from "./session/interrupt-session.js";
import type { LifecycleState } from "./session/lifecycle.js";
import { Maintenance } from "./session/maintenance.js";
import type { HistoryPage } from "./session/read-history.js";
import {
  contextOf,
  type NamedSession,
  namedSession,
  type SessionName,
} from "./session/session-arguments.js";
import { type FactsChange, type SessionFilter, setFacts } from "./session/session-facts.js";
import { SessionPermissions } from "./session/session-permissions.js";
import { SessionReader } from "./session/session-reader.js";
import { steerSession } from "./session/steer-session.js";

/** Parts of an agent that works for another one, in place of the options from which others are assembled. */
class MadeParts {
  readonly parts: AgentParts;

  constructor(parts: AgentParts) {
    this.parts = parts;
  }
}

/** Context of a call: a {@link RuntimeContext}, or the same as a plain object. */
export type CallContext = RuntimeContext | RuntimeContextFields;

/**
 * A stateless agent: it holds configuration only, and one instance serves every user and session.
 *
 * Contract:
 * - Calls on one session run one after another, in order; different sessions run in parallel.
 * - What `call` returned has been saved; what it was asked is durable before the model is.
 * - A failed call keeps its input; an interrupted one keeps its work.
 *
 * @example
 * const agent = new ReActAgent({ name: "assistant", model });
 * const reply = await agent.call("Hello", { userId: "alice", sessionId: "s-1" });
 */
export class ReActAgent {
  readonly #parts: AgentParts;
  readonly #maintenance: Maintenance;
  readonly #reader: SessionReader;
  readonly #permissions: SessionPermissions;
  readonly #ending: Ending;
  readonly #health: HealthCheck;
  readonly #recovery: Recovery | undefined;

  /** @throws ConfigurationError with every problem found; no I/O happens */
  constructor(options: ReActAgentOptions) {
    this.#parts =
      options instanceof MadeParts
        ? options.parts
        : assembleAgent(options, (parts) => new ReActAgent(new MadeParts(parts) as never));
    this.#maintenance = new Maintenance(this.#parts);
    this.#reader = new SessionReader(this.#parts);
    this.#permissions = new SessionPermissions(this.#parts, this.#maintenance);
    this.#ending = new Ending(this.#parts);
    this.#health = new HealthCheck(this.#parts);
    this.#recovery = Recovery.of(this.#parts);
  }

  get name(): string {
    return this.#parts.settings.name;
  }

  /** Tokens that the agent's model reads at once, where the model says so. */
  get contextWindow(): number | undefined {
    return this.#parts.model.contextWindow;
  }

  get agentId(): string {
    return this.#parts.settings.agentId;
  }

  /** State of the agent: it takes calls only while `running`. */
  get lifecycle(): LifecycleState {
    return this.#parts.lifecycle.state;
  }

  /**
   * Runs one turn and saves it.
   *
   * @throws ShuttingDownError, SessionBusyError, CallIdReusedError, CallAbortedError, PendingConfirmationError, StoreError,
   * and what the model throws. When the last save failed, the error's non-enumerable `reply` holds the reply.
   */
  async call<S extends ToolInputSchema = ToolInputSchema>(
    input: CallInput,
    ctx?: CallContext & { readonly output?: S | undefined },
  ): Promise<AgentReply<InferInput<S>>> {
    const reply = await this.#call(input, ctx, null).run();
    return reply as AgentReply<InferInput<S>>;
  }

  /**
   * Starts a turn at once; its events can be read while it runs.
   *
   * @throws InvalidInputError | InvalidIdError for input that is no input; everything else comes through `result`
   */
  stream<S extends ToolInputSchema = ToolInputSchema>(
    input: CallInput,
    ctx?: CallContext & { readonly output?: S | undefined },
  ): AgentRun<InferInput<S>> {
    const buffer = new EventBuffer();
    const call = this.#call(input, ctx, buffer);
    return new AgentRun(call.callId, buffer, call.run() as Promise<AgentReply<InferInput<S>>>);
  }

  /**
   * Stops the running call of a session, else the first that waits, on whichever node it is; without one, closes tool
   * calls that wait for an answer. The call keeps its work, and `message` is added for the agent to read: it is stored
   * before this resolves, and the session's next call takes it in if the stopped one had ended.
   *
   * Without arguments: the one call in flight of this instance.
   *
   * @returns see {@link Interruption}
   * @throws AmbiguousInterruptError without arguments, when several calls are in flight
   */
  interrupt(): Promise<Interruption>;
  interrupt(
    session: SessionName,
    message?: string | Message,
    options?: InterruptOptions,
  ): Promise<Interruption>;
  interrupt(
    userId: string | null | undefined,
    sessionId: string,
    message?: string | Message,
    options?: InterruptOptions,
  ): Promise<Interruption>;
  async interrupt(...args: readonly unknown[]): Promise<Interruption> {
    if (args.length === 0) return interruptOnlyCall(this.#parts);
    return interruptSession(this.#parts, this.#maintenance, this.#session(args));
  }

  /**
   * Adds a message to the running call of a session, else to the first that waits, on whichever node it is, without stopping
   * it: the model reads the message at the call's next step, and a call that was about to end goes on for another round. The
   * message is stored before this resolves, and enters the context once. A store without an inbox stores it once the call has
   * ended, so that this resolves no earlier.
   *
   * @returns
   * - `"steered"`: the call was told. Should it end before its next step, the session's next call takes the message in.
   * - `"queued"`: the call had ended or cannot be told; the session's next call takes the message in.
   * - `false`: no call was in flight, and nothing was stored.
   * @throws StateTooLargeError when too many messages wait already
   * @example
   * if (!(await agent.steer("alice", "trip", "By train, please"))) await agent.call("By train, please", ctx);
   */
  steer(
    session: SessionName,
    message: string | Message,
    options?: InterruptOptions,
  ): Promise<false | "steered" | "queued">;
  steer(
    userId: string | null | undefined,
    sessionId: string,
    message: string | Message,
    options?: InterruptOptions,
  ): Promise<false | "steered" | "queued">;
  async steer(...args: readonly unknown[]): Promise<false | "steered" | "queued"> {
    return steerSession(this.#parts, this.#maintenance, this.#session(args));
  }

  /**
   * Goes on with a run that has no reply, because it failed, was cut short by a shutdown or lost its process: with the last
   * one of the session, or with that of `callId`. Nobody has to repeat its input.
   *
   * @returns the reply, or null when there is no such run
   */
  resume(session: SessionName, options?: ResumeOptions): Promise<AgentReply | null>;
  resume(
    userId: string | null | undefined,
    sessionId: string,
    options?: ResumeOptions,
  ): Promise<AgentReply | null>;
  async resume(...args: readonly unknown[]): Promise<AgentReply | null> {
    return resumeRun(this.#parts, this.#session(args));
  }

  /**
   * Reads the events of the call that runs on a session, on whichever node: all of them, or those behind `afterSeq`, then the
   * others as they happen. With `callId` also those of a call that has ended a short time ago, or that waits.
   *
   * @returns null when nothing runs, or when the events of the call are gone
   * @throws ConfigurationError when the agent keeps no events: see the option `eventFeed`
   * @example
   * const run = await agent.attach("alice", "s-1", { afterSeq: 42 });
   * if (run) for await (const event of run) console.log(event.seq, event.type);
   */
  attach(session: SessionName, options?: AttachOptions): Promise<AttachedRun | null>;
  attach(
    userId: string | null | undefined,
    sessionId: string,
    options?: AttachOptions,
  ): Promise<AttachedRun | null>;
  async attach(...args: readonly unknown[]): Promise<AttachedRun | null> {
    return attachRun(this.#parts, this.#session(args));
  }

  /**
   * A detached copy of a session's state, or null when there is none. Without arguments: the default session.
   *
   * Words that wait in the session's inbox, such as the input of a call that runs or died, are at the end of its context.
   *
   * @throws StateCorruptError when what is stored is damaged; with `salvage: true` the state is read as far as it goes
   */
  getAgentState(session?: SessionName, options?: SalvageOptions): Promise<AgentState | null>;
  getAgentState(
    userId: string | null | undefined,
    sessionId: string,
    options?: SalvageOptions,
  ): Promise<AgentState | null>;
  async getAgentState(...args: readonly unknown[]): Promise<AgentState | null> {
    return this.#reader.state(this.#session(args));
  }

  /**
   * Edits a session's state under its gate. `edit` changes the state it gets, a fresh one where there was none, or
   * returns a whole state to put in its place.
   *
   * With `salvage: true` it repairs a damaged session: `edit` gets what can be read, and what is then saved replaces the
   * damaged state.
   *
   * @returns a detached copy of what was saved
   * @throws InvalidInputError when the edit puts something in that cannot be stored; nothing is saved then
   * @throws StateCorruptError when what is stored is damaged
   */
  updateAgentState(
    session: SessionName,
    edit: StateEdit,
    options?: SalvageOptions,
  ): Promise<AgentState>;
  updateAgentState(
    userId: string | null | undefined,
    sessionId: string,
    edit: StateEdit,
    options?: SalvageOptions,
  ): Promise<AgentState>;
  async updateAgentState(...args: readonly unknown[]): Promise<AgentState> {
    const { slot, rest } = this.#session(args);
    const salvage = salvageOption(rest[1], "updateAgentState");
    return this.#maintenance.update(slot, rest[0] as StateEdit, salvage);
  }

  /**
   * Shortens a session's context now; below the trigger only with `force`.
   *
   * @throws ConfigurationError when no plugin provides a Compactor
   */
  compact(session: SessionName, options?: CompactOptions): Promise<CompactionResult>;
  compact(
    userId: string | null | undefined,
    sessionId: string,
    options?: CompactOptions,
  ): Promise<CompactionResult>;
  async compact(...args: readonly unknown[]): Promise<CompactionResult> {
    const { slot, rest } = this.#session(args);
    return this.#maintenance.compact(slot, compactOptions(rest[0]));
  }

  /**
   * Reads a page of a session's conversation, also while a call runs: the newest records of its log, those `before` a `seq`,
   * or the oldest `after` one, 100 unless `limit` says otherwise. It has every original message, also of turns that were
   * compacted, and the marks between them; each record says whether it counts and whether the model still sees it.
   *
   * @throws InvalidInputError for a range that is none
   */
  history(session: SessionName, range?: LogRange): Promise<HistoryPage>;
  history(
    userId: string | null | undefined,
    sessionId: string,
    range?: LogRange,
  ): Promise<HistoryPage>;
  async history(...args: readonly unknown[]): Promise<HistoryPage> {
    return this.#reader.history(this.#session(args));
  }

  /**
   * Returns all tool calls of a session that wait for an answer, in any process: those that ask a person, with the reason and
   * the rules that may be remembered, and those whose result comes from outside.
   */
  pending(session: SessionName): Promise<readonly PendingCall[]>;
  pending(userId: string | null | undefined, sessionId: string): Promise<readonly PendingCall[]>;
  async pending(...args: readonly unknown[]): Promise<readonly PendingCall[]> {
    return this.#reader.pending(this.#session(args));
  }

  /**
   * Sets how freely tools of a session may act without asking; takes effect with its next call.
   *
   * @throws InvalidInputError for a word that is not a mode
   * @throws ConfigurationError when no plugin heeds the mode
   */
  setPermissionMode(session: SessionName, mode: PermissionMode): Promise<void>;
  setPermissionMode(
    userId: string | null | undefined,
    sessionId: string,
    mode: PermissionMode,
  ): Promise<void>;
  async setPermissionMode(...args: readonly unknown[]): Promise<void> {
    await this.#permissions.setMode(this.#session(args));
  }

  /**
   * Puts a session into plan mode, in which only tools that change nothing run, from its next call on. The agent cannot leave
   * it by itself: call {@link exitPlanMode}.
   *
   * @throws ConfigurationError when no plugin heeds plan mode
   */
  enterPlanMode(session: SessionName): Promise<void>;
  enterPlanMode(userId: string | null | undefined, sessionId: string): Promise<void>;
  async enterPlanMode(...args: readonly unknown[]): Promise<void> {
    await this.#permissions.enterPlanMode(this.#session(args));
  }

  /** Takes a session out of plan mode, also one that the agent entered; the plan stays where it is. */
  exitPlanMode(session: SessionName): Promise<void>;
  exitPlanMode(userId: string | null | undefined, sessionId: string): Promise<void>;
  async exitPlanMode(...args: readonly unknown[]): Promise<void> {
    await this.#permissions.exitPlanMode(this.#session(args));
  }

  /** Returns the rules that people chose to remember for a session and for its user. */
  rememberedRules(session: SessionName): Promise<readonly RememberedRule[]>;
  rememberedRules(
    userId: string | null | undefined,
    sessionId: string,
  ): Promise<readonly RememberedRule[]>;
  async rememberedRules(...args: readonly unknown[]): Promise<readonly RememberedRule[]> {
    return this.#permissions.rules(this.#session(args));
  }

  /**
   * Remembers rules for a session or for its user, each once, as an approval with `remember` does: for answers that do not
   * come with a call of the session, such as those about a background task.
   *
   * @throws InvalidInputError for a rule that no guard would understand, and for `"user"` without a userId
   */
  rememberRules(
    session: SessionName,
    options: Pick<RememberedRule, "scope"> & { readonly rules: readonly PermissionRule[] },
  ): Promise<void>;
  rememberRules(
    userId: string | null | undefined,
    sessionId: string,
    options: Pick<RememberedRule, "scope"> & { readonly rules: readonly PermissionRule[] },
  ): Promise<void>;
  async rememberRules(...args: readonly unknown[]): Promise<void> {
    await this.#permissions.remember(this.#session(args));
  }

  /**
   * Takes remembered rules back: those of `rules`, or all of `scope`.
   *
   * @returns the number of rules that were removed
   */
  forgetRules(
    session: SessionName,
    options: Pick<RememberedRule, "scope"> & { readonly rules?: readonly PermissionRule[] },
  ): Promise<number>;
  forgetRules(
    userId: string | null | undefined,
    sessionId: string,
    options: Pick<RememberedRule, "scope"> & { readonly rules?: readonly PermissionRule[] },
  ): Promise<number>;
  async forgetRules(...args: readonly unknown[]): Promise<number> {
    return this.#permissions.forget(this.#session(args));
  }

  /**
   * Sets the title of a session, and metadata by which {@link sessions} finds it; `null` removes one, what is left out stays.
   * Both are listed with the session and stored as part of its state, at most 64 KB.
   *
   * @throws InvalidInputError for a title that is empty or longer than 200 characters
   */
  setSession(session: SessionName, facts: FactsChange): Promise<void>;
  setSession(
    userId: string | null | undefined,
    sessionId: string,
    facts: FactsChange,
  ): Promise<void>;
  async setSession(...args: readonly unknown[]): Promise<void> {
    const { slot, rest } = this.#session(args);
    const facts = checkOptions<FactsChange>(rest[0], ["title", "metadata"], "setSession");
    await this.#maintenance.update(slot, (state) => setFacts(state, facts));
  }

  /**
   * This agent's sessions, newest first, approximately, each with its title: the one that {@link setSession} gave it, or its
   * first words. With `unfinished: true` those with a run that has not ended, which {@link resume} goes on with; a session
   * whose first call died before it saved anything is among them, without messages. With `waiting: true` those whose tool
   * calls wait for an answer.
   *
   * `metadata` selects sessions with all of these values, `since` and `until` by the time of the last save, and `text` those
   * with all of its words in the title or the id. These are looked at here, page by page.
   *
   * A page may be short, even empty, and still have a cursor: continue until there is none.
   */
  async sessions(query: Omit<SlotQuery, "agentId"> & SessionFilter = {}): Promise<SlotPage> {
    return this.#reader.list(query);
  }

  /**
   * Makes a session of the same user that begins with the turns of another up to a position, and leaves the other as it is.
   * The position is that of a log record or the id of a message; a turn that is still running, and tool calls that wait for an
   * answer, are not taken over.
   *
   * @returns the new session, to be used as the context of a call
   * @throws StateConflictError when the session `as` exists
   * @throws InvalidInputError when there is no such session or position
   * @example
   * const other = await agent.fork("alice", "trip", { at: 42 });
   * await agent.call("And by train?", other);
   */
  fork(session: SessionName, options?: ForkOptions): Promise<Slot>;
  fork(userId: string | null | undefined, sessionId: string, options?: ForkOptions): Promise<Slot>;
  async fork(...args: readonly unknown[]): Promise<Slot> {
    return this.#maintenance.fork(this.#session(args));
  }

  /**
   * Deletes a session: state, log and what plugins keep of it. Long-term memory stays. The state goes first: a deletion that
   * failed, or whose process died, is to be repeated.
   */
  deleteSession(session: SessionName): Promise<boolean>;
  deleteSession(userId: string | null | undefined, sessionId: string): Promise<boolean>;
  async deleteSession(...args: readonly unknown[]): Promise<boolean> {
    return this.#maintenance.delete(this.#session(args).slot);
  }

  /** Deletes everything of a user: all sessions and long-term memory. Returns how many sessions there were. */
  deleteUser(userId: string): Promise<number> {
    return this.#maintenance.deleteUser(userId);
  }

  /**
   * Checks that every part of the store answers, within `timeoutMs` (10 s by default), and runs what plugins do before the
   * first call; a call does the latter by itself. A `timeoutMs` that is given bounds the plugins' start as well.
   *
   * @throws StoreUnavailableError naming the parts that do not answer, with the first one's error as its `cause`; or when the
   * plugins have not started in time, which they go on with
   */
  async ready(options: { readonly timeoutMs?: number | undefined } = {}): Promise<void> {
    await this.#health.ready(timeoutOption(options, 10_000, "ready"), options.timeoutMs);
  }

  /**
   * Says what works and what does not: the parts of the store, the plugins, the calls in flight. Never rejects because of
   * them, and takes no longer than `timeoutMs`, 5 s by default.
   *
   * @throws InvalidInputError for an unknown or wrong option
   */
  async health(options: { readonly timeoutMs?: number | undefined } = {}): Promise<HealthReport> {
    return this.#health.report(timeoutOption(options, 5_000, "health"));
  }

  /**
   * Stops taking calls, lets running ones stop at their next safe point, saved so that the next call on any node goes on
   * from there, and closes. Calls still running after `timeoutMs`, 20 s by default, are cut: what they have done is saved.
   *
   * Ends within `timeoutMs` and one deadline of a store (5 s, or `saveDeadlineMs` if that is less), whatever hangs: the report
   * says what was left behind.
   */
  async shutdown(
    options: { readonly timeoutMs?: number | undefined } = {},
  ): Promise<ShutdownReport> {
    const timeoutMs = timeoutOption(options, 20_000, "shutdown");
    this.#recovery?.stop();
    const ended = await this.#ending.endCalls(timeoutMs, true);
    await this.close().catch((error: unknown) => {
      if (!(error instanceof LeftBehindError)) throw error;
    });
    const { abandoned } = this.#ending;
    return { ...ended, ...(abandoned.length > 0 && { abandoned }) };
  }

  /**
   * Stops taking calls, waits for the running ones and for background work, and closes. What has not ended after
   * `timeoutMs`, 5 min by default, ends as in a {@link shutdown}.
   *
   * @throws ShuttingDownError when something did not end even then, and what a plugin throws when it closes
   */
  async close(options: { readonly timeoutMs?: number | undefined } = {}): Promise<void> {
    const timeoutMs = timeoutOption(options, 300_000, "close");
    this.#recovery?.stop();
    await this.#ending.endCalls(timeoutMs, false);
    await this.#ending.closePlugins();
    const { abandoned } = this.#ending;
    if (abandoned.length > 0) throw new LeftBehindError(this.name, abandoned);
  }

  #call(input: CallInput, ctx: CallContext | undefined, buffer: EventBuffer | null): Call {
    return new Call(
      this.#parts,
      input,
      contextOf(this.#parts, ctx === undefined ? {} : ctx),
      buffer,
    );
  }

  #session(args: readonly unknown[]): NamedSession {
    return namedSession(this.#parts, args);
  }
}
