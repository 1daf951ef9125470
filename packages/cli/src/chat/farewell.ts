import { type ExitCode, exitCodes } from "../exit-code.js";
import type { GracefulExit } from "./graceful-exit.js";
import type { Chat } from "./open-chat.js";
import { pauseText } from "./running-tasks.js";

/**
 * Ends a chat that was left: pauses background tasks, updates the long-term memory and closes the agent.
 *
 * @param hasSpoken - a message was sent, so that there may be something to remember
 */
export async function farewell(
  { terminal, running }: Chat,
  exit: GracefulExit,
  hasSpoken: boolean,
): Promise<ExitCode> {
  if (running.count > 0) {
    terminal.line(terminal.colors.dim(pauseText(running.count)));
    exit.pauseTasks(running);
  }
  if (hasSpoken && !exit.hurry.aborted)
    terminal.line(terminal.colors.dim("updating the long-term memory; Ctrl-C skips it"));
  await exit.closeAgent();
  return exit.code ?? exitCodes.ok;
}
