import { CommandError, exitCodes } from "../exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { interactiveChat } from "./interactive-chat.js";
import { type ChatFlags, openChat } from "./open-chat.js";
import { pipedChat } from "./piped-chat.js";

/** Runs a conversation until somebody ends it. @throws CommandError when it ended with another code than 0 */
export async function chat(terminal: Terminal, flags: ChatFlags): Promise<void> {
  const opened = await openChat(terminal, flags);
  try {
    const isPiped = flags.message !== undefined || !terminal.isInteractive;
    const code = isPiped ? await pipedChat(opened, flags.message) : await interactiveChat(opened);
    if (code !== exitCodes.ok) throw new CommandError(code, "");
  } finally {
    await opened.store.close();
  }
}
