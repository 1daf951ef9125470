import { Command, Option } from "commander";
import type { AcpFlags } from "../acp/run-acp.js";
import { withStoreFlags } from "../sessions/session-options.js";
import type { Terminal } from "../terminal/terminal.js";

const help = `
An editor starts this command and speaks the Agent Client Protocol with it over stdin and stdout; messages for people go to stderr.
The agent is the one of the config file, and works on the files of the project that is open in the editor. Sessions are kept like
those of "holdfast chat"; the workspace, with the log of the default store, is ~/.holdfast/workspace unless one is named.
When the editor goes away, a running call is saved at its next safe point, and loading the session goes on with it.`;

/** Creates `holdfast acp`. */
export function acpCommand(terminal: Terminal): Command {
  return withStoreFlags(new Command("acp"))
    .description("Serve the agent to an editor: Zed, JetBrains, Neovim, Emacs")
    .option("--agent <name>", 'the agent (default: the config file\'s, else "assistant")')
    .option("--user <id>", "the user (default: your login name)")
    .addOption(new Option("--anonymous", "no user").conflicts("user"))
    .option("--model <provider/id>", "for example anthropic/claude-sonnet-5-5, or offline")
    .addHelpText("after", help)
    .action(async (flags: AcpFlags) => {
      const { runAcp } = await import("../acp/run-acp.js");
      await runAcp(terminal, flags);
    });
}
