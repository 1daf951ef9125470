import { type AgentEvent, userMessage } from "@holdfast/core";
import { exitCodes } from "../../exit-code.js";
import { safeLine } from "../../terminal/safe-text.js";
import { runSlashCommand } from "../commands/slash-commands.js";
import type { GracefulExit } from "../graceful-exit.js";
import { chatStart, greeting, sessionLine } from "../greeting.js";
import { Completions } from "../input/completions.js";
import { InteractiveTurns } from "../interactive-turns.js";
import { type Chat, sessionOf } from "../open-chat.js";
import { ConversationDisplay } from "./conversation-display.js";
import { LiveWatch } from "./live-watch.js";
import { pastMessages } from "./past-messages.js";
import type { Screen } from "./screen.js";
import type { Theme } from "./theme.js";
import type { WaitingMessage } from "./waiting-messages.js";

/** Time within which a second Ctrl-C quits. */
const TWICE_MS = 2_000;

/** Takes turns with a person at a screen, who may type while the agent works. */
export class ScreenConversation {
  readonly #chat: Chat;
  readonly #exit: GracefulExit;
  readonly #display: ConversationDisplay;
  readonly #screen: Screen;
  readonly #turns: InteractiveTurns;
  readonly #watch: LiveWatch;
  #isBusy = false;
  /** The call waits for another one on the same session. */
  #isQueued = false;
  #isInterrupted = false;
  #ctrlCAt = 0;
  #ended: () => void = () => undefined;

  constructor(chat: Chat, exit: GracefulExit, theme: Theme) {
    this.#chat = chat;
    this.#exit = exit;
    this.#display = new ConversationDisplay(chat, theme, {
      onSubmit: (text) => this.#submit(text),
      onQueue: (text) => this.#queue(text),
      onEscape: () => this.#escape(),
      onCtrlC: () => this.#ctrlC(),
      onLeave: () => exit.leave(exitCodes.ok),
      onGone: () => exit.hangUp(),
    });
    this.#screen = this.#display.screen;
    this.#screen.editor.setAutocompleteProvider(new Completions(chat));
    chat.terminal = this.#display.terminalFor(chat.terminal);
    this.#turns = new InteractiveTurns(chat, {
      show: (event) => this.#show(event),
      status: (line) => this.#display.status(line),
      problem: (error) => this.#display.problem(error),
      questioner: {
        hasUser: chat.userId !== null,
        choose: (question) => this.#asking(() => this.#screen.choose(question)),
        ask: (prompt, question) => this.#asking(() => this.#screen.ask(prompt, question)),
      },
      get isLeaving() {
        return exit.code !== null;
      },
    });
    this.#watch = new LiveWatch(chat, {
      isFree: () => !this.#isBusy && exit.code === null,
      begin: () => this.#beginWatching(),
      said: (text) => this.#display.said(text),
      show: (event) => this.#show(event),
      end: () => void this.#work(),
      note: (text) => this.#display.note(text),
    });
    exit.signal.addEventListener("abort", () => {
      this.#screen.cancel();
      this.#watch.stop();
      if (!this.#isBusy) this.#end();
    });
    chat.onBackground = (event) => this.#display.show(event);
  }

  /** A message was sent. */
  get hasSpoken(): boolean {
    return this.#turns.count > 0;
  }

  /** Shows the conversation so far, and takes turns until the chat is to end and nothing runs any more. */
  async untilLeft(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    const { colors } = this.#chat.terminal;
    const start = await chatStart(this.#chat);
    for (const line of greeting(start, this.#chat.model.isOffline))
      this.#display.print(colors.dim(line));
    this.#display.print(colors.dim("/help shows the commands; Esc interrupts, Ctrl-C twice quits"));
    this.#screen.start();
    await this.#work(() => this.#enterSession());
    await ended;
    await this.#screen.close();
  }

  async #enterSession(): Promise<void> {
    const past = await pastMessages(this.#chat);
    this.#display.past(past);
    this.#watch.enter(past);
    await this.#turns.enterSession();
  }

  #submit(text: string): void {
    if (text === "") return;
    this.#screen.editor.addToHistory(text);
    const isCommand = text.startsWith("/") && !text.startsWith("//");
    // A call that was interrupted takes nothing in any more.
    if (this.#isBusy && !this.#isInterrupted && !isCommand) void this.#steer(text);
    else this.#queue(text);
  }

  #queue(text: string): void {
    this.#screen.waiting.add({ text, message: null, isSteering: false });
    this.#screen.changed();
    if (!this.#isBusy) void this.#work();
  }

  /** Tells the running call; where none takes it, the message is sent when the turn is over. */
  async #steer(text: string): Promise<void> {
    const { waiting } = this.#screen;
    const message = userMessage(text.startsWith("//") ? text.slice(1) : text);
    const isIt = (other: WaitingMessage): boolean => other.message === message;
    waiting.add({ text, message, isSteering: true });
    this.#screen.changed();
    const answer = await this.#chat.agent
      .steer(sessionOf(this.#chat), message)
      .catch(() => false as const);
    if (answer === false && waiting.take(isIt).length > 0) this.#queue(text);
    // The call had ended: the session has the message, and a new call has to take it in.
    else if (!this.#isBusy && waiting.all.some(isIt)) void this.#work();
  }

  /** Runs `first`, then sends the messages that were typed. */
  async #work(first?: () => Promise<void>): Promise<void> {
    this.#isBusy = true;
    if (first !== undefined) await this.#attempt(first);
    while (this.#exit.code === null) {
      // After an interruption they wait for the next message, with which the session takes them in.
      if (!this.#isInterrupted) this.#screen.waiting.release();
      const next = this.#screen.waiting.next();
      if (next === undefined) break;
      await this.#attempt(() => this.#take(next));
    }
    this.#screen.activity.end();
    await this.#display.refreshStatus();
    this.#isBusy = false;
    this.#screen.changed();
    if (this.#exit.code !== null) this.#end();
    // Something was typed while the status was read.
    else if (this.#screen.waiting.all.some((one) => !one.isSteering || !this.#isInterrupted))
      void this.#work();
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    this.#isInterrupted = false;
    try {
      await this.#exit.during(work());
    } catch (error) {
      this.#display.problem(error);
    }
  }

  async #take({ text, message }: WaitingMessage): Promise<void> {
    this.#display.said(text);
    // Two slashes escape one.
    if (!text.startsWith("/") || text.startsWith("//")) {
      this.#screen.activity.begin("Starting");
      this.#screen.changed();
      // With its id the message enters the session once, also if it is there already.
      await this.#turns.send(message ?? (text.startsWith("//") ? text.slice(1) : text));
      return;
    }
    this.#screen.activity.begin(`Running ${safeLine(text.split(/\s/u)[0] ?? "")}`);
    const { sessionId } = this.#chat;
    const isLeft = await runSlashCommand(this.#chat, text, {
      turns: this.#turns,
      pick: (title, items) => this.#asking(() => this.#screen.pick(title, items)),
    });
    if (isLeft) this.#exit.leave(exitCodes.ok);
    else if (this.#chat.sessionId !== sessionId) {
      this.#screen.transcript.clear();
      this.#display.print(sessionLine(await chatStart(this.#chat)));
      await this.#enterSession();
    }
  }

  /** Asks, unless the chat is to end. */
  async #asking<T>(ask: () => Promise<T | null>): Promise<T | null> {
    if (this.#exit.code !== null) return null;
    this.#screen.activity.ask();
    return ask();
  }

  #show(event: AgentEvent): void {
    if (event.type === "queue_wait") this.#isQueued = true;
    if (event.type === "state_loaded" || event.type === "call_end") this.#isQueued = false;
    this.#display.show(event);
  }

  #beginWatching(): void {
    this.#isBusy = true;
    this.#isInterrupted = false;
    this.#display.note("another window works in this session; what it does is shown here");
    this.#screen.activity.begin("Starting");
  }

  #escape(): void {
    if (this.#isBusy && !this.#isInterrupted) this.#interrupt();
  }

  #ctrlC(): void {
    const isSecond = Date.now() - this.#ctrlCAt < TWICE_MS;
    this.#ctrlCAt = Date.now();
    if (this.#screen.cancel()) return;
    if (this.#isBusy && !this.#isInterrupted && !this.#watch.isWatching) this.#interrupt();
    else if (this.#isBusy || this.#exit.code !== null) {
      if (this.#watch.isWatching && !isSecond && this.#exit.code === null) {
        this.#display.note("Ctrl-C again quits; the other window goes on");
        return;
      }
      this.#exit.leave(this.#watch.isWatching ? exitCodes.ok : exitCodes.interrupted);
      this.#exit.hurryUp();
    } else if (this.#screen.editor.getText() !== "") {
      this.#screen.editor.setText("");
      this.#screen.changed();
    } else if (isSecond) this.#exit.leave(exitCodes.ok);
    else this.#display.note("Ctrl-C again quits");
  }

  #interrupt(): void {
    this.#isInterrupted = true;
    this.#screen.activity.say("Interrupting");
    // What was to be sent next may not be wanted any more; it is left to edit.
    const texts = this.#screen.waiting.take(({ message }) => message === null);
    const typed = this.#screen.editor.getText();
    const kept = [...texts.map(({ text }) => text), ...(typed === "" ? [] : [typed])];
    if (texts.length > 0) this.#screen.editor.setText(kept.join("\n"));
    this.#screen.changed();
    void this.#interruptCall();
  }

  async #interruptCall(): Promise<void> {
    if (this.#isQueued)
      this.#display.note("interrupted; waiting to save it, Ctrl-C again quits without saving");
    const { agent } = this.#chat;
    const session = this.#watch.isWatching ? sessionOf(this.#chat) : undefined;
    const isHit = await (session ? agent.interrupt(session) : agent.interrupt()).catch(() => true);
    if (!isHit) this.#display.note("this cannot be interrupted; Ctrl-C again quits");
  }

  /** Lists the messages that are not sent any more. */
  #end(): void {
    const { waiting, editor } = this.#screen;
    const typed = editor.getExpandedText().trim();
    const texts = waiting.take(({ message }) => message === null).map(({ text }) => text);
    for (const text of [...texts, ...(typed === "" ? [] : [typed])])
      this.#display.status({ kind: "problem", text: `not sent: ${text}` });
    this.#watch.stop();
    this.#ended();
  }
}
