import type { InteractiveTurns } from "../interactive-turns.js";
import type { Chat } from "../open-chat.js";

/** Entry of a list to pick from. */
export interface PickItem {
  readonly value: string;
  /** Text of unknown origin. */
  readonly label: string;
  readonly detail?: string | undefined;
}

/** Means that a command has besides the chat. */
export interface CommandMeans {
  readonly turns: InteractiveTurns;
  /** Lets a person pick from a list with a search; absent where there is only a line to type on. */
  pick?(title: string, items: readonly PickItem[]): Promise<string | null>;
}

/** Command of a chat. */
export interface SlashCommand {
  readonly usage: string;
  readonly help: string;
  run(chat: Chat, argument: string, means: CommandMeans): Promise<void>;
}
