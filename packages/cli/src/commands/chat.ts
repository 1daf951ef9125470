import { Command, InvalidArgumentError, Option } from "commander";
import { withStoreFlags } from "../sessions/session-options.js";
import type { Terminal } from "../terminal/terminal.js";

const help = `
Ctrl-C while the agent works interrupts it; what was said is kept. A second one leaves (exit code 130).
Ctrl-C at an empty prompt, Ctrl-D and /exit leave (0). What is typed while the agent works waits for its turn.
Without a terminal every line of stdin is a turn: replies go to stdout, the rest to stderr.`;

/** `holdfast chat`. */
export function chatCommand(terminal: Terminal): Command {
  const collect = (text: string, before: string[] = []): string[] => {
    if (text.trim() === "") throw new InvalidArgumentError("There is nothing to say in it.");
    return [...before, text];
  };
  return withStoreFlags(new Command("chat"))
    .description("Talk to an agent; the session goes on where it was left")
    .option("--agent <name>", 'which agent (default: the config file\'s, else "assistant")')
    .option("--user <id>", "who is speaking (default: whoever is logged in)")
    .addOption(new Option("--anonymous", "nobody in particular is").conflicts("user"))
    .option("--session <id>", 'which session (default: "default")')
    .option("--model <provider/id>", "for example anthropic/claude-sonnet-5-5, or offline")
    .option("-m, --message <text>", "say this and leave; may be repeated", collect)
    .option("--json", "print events as NDJSON")
    .addHelpText("after", help)
    .action(async (flags) => {
      const { chat } = await import("../chat/chat.js");
      await chat(terminal, flags);
    });
}
