import { Command, InvalidArgumentError, Option } from "commander";
import type { Chat, ChatFlags } from "../chat/open-chat.js";
import { CommandError, type ExitCode, exitCodes } from "../exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { withChatFlags } from "./chat-options.js";

const help = `
At a terminal: Esc interrupts and keeps what was said so far, Ctrl-C twice and Ctrl-D quit, Ctrl-O opens what is cut, Ctrl-R
searches what you sent, / completes commands, @ files. What you type while the agent works reaches it at its next step (Enter),
or is sent after it (Tab). A tool call that needs your approval is shown with its input: y runs it once, a always, e edits it,
n denies it. --plain prints line by line instead.
Without a terminal every line of stdin is a turn: replies go to stdout, everything else to stderr. A tool call that needs
an approval is then printed as a line of JSON and ends the command (6); the session waits for "holdfast chat" at a terminal.
Background tasks of subagents are waited for without a terminal; a chat that you quit pauses them, and the next one goes on.`;

/** Creates `holdfast chat`. */
export function chatCommand(terminal: Terminal): Command {
  const collect = (text: string, before: string[] = []): string[] => {
    if (text.trim() === "") throw new InvalidArgumentError("The message is empty.");
    return [...before, text];
  };
  return withChatFlags(new Command("chat"))
    .description("Talk to an agent; continues the session where it was left")
    .option("--session <id>", 'the session (default: "default")')
    .option("-m, --message <text>", "send this and quit; may be repeated", collect)
    .option("--plain", "line by line, without moving the cursor, for screen readers")
    .addOption(
      new Option(
        "--theme <background>",
        "colours for this background (default: what the terminal tells)",
      ).choices(["light", "dark"]),
    )
    .addHelpText("after", help)
    .action((flags: ChatFlags) => chat(terminal, flags));
}

async function chat(terminal: Terminal, flags: ChatFlags): Promise<void> {
  const isPiped = flags.message !== undefined || !terminal.isInteractive;
  const isPlain = flags.plain === true || terminal.env["TERM"] === "dumb";
  // The screen is loaded only where there is one, and while the store is opened: nobody else pays for it.
  const screen = isPiped || isPlain ? null : import("../chat/screen/screen-chat.js");
  screen?.catch(() => undefined);
  const { openChat } = await import("../chat/open-chat.js");
  const opened = await openChat(terminal, flags);
  try {
    const code = await talk(opened, flags, isPiped, await screen);
    if (code !== exitCodes.ok) throw new CommandError(code, "");
  } finally {
    await opened.store.close();
  }
}

async function talk(
  chat: Chat,
  { message, theme }: ChatFlags,
  isPiped: boolean,
  screen: typeof import("../chat/screen/screen-chat.js") | null,
): Promise<ExitCode> {
  if (screen !== null) return screen.screenChat(chat, theme);
  if (isPiped) return (await import("../chat/piped-chat.js")).pipedChat(chat, message);
  return (await import("../chat/plain/plain-chat.js")).plainChat(chat);
}
