import type { AgentEvent, Usage } from "@holdfast/core";
import { type ExitCode, errorText, exitCodes } from "../exit-code.js";
import { plural } from "../terminal/format.js";
import { safeLine, safeText } from "../terminal/safe-text.js";
import { GracefulExit } from "./graceful-exit.js";
import { chatStart, greeting } from "./greeting.js";
import { type Chat, takeTurn } from "./open-chat.js";
import { PromptLine } from "./prompt-line.js";
import { runSlashCommand } from "./slash-commands.js";
import { statusLine, TurnView } from "./turn-view.js";

/** Runs a chat at a terminal until the user quits. */
export async function interactiveChat(chat: Chat): Promise<ExitCode> {
  const { terminal, agent } = chat;
  for (const line of greeting(await chatStart(chat), chat.model.isOffline))
    terminal.line(terminal.colors.dim(line));
  terminal.line(terminal.colors.dim("/help shows the commands; Ctrl-C interrupts, Ctrl-D quits"));
  using exit = new GracefulExit(agent);
  const talk = new Conversation(chat, exit);
  await talk.untilLeft();
  if (talk.turns > 0 && !exit.hurry.aborted)
    terminal.line(terminal.colors.dim("updating the long-term memory; Ctrl-C skips it"));
  await exit.closeAgent();
  return exit.code ?? exitCodes.ok;
}

/** Reads lines and sends them one after another. */
class Conversation {
  turns = 0;
  readonly #chat: Chat;
  readonly #exit: GracefulExit;
  readonly #view: TurnView;
  readonly #prompt: PromptLine;
  /** Lines of a paste that is not complete yet. */
  readonly #pasted: string[] = [];
  readonly #waiting: string[] = [];
  #isBusy = false;
  /** The call waits for another one on the same session. */
  #isQueued = false;
  #isInterrupted = false;
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };
  #ended: () => void = () => undefined;

  constructor(chat: Chat, exit: GracefulExit) {
    this.#chat = chat;
    this.#exit = exit;
    this.#view = new TurnView(chat.terminal, "out");
    this.#prompt = new PromptLine(chat.terminal, {
      onLine: (line) => this.#receive(line),
      onCtrlC: () => this.#ctrlC(),
      onClose: () => exit.leave(exitCodes.ok),
      onGone: () => exit.hangUp(),
    });
    exit.signal.addEventListener("abort", () => this.#endWhenIdle());
    chat.onBackground = (event) => this.#showBackground(event);
  }

  /** Prompts until the chat is to end and nothing runs any more. */
  async untilLeft(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    this.#prompt.open();
    await ended;
    this.#prompt.close();
  }

  #receive(line: string): void {
    this.#pasted.push(line);
    // A pasted text of several lines is one message, sent by the next Enter.
    if (this.#prompt.isPasting) return;
    const text = this.#pasted.splice(0).join("\n").trim();
    if (text !== "") this.#waiting.push(text);
    if (this.#isBusy) {
      if (text !== "") this.#view.status({ kind: "note", text: `sent next: ${text}` });
    } else void this.#work();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    this.#prompt.hide();
    for (let isFirst = true; this.#exit.code === null; isFirst = false) {
      const text = this.#waiting.shift();
      if (text === undefined) break;
      const { terminal } = this.#chat;
      if (!isFirst) terminal.line(`${terminal.colors.bold("›")} ${safeLine(text)}`);
      this.#isInterrupted = false;
      try {
        await this.#exit.during(this.#take(text));
      } catch (error) {
        this.#view.end();
        this.#showError(error);
      }
    }
    this.#isBusy = false;
    if (this.#exit.code === null) this.#prompt.show();
    else this.#end();
  }

  async #take(text: string): Promise<void> {
    // Two slashes escape one.
    if (text.startsWith("/") && !text.startsWith("//")) {
      const isLeft = await runSlashCommand(this.#chat, text, this.#usage);
      if (isLeft) this.#exit.leave(exitCodes.ok);
      return;
    }
    this.turns++;
    const said = text.startsWith("//") ? text.slice(1) : text;
    const reply = await takeTurn(this.#chat, said, (event) => this.#show(event));
    const { inputTokens, outputTokens } = reply.usage;
    this.#usage = {
      inputTokens: this.#usage.inputTokens + inputTokens,
      outputTokens: this.#usage.outputTokens + outputTokens,
    };
    if ("pending" in reply)
      this.#view.status({
        kind: "problem",
        text: `${plural(reply.pending.length, "tool call")} needed an approval, which cannot be given here, and ${reply.pending.length === 1 ? "was" : "were"} closed`,
      });
    else if (reply.reason === "max_iterations")
      this.#view.status({ kind: "note", text: "stopped at the maximum number of iterations" });
  }

  #show(event: AgentEvent): void {
    if (event.type === "queue_wait") this.#isQueued = true;
    if (event.type === "state_loaded" || event.type === "call_end") this.#isQueued = false;
    this.#view.show(event);
  }

  #ctrlC(): void {
    if (this.#isBusy && !this.#isInterrupted) {
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
    if (this.#isBusy || this.#exit.code !== null) this.#view.show(event);
    else if (statusLine(event) !== null) this.#prompt.above(() => this.#view.show(event));
  }

  #note(text: string): void {
    this.#view.status({ kind: "note", text });
  }

  #showError(error: unknown): void {
    const { colors, env, line } = this.#chat.terminal;
    line(colors.red(safeText(errorText(error, env))));
  }
}
