import { createInterface, type Interface } from "node:readline";
import type { AgentEvent, Usage } from "@holdfast/core";
import { type ExitCode, exitCodes } from "../exit-code.js";
import { plural } from "../terminal/format.js";
import { safeLine } from "../terminal/safe-text.js";
import { chatStart, greeting } from "./greeting.js";
import { leaveAgent } from "./leave-agent.js";
import type { Chat } from "./open-chat.js";
import { PromptOutput } from "./prompt-output.js";
import { commandNames, runSlashCommand } from "./slash-commands.js";
import { Stopper } from "./stopper.js";
import { takeTurn } from "./take-turn.js";
import { TurnView } from "./turn-view.js";

/** A conversation at a terminal, until it is left. */
export async function interactiveChat(chat: Chat): Promise<ExitCode> {
  const { terminal, agent } = chat;
  for (const line of greeting(await chatStart(chat), chat.model.isOffline))
    terminal.line(terminal.colors.dim(line));
  terminal.line(terminal.colors.dim("/help shows the commands; Ctrl-C interrupts, Ctrl-D leaves"));
  using stopper = new Stopper(agent);
  const talk = new Conversation(chat, stopper);
  await talk.untilLeft();
  if (talk.turns > 0 && !stopper.hurry.aborted)
    terminal.line(terminal.colors.dim("noting what is worth remembering; Ctrl-C does without"));
  await leaveAgent(agent, stopper);
  return stopper.code ?? exitCodes.ok;
}

/** Reads lines and takes them one after another. */
class Conversation {
  turns = 0;
  readonly #chat: Chat;
  readonly #stopper: Stopper;
  readonly #view: TurnView;
  readonly #output: PromptOutput;
  readonly #lines: Interface;
  /** Lines of a text that is being pasted. */
  readonly #pasted: string[] = [];
  readonly #waiting: string[] = [];
  #isPasting = false;
  #isBusy = false;
  #isInterrupted = false;
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };
  #ended: () => void = () => undefined;

  constructor(chat: Chat, stopper: Stopper) {
    const { terminal } = chat;
    this.#chat = chat;
    this.#stopper = stopper;
    this.#view = new TurnView(terminal, "out");
    this.#output = new PromptOutput(terminal.out);
    this.#lines = createInterface({
      input: terminal.in,
      output: this.#output,
      terminal: true,
      prompt: terminal.colors.bold("› "),
      historySize: 500,
      removeHistoryDuplicates: true,
      completer: (line: string) => [commandNames.filter((name) => name.startsWith(line)), line],
    });
    this.#lines.on("line", (line) => this.#hear(line));
    this.#lines.on("SIGINT", () => this.#ctrlC());
    // A terminal that is gone cannot be set back; what runs is saved all the same.
    this.#lines.on("error", () => this.#stopper.hangUp());
    this.#lines.on("close", () => this.#stopper.leave(exitCodes.ok));
    terminal.in.on("keypress", this.#noticePaste);
    stopper.signal.addEventListener("abort", () => this.#endWhenIdle());
    chat.onBackground = (event) => this.#inBetween(event);
  }

  /** Prompts, until it is time to leave and nothing runs any more. */
  async untilLeft(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    // Terminals that can say what was pasted do so from now on.
    this.#chat.terminal.out.write("\u001b[?2004h");
    this.#lines.prompt();
    await ended;
    this.#chat.terminal.out.write("\u001b[?2004l");
    this.#chat.terminal.in.off("keypress", this.#noticePaste);
    this.#lines.close();
  }

  readonly #noticePaste = (_: unknown, key: { readonly name?: string } | undefined): void => {
    if (key?.name === "paste-start") this.#isPasting = true;
    if (key?.name === "paste-end") this.#isPasting = false;
  };

  #hear(line: string): void {
    this.#pasted.push(line);
    // A text of several lines is one message; it is sent with the Enter behind it.
    if (this.#isPasting) return;
    const text = this.#pasted.splice(0).join("\n").trim();
    if (text !== "") this.#waiting.push(text);
    if (this.#isBusy) {
      if (text !== "") this.#view.status({ kind: "note", text: `comes next: ${text}` });
    } else void this.#work();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    this.#output.isQuiet = true;
    for (let isFirst = true; this.#stopper.code === null; isFirst = false) {
      const text = this.#waiting.shift();
      if (text === undefined) break;
      const { terminal } = this.#chat;
      if (!isFirst) terminal.line(`${terminal.colors.bold("›")} ${safeLine(text)}`);
      this.#isInterrupted = false;
      try {
        await this.#stopper.during(this.#take(text));
      } catch (error) {
        this.#view.end();
        this.#complain(error);
      }
    }
    this.#isBusy = false;
    this.#output.isQuiet = false;
    for (const text of this.#waiting.splice(0))
      this.#view.status({ kind: "trouble", text: `not said any more: ${text}` });
    if (this.#stopper.code === null) this.#lines.prompt(true);
    else this.#ended();
  }

  async #take(text: string): Promise<void> {
    // Two slashes say one that is no command.
    if (text.startsWith("/") && !text.startsWith("//")) {
      const isLeft = await runSlashCommand(this.#chat, text, this.#usage);
      if (isLeft) this.#stopper.leave(exitCodes.ok);
      return;
    }
    this.turns++;
    const said = text.startsWith("//") ? text.slice(1) : text;
    const reply = await takeTurn(this.#chat, said, (event) => this.#view.show(event));
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

  #ctrlC(): void {
    if (this.#isBusy && !this.#isInterrupted) {
      this.#isInterrupted = true;
      this.#chat.agent.interrupt().then(
        (isHit) => {
          if (!isHit)
            this.#view.status({ kind: "note", text: "this ends by itself; Ctrl-C again leaves" });
        },
        () => undefined,
      );
    } else if (this.#isBusy || this.#stopper.code !== null) {
      this.#stopper.leave(exitCodes.interrupted);
      this.#stopper.hurryUp();
    } else if (this.#lines.line !== "" || this.#pasted.length > 0) {
      this.#pasted.length = 0;
      // To the end of the line, and away with what stands before it.
      this.#lines.write(null, { ctrl: true, name: "e" });
      this.#lines.write(null, { ctrl: true, name: "u" });
    } else {
      this.#stopper.leave(exitCodes.ok);
    }
  }

  #endWhenIdle(): void {
    if (this.#isBusy) return;
    this.#chat.terminal.line();
    this.#ended();
  }

  /** An event of work that nobody waits for: above the prompt, not into it. */
  #inBetween(event: AgentEvent): void {
    if (this.#isBusy || this.#stopper.code !== null) {
      this.#view.show(event);
      return;
    }
    this.#chat.terminal.out.write("\r\u001b[K");
    this.#view.show(event);
    this.#lines.prompt(true);
  }

  #complain(error: unknown): void {
    const { colors } = this.#chat.terminal;
    const message = error instanceof Error ? error.message : String(error);
    this.#chat.terminal.line(colors.red(safeLine(message)));
  }
}
