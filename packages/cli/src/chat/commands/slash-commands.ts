import { safeLine } from "../../terminal/safe-text.js";
import type { Chat } from "../open-chat.js";
import { contextCommands } from "./context-commands.js";
import { permissionsCommand } from "./permissions-command.js";
import { planCommand } from "./plan-command.js";
import { sessionCommands } from "./session-commands.js";
import type { CommandMeans, SlashCommand } from "./slash-command.js";
import { tasksCommand } from "./tasks-command.js";

/** Commands of a chat, by name. */
export const commands: Readonly<Record<string, SlashCommand>> = {
  ...sessionCommands,
  ...contextCommands,
  "/permissions": {
    usage: "/permissions",
    help: "mode and remembered rules; … mode <mode>, … forget <number>",
    run: permissionsCommand,
  },
  "/plan": {
    usage: "/plan [on|off]",
    help: "plan mode, the plan and the todo list; enter or leave plan mode",
    run: planCommand,
  },
  "/tasks": {
    usage: "/tasks [id]",
    help: "tasks of subagents, or one with its result; … cancel <id>, … answer <id>",
    run: (chat, argument, { turns }) => tasksCommand(chat, argument, turns),
  },
  "/help": { usage: "/help", help: "list the commands", run: showHelp },
  "/exit": { usage: "/exit", help: "quit", run: async () => undefined },
};

/** Names of the commands, for completion. */
export const commandNames: readonly string[] = Object.keys(commands);

/** Runs a line that begins with a slash. @returns whether to quit */
export async function runSlashCommand(
  chat: Chat,
  line: string,
  means: CommandMeans,
): Promise<boolean> {
  const [, name = "", argument = ""] = /^(\S+)\s*(.*)$/su.exec(line) ?? [];
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined)
    chat.terminal.line(
      `There is no ${safeLine(name)}; /help shows the commands. To send it as a message, write //${safeLine(name.slice(1))}.`,
    );
  else await command.run(chat, argument, means);
  return name === "/exit";
}

async function showHelp({ terminal }: Chat): Promise<void> {
  const shown = [...Object.values(commands), { usage: "//text", help: "send /text as a message" }];
  const width = Math.max(...shown.map(({ usage }) => usage.length)) + 2;
  for (const { usage, help } of shown)
    terminal.line(`${usage.padEnd(width)}${terminal.colors.dim(help)}`);
}
