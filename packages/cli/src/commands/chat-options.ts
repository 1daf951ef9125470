import { type Command, Option } from "commander";
import { permissionModes } from "../chat/permission-modes.js";
import { withStoreFlags } from "../sessions/session-options.js";

/** Adds the options that a command which talks to an agent has. */
export function withChatFlags(command: Command): Command {
  return withStoreFlags(command)
    .option("--agent <name>", 'the agent (default: the config file\'s, else "assistant")')
    .option("--user <id>", "the user (default: your login name)")
    .addOption(new Option("--anonymous", "no user").conflicts("user"))
    .option("--model <provider/id>", "for example anthropic/claude-sonnet-5-5, or offline")
    .addOption(
      new Option(
        "--permission-mode <mode>",
        "set how freely tools of the session act; the session keeps it",
      ).choices(Object.keys(permissionModes)),
    )
    .option("--json", "print events as NDJSON");
}
