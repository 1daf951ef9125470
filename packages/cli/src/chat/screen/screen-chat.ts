import type { ExitCode } from "../../exit-code.js";
import { farewell } from "../farewell.js";
import { GracefulExit } from "../graceful-exit.js";
import type { Chat } from "../open-chat.js";
import { ScreenConversation } from "./screen-conversation.js";
import { type Background, backgroundOf, createTheme } from "./theme.js";

/** Runs a chat on the whole terminal until the user quits. */
export async function screenChat(chat: Chat, background?: Background): Promise<ExitCode> {
  const { terminal } = chat;
  const theme = createTheme(terminal.colors, background ?? backgroundOf(terminal.env));
  using exit = new GracefulExit(chat.agent);
  const talk = new ScreenConversation(chat, exit, theme);
  await talk.untilLeft();
  chat.terminal = terminal;
  // Awaited here: until it has ended, signals are ours.
  return await farewell(chat, exit, talk.hasSpoken);
}
