import { Command, InvalidArgumentError, Option } from "commander";
import type { ChatFlags } from "../chat/open-chat.js";
import { permissionModes } from "../chat/permission-modes.js";
import { CommandError, exitCodes } from "../exit-code.js";
import { withStoreFlags } from "../sessions/session-options.js";
import type { Terminal } from "../terminal/terminal.js";

const help = `
Ctrl-C while the agent works interrupts it and keeps what was said so far. A second one quits (exit code 130).
Ctrl-C at an empty prompt, Ctrl-D and /exit quit (0). Lines typed while the agent works are sent in turn.
A tool call that needs your approval is shown with its input: y runs it once, a always, e edits it, n denies it.
Without a terminal every line of stdin is a turn: replies go to stdout, everything else to stderr. A tool call that needs
an approval is then printed as a line of JSON and ends the command (6); the session waits for "holdfast chat" at a terminal.
Background tasks of subagents are waited for without a terminal; a chat that you quit pauses them, and the next one goes on.`;

/** Creates `holdfast chat`. */
export function chatCommand(terminal: Terminal): Command {
  const collect = (text: string, before: string[] = []): string[] => {
    if (text.trim() === "") throw new InvalidArgumentError("The message is empty.");
    return [...before, text];
  };
  return withStoreFlags(new Command("chat"))
    .description("Talk to an agent; continues the session where it was left")
    .option("--agent <name>", 'the agent (default: the config file\'s, else "assistant")')
    .option("--user <id>", "the user (default: your login name)")
    .addOption(new Option("--anonymous", "no user").conflicts("user"))
    .option("--session <id>", 'the session (default: "default")')
    .option("--model <provider/id>", "for example anthropic/claude-sonnet-5-5, or offline")
    .addOption(
      new Option(
        "--permission-mode <mode>",
        "set how freely tools of the session act; the session keeps it",
      ).choices(Object.keys(permissionModes)),
    )
    .option("-m, --message <text>", "send this and quit; may be repeated", collect)
    .option("--json", "print events as NDJSON")
    .addHelpText("after", help)
    .action((flags: ChatFlags) => chat(terminal, flags));
}

async function chat(terminal: Terminal, flags: ChatFlags): Promise<void> {
  const { openChat } = await import("../chat/open-chat.js");
  const opened = await openChat(terminal, flags);
  try {
    const isPiped = flags.message !== undefined || !terminal.isInteractive;
    const code = isPiped
      ? await (await import("../chat/piped-chat.js")).pipedChat(opened, flags.message)
      : await (await import("../chat/interactive-chat.js")).interactiveChat(opened);
    if (code !== exitCodes.ok) throw new CommandError(code, "");
  } finally {
    await opened.store.close();
  }
}
