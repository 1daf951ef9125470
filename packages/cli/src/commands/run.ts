import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { Command, Option } from "commander";
import type { ChatFlags } from "../chat/open-chat.js";
import { CommandError, exitCodes } from "../exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { withChatFlags } from "./chat-options.js";

const help = `
The reply goes to stdout as it arrives, everything else to stderr; --json prints events as NDJSON instead. Text that is piped in
follows the prompt, or is the prompt where none is given. Without --session the call has a new session, whose name is printed.
A tool call that needs an approval is printed as a line of JSON and ends the command (6); "holdfast chat --session <id>" answers.`;

/** Creates `holdfast run`. */
export function runCommand(terminal: Terminal): Command {
  return withChatFlags(new Command("run"))
    .description("Make one call for a script: the reply is streamed to stdout")
    .argument("[prompt]", "what to say to the agent")
    .addOption(new Option("--session <id>", "the session (default: a new one)"))
    .addHelpText("after", help)
    .action((prompt: string | undefined, flags: ChatFlags) => run(terminal, prompt, flags));
}

async function run(
  terminal: Terminal,
  prompt: string | undefined,
  flags: ChatFlags,
): Promise<void> {
  const isPiped = (terminal.in as { isTTY?: boolean }).isTTY !== true;
  const piped = isPiped ? (await text(terminal.in)).trim() : "";
  const message = [prompt?.trim() ?? "", piped].filter((part) => part !== "").join("\n\n");
  if (message === "")
    throw new CommandError(exitCodes.usage, "run: there is no prompt; name it or pipe it in");
  const { openChat } = await import("../chat/open-chat.js");
  const session = flags.session ?? `run-${randomUUID().slice(0, 8)}`;
  const opened = await openChat(terminal, { ...flags, session });
  try {
    const { pipedChat } = await import("../chat/piped-chat.js");
    const code = await pipedChat(opened, [message], { isStreamed: true });
    if (code !== exitCodes.ok) throw new CommandError(code, "");
  } finally {
    await opened.store.close();
  }
}
