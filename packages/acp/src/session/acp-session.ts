import { readFile } from "node:fs/promises";
import {
  type ContentBlock,
  methods,
  RequestError,
  type SessionModeState,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { type AgentEvent, CallAbortedError, type SessionName } from "@holdfast/core";
import { cutText } from "@holdfast/core/plugin-kit";
import type { AcpSettings, SessionAgent } from "../acp-options.js";
import type { EditorClient } from "../editor/editor-client.js";
import { planEntries } from "../updates/content.js";
import { HistoryUpdates } from "../updates/history-updates.js";
import { sessionRecords } from "../updates/session-records.js";
import { ToolView } from "../updates/tool-view.js";
import { promptMessage, typedText } from "./prompt-message.js";
import { SessionModes } from "./session-modes.js";
import { PromptTurn, type TurnEnd } from "./turn.js";

/** Parts of an {@link AcpSession}. */
export interface AcpSessionParts {
  readonly id: string;
  readonly cwd: string;
  readonly client: EditorClient;
  readonly settings: AcpSettings;
  readonly made: SessionAgent;
}

/** Longest title that is made of a session's first words. */
const MAX_TITLE_CHARS = 60;

const stopReasons: Readonly<Record<TurnEnd, StopReason>> = {
  done: "end_turn",
  waiting: "end_turn",
  max_iterations: "max_turn_requests",
  cancelled: "cancelled",
};

/** Turn without a prompt. */
interface LeftOver {
  readonly turn: PromptTurn;
  /** Stops a run that is gone on with. */
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** A session that an editor has opened: one turn at a time, its modes, and what it has said so far. */
export class AcpSession {
  readonly #parts: AcpSessionParts;
  readonly #name: SessionName;
  readonly #modes: SessionModes;
  readonly #view: ToolView;
  /** Turn of the open prompt. */
  #turn: PromptTurn | null = null;
  /** Turn that goes on with what was left behind, without a prompt. */
  #leftOver: LeftOver | null = null;
  /** Nothing was said yet, so that the session has neither a title nor a directory. */
  #isNew = true;
  #isClosed = false;

  constructor(parts: AcpSessionParts) {
    this.#parts = parts;
    this.#name = { userId: parts.settings.userId, sessionId: parts.id };
    this.#modes = new SessionModes(parts.made.modes ?? []);
    this.#view = new ToolView(parts.cwd, parts.settings.toolKind);
  }

  get modes(): { readonly modes: SessionModeState } | undefined {
    return this.#modes.state;
  }

  /** Reads what is stored of the session; resolves to false when there is nothing. */
  async restore(): Promise<boolean> {
    const { agent } = this.#parts.made;
    const state = await agent.getAgentState(this.#name);
    if (!state) return false;
    this.#modes.read(state);
    this.#isNew = state.context.length === 0;
    return true;
  }

  /** Sends the conversation so far, and the todo list. */
  async replay(): Promise<void> {
    const { client, settings, made, id } = this.#parts;
    const updates = new HistoryUpdates(this.#view, client.capabilities.session);
    const { records, waiting } = await sessionRecords(
      ...([made.agent, settings.userId, id, settings.maxReplayRecords] as const),
    );
    for (const record of records)
      for (const update of updates.record(record)) await this.#send(update);
    for (const message of waiting)
      for (const update of updates.message(message)) await this.#send(update);
    const tasks = (await made.agent.getAgentState(this.#name))?.tasksContext.tasks ?? [];
    if (tasks.length > 0) await this.#send({ sessionUpdate: "plan", entries: planEntries(tasks) });
  }

  /** Tells the editor which commands there are. */
  async announce(): Promise<void> {
    const { commands = [] } = this.#parts.made;
    if (commands.length === 0) return;
    const availableCommands = commands.map(({ name, description, hint }) => ({
      ...{ name, description },
      ...(hint !== undefined && { input: { hint } }),
    }));
    await this.#send({ sessionUpdate: "available_commands_update", availableCommands });
  }

  /** Goes on with what an earlier editor or process left: a run without a reply, and questions without an answer. */
  goOn(): void {
    const turn = this.#newTurn();
    const stop = new AbortController();
    const ended = this.#goOn(turn, stop.signal)
      .catch((error: unknown) => {
        if (!this.#isClosed) this.#parts.settings.onError(error);
      })
      .finally(() => {
        this.#leftOver = null;
      });
    this.#leftOver = { turn, stop, ended };
  }

  /**
   * Answers a prompt.
   *
   * @throws RequestError while another prompt is open
   */
  async prompt(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    if (this.#turn)
      throw RequestError.invalidRequest(
        undefined,
        "a prompt of this session is still being answered; cancel it first",
      );
    const turn = this.#newTurn();
    const cancel = () => void this.cancel();
    this.#turn = turn;
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const command = this.#command(prompt);
      if (command !== null) return await command;
      const message = promptMessage(prompt, this.#parts.cwd);
      this.#leftOver?.turn.withdraw();
      await this.#leftOver?.ended;
      if (this.#isNew) await this.#describe(typedText(prompt));
      return stopReasons[await turn.say(message)];
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#turn = null;
    }
  }

  /** Cancels the open prompt, and what goes on without one: the prompt may be waiting for that. */
  async cancel(): Promise<void> {
    try {
      this.#leftOver?.stop.abort();
      await Promise.all([this.#leftOver?.turn.cancel(), this.#turn?.cancel()]);
    } catch (error) {
      this.#parts.settings.onError(error);
    }
  }

  /** Chooses a mode; waits for a call that runs. @throws RequestError */
  async setMode(modeId: string): Promise<void> {
    await this.#modes.choose(this.#parts.made.agent, this.#name, modeId);
  }

  /** Ends the session here: takes open questions back, which stay in the session, and closes its agent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leftOver?.turn.withdraw();
    this.#turn?.withdraw();
    await this.#parts.made.close?.();
    await this.#leftOver?.ended;
  }

  async #goOn(turn: PromptTurn, signal: AbortSignal): Promise<void> {
    const { made, settings, id } = this.#parts;
    if (settings.resumeRuns) {
      const { records } = await made.agent.history(this.#name, { limit: 1 });
      const reply = await made.agent.resume(this.#name, { signal }).catch((error: unknown) => {
        if (CallAbortedError.is(error)) return null;
        throw error;
      });
      if (reply) await this.#replayAfter(records[0]?.seq);
    }
    const pending = await made.agent.pending(settings.userId, id);
    if (pending.length > 0) await turn.ask(pending);
  }

  /** Sends what was logged behind a position. */
  async #replayAfter(seq: number | undefined): Promise<void> {
    const { client, made } = this.#parts;
    const updates = new HistoryUpdates(this.#view, client.capabilities.session);
    for (let after = seq; ; ) {
      const page = await made.agent.history(this.#name, { after: after ?? -1, limit: 100 });
      // The words of the user were sent when the session was loaded: they had been waiting.
      for (const record of page.records)
        if (record.message?.role !== "user")
          for (const update of updates.record(record)) await this.#send(update);
      after = page.records.at(-1)?.seq;
      if (after === undefined) return;
    }
  }

  #newTurn(): PromptTurn {
    const { made, client, settings, id } = this.#parts;
    return new PromptTurn({
      ...{ agent: made.agent, client, userId: settings.userId, sessionId: id, view: this.#view },
      askTimeoutMs: settings.askTimeoutMs,
      onEvent: (event) => this.#note(event),
      oldText: (path) => this.#oldText(path),
    });
  }

  async #note(event: AgentEvent): Promise<void> {
    if (event.type !== "plan_entered" && event.type !== "plan_exited") return;
    if (this.#modes.notePlan(event.type === "plan_entered"))
      await this.#send({
        ...{ sessionUpdate: "current_mode_update", currentModeId: this.#modes.current },
      });
  }

  /** Runs a command that was typed in place of a prompt; null for a prompt. */
  #command(prompt: readonly ContentBlock[]): Promise<StopReason> | null {
    const [, name, argument = ""] = /^\/(\S+)\s*(.*)$/s.exec(typedText(prompt).trim()) ?? [];
    const found = this.#parts.made.commands?.find((command) => command.name === name);
    if (!found) return null;
    const run = async (): Promise<StopReason> => {
      const text = await found.run(argument.trim());
      await this.#send({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
      return "end_turn";
    };
    return run();
  }

  /** Gives a new session its title and directory, by which editors list it. */
  async #describe(words: string): Promise<void> {
    const { made, cwd } = this.#parts;
    const title = cutText(words.replaceAll(/\s+/g, " ").trim(), MAX_TITLE_CHARS) || "Untitled";
    await made.agent.setSession(this.#name, { title, metadata: { cwd } });
    this.#isNew = false;
    const updatedAt = new Date().toISOString();
    await this.#send({ sessionUpdate: "session_info_update", title, updatedAt });
  }

  /** Reads a text that is about to be replaced, to show the change; null when it cannot be read. */
  async #oldText(path: string): Promise<string | null> {
    const { client, settings, id } = this.#parts;
    const at = this.#view.at(path);
    try {
      if (client.capabilities.fs?.readTextFile) {
        const options = { timeoutMs: settings.requestTimeoutMs };
        const params = { sessionId: id, path: at };
        return (await client.request(methods.client.fs.readTextFile, params, options)).content;
      }
      return await readFile(at, "utf8");
    } catch {
      return null;
    }
  }

  async #send(update: SessionUpdate): Promise<void> {
    const { client, id } = this.#parts;
    if (!client.isGone) await client.update(id, update).catch(() => undefined);
  }
}
