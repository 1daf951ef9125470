import type { AgentEvent } from "@holdfast/core";
import { type ExitCode, errorText, exitCodes } from "../../exit-code.js";
import { safeLine, safeText } from "../../terminal/safe-text.js";
import { runSlashCommand } from "../commands/slash-commands.js";
import { farewell } from "../farewell.js";
import { GracefulExit } from "../graceful-exit.js";
import { chatStart, greeting } from "../greeting.js";
import { InteractiveTurns } from "../interactive-turns.js";
import { type Chat, isHere } from "../open-chat.js";
import { LineQuestioner } from "../questions/line-questioner.js";
import { TurnView } from "../turn-view.js";
import { PromptLine } from "./prompt-line.js";

/** Runs a chat at a terminal line by line, without moving the cursor back, until the user quits. */
export async function plainChat(chat: Chat): Promise<ExitCode> {
  const { terminal, agent } = chat;
  for (const line of greeting(await chatStart(chat), chat.model.isOffline))
    terminal.line(terminal.colors.dim(line));
  terminal.line(terminal.colors.dim("/help shows the commands; Ctrl-C interrupts, Ctrl-D quits"));
  using exit = new GracefulExit(agent);
  const talk = new Conversation(chat, exit);
  await talk.untilLeft();
  // Awaited here: until it has ended, signals are ours.
  return await farewell(chat, exit, talk.hasSpoken);
}

/** Reads lines and sends them one after another. */
class Conversation {
  readonly #chat: Chat;
  readonly #exit: GracefulExit;
  readonly #view: TurnView;
  readonly #prompt: PromptLine;
  readonly #turns: InteractiveTurns;
  /** Lines of a paste that is not complete yet. */
  readonly #pasted: string[] = [];
  readonly #waiting: string[] = [];
  #isBusy = false;
  /** The call waits for another one on the same session. */
  #isQueued = false;
  #isInterrupted = false;
  #ended: () => void = () => undefined;

  constructor(chat: Chat, exit: GracefulExit) {
    this.#chat = chat;
    this.#exit = exit;
    this.#view = new TurnView(chat.terminal, "out", (slot) => isHere(chat, slot));
    this.#prompt = new PromptLine(chat.terminal, {
      onLine: (line) => this.#receive(line),
      onCtrlC: () => this.#ctrlC(),
      onEscape: () => void this.#prompt.cancel(),
      onClose: () => exit.leave(exitCodes.ok),
      onGone: () => exit.hangUp(),
    });
    this.#turns = new InteractiveTurns(chat, {
      show: (event) => this.#show(event),
      status: (line) => this.#view.status(line),
      problem: (error) => this.#showError(error),
      questioner: new LineQuestioner({
        terminal: chat.terminal,
        hasUser: chat.userId !== null,
        ask: async (question, text) =>
          exit.code === null ? this.#prompt.ask(question, text) : null,
      }),
      get isLeaving() {
        return exit.code !== null;
      },
    });
    exit.signal.addEventListener("abort", () => {
      this.#prompt.cancel();
      this.#endWhenIdle();
    });
    chat.onBackground = (event) => this.#showBackground(event);
  }

  /** A message was sent. */
  get hasSpoken(): boolean {
    return this.#turns.count > 0;
  }

  /** Prompts until the chat is to end and nothing runs any more. */
  async untilLeft(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    this.#prompt.open();
    await this.#work(() => this.#turns.enterSession());
    await ended;
    this.#prompt.close();
  }

  #receive(line: string): void {
    this.#pasted.push(line);
    // A pasted text of several lines is one message, sent by the next Enter.
    if (this.#prompt.isPasting) return;
    const text = this.#pasted.splice(0).join("\n").trim();
    if (this.#prompt.answer(text)) return;
    if (text !== "") this.#waiting.push(text);
    if (this.#isBusy) {
      if (text !== "") this.#view.status({ kind: "note", text: `sent next: ${text}` });
    } else void this.#work();
  }

  /** Runs `first`, then sends the lines that were typed. */
  async #work(first?: () => Promise<void>): Promise<void> {
    this.#isBusy = true;
    this.#prompt.hide();
    if (first !== undefined) await this.#attempt(first);
    for (let isFirst = first === undefined; this.#exit.code === null; isFirst = false) {
      const text = this.#waiting.shift();
      if (text === undefined) break;
      const { terminal } = this.#chat;
      if (!isFirst) terminal.line(`${terminal.colors.bold("›")} ${safeLine(text)}`);
      await this.#attempt(() => this.#take(text));
    }
    this.#isBusy = false;
    if (this.#exit.code === null) this.#prompt.show();
    else this.#end();
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    this.#isInterrupted = false;
    try {
      await this.#exit.during(work());
    } catch (error) {
      this.#view.end();
      this.#showError(error);
    }
  }

  async #take(text: string): Promise<void> {
    // Two slashes escape one.
    if (!text.startsWith("/") || text.startsWith("//")) {
      await this.#turns.send(text.startsWith("//") ? text.slice(1) : text);
      return;
    }
    const { sessionId } = this.#chat;
    const isLeft = await runSlashCommand(this.#chat, text, { turns: this.#turns });
    if (isLeft) this.#exit.leave(exitCodes.ok);
    else if (this.#chat.sessionId !== sessionId) await this.#turns.enterSession();
  }

  #show(event: AgentEvent): void {
    if (event.type === "queue_wait") this.#isQueued = true;
    if (event.type === "state_loaded" || event.type === "call_end") this.#isQueued = false;
    this.#view.show(event);
  }

  #ctrlC(): void {
    if (this.#prompt.cancel()) {
      this.#pasted.length = 0;
    } else if (this.#isBusy && !this.#isInterrupted) {
      this.#isInterrupted = true;
      void this.#interrupt();
    } else if (this.#isBusy || this.#exit.code !== null) {
      this.#exit.leave(exitCodes.interrupted);
      this.#exit.hurryUp();
    } else if (this.#prompt.typed !== "" || this.#pasted.length > 0) {
      this.#pasted.length = 0;
      this.#prompt.clear();
    } else {
      this.#exit.leave(exitCodes.ok);
    }
  }

  async #interrupt(): Promise<void> {
    if (this.#isQueued)
      this.#note("interrupted; waiting to save it, Ctrl-C again quits without saving");
    const isHit = await this.#chat.agent.interrupt().catch(() => true);
    if (!isHit) this.#note("this cannot be interrupted; Ctrl-C again quits");
  }

  #endWhenIdle(): void {
    if (this.#isBusy) return;
    this.#chat.terminal.line();
    this.#end();
  }

  /** Lists the lines that are not sent any more. */
  #end(): void {
    const pasted = this.#pasted.splice(0).join("\n").trim();
    for (const text of [...this.#waiting.splice(0), ...(pasted === "" ? [] : [pasted])])
      this.#view.status({ kind: "problem", text: `not sent: ${text}` });
    this.#ended();
  }

  /** Shows an event of background work above the prompt. */
  #showBackground(event: AgentEvent): void {
    const isPrompting = !this.#isBusy || this.#prompt.isAsking;
    if (!isPrompting || this.#exit.code !== null) this.#view.show(event);
    else {
      const line = this.#view.describe(event);
      if (line !== null) this.#prompt.above(() => this.#view.status(line));
    }
  }

  #note(text: string): void {
    this.#view.status({ kind: "note", text });
  }

  #showError(error: unknown): void {
    const { colors, env, line } = this.#chat.terminal;
    line(colors.red(safeText(errorText(error, env))));
  }
}
