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

/** A conversation at a terminal, until it is left. */
export async function interactiveChat(chat: Chat): Promise<ExitCode> {
  const { terminal, agent } = chat;
  for (const line of greeting(await chatStart(chat), chat.model.isOffline))
    terminal.line(terminal.colors.dim(line));
  terminal.line(terminal.colors.dim("/help shows the commands; Ctrl-C interrupts, Ctrl-D leaves"));
  using exit = new GracefulExit(agent);
  const talk = new Conversation(chat, exit);
  await talk.untilLeft();
  if (talk.turns > 0 && !exit.hurry.aborted)
    terminal.line(terminal.colors.dim("noting what is worth remembering; Ctrl-C does without"));
  await exit.closeAgent();
  return exit.code ?? exitCodes.ok;
}

/** Reads lines and takes them one after another. */
class Conversation {
  turns = 0;
  readonly #chat: Chat;
  readonly #exit: GracefulExit;
  readonly #view: TurnView;
  readonly #prompt: PromptLine;
  /** Lines of a text that is being pasted. */
  readonly #pasted: string[] = [];
  readonly #waiting: string[] = [];
  #isBusy = false;
  /** Another call has the session. */
  #isQueued = false;
  #isInterrupted = false;
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };
  #ended: () => void = () => undefined;

  constructor(chat: Chat, exit: GracefulExit) {
    this.#chat = chat;
    this.#exit = exit;
    this.#view = new TurnView(chat.terminal, "out");
    this.#prompt = new PromptLine(chat.terminal, {
      onLine: (line) => this.#hear(line),
      onCtrlC: () => this.#ctrlC(),
      onClose: () => exit.leave(exitCodes.ok),
      onGone: () => exit.hangUp(),
    });
    exit.signal.addEventListener("abort", () => this.#endWhenIdle());
    chat.onBackground = (event) => this.#inBetween(event);
  }

  /** Prompts, until it is time to leave and nothing runs any more. */
  async untilLeft(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    this.#prompt.open();
    await ended;
    this.#prompt.close();
  }

  #hear(line: string): void {
    this.#pasted.push(line);
    // A text of several lines is one message; it is sent with the Enter behind it.
    if (this.#prompt.isPasting) return;
    const text = this.#pasted.splice(0).join("\n").trim();
    if (text !== "") this.#waiting.push(text);
    if (this.#isBusy) {
      if (text !== "") this.#view.status({ kind: "note", text: `comes next: ${text}` });
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
        this.#complain(error);
      }
    }
    this.#isBusy = false;
    if (this.#exit.code === null) this.#prompt.show();
    else this.#end();
  }

  async #take(text: string): Promise<void> {
    // Two slashes say one that is no command.
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
        kind: "trouble",
        text: `${plural(reply.pending.length, "tool call")} waited for an answer that cannot be given here; closed`,
      });
    else if (reply.reason === "max_iterations")
      this.#view.status({ kind: "note", text: "stopped after as many steps as a turn may take" });
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
      this.#note("interrupted; it waits for its turn to be saved, Ctrl-C again leaves without it");
    const isHit = await this.#chat.agent.interrupt().catch(() => true);
    if (!isHit) this.#note("this ends by itself; Ctrl-C again leaves");
  }

  #endWhenIdle(): void {
    if (this.#isBusy) return;
    this.#chat.terminal.line();
    this.#end();
  }

  /** Names what somebody wrote and nobody will hear. */
  #end(): void {
    const pasted = this.#pasted.splice(0).join("\n").trim();
    for (const text of [...this.#waiting.splice(0), ...(pasted === "" ? [] : [pasted])])
      this.#view.status({ kind: "trouble", text: `not said any more: ${text}` });
    this.#ended();
  }

  /** An event of work that nobody waits for: above the prompt, not into it. */
  #inBetween(event: AgentEvent): void {
    if (this.#isBusy || this.#exit.code !== null) this.#view.show(event);
    else if (statusLine(event) !== null) this.#prompt.above(() => this.#view.show(event));
  }

  #note(text: string): void {
    this.#view.status({ kind: "note", text });
  }

  #complain(error: unknown): void {
    const { colors, env, line } = this.#chat.terminal;
    line(colors.red(safeText(errorText(error, env))));
  }
}
