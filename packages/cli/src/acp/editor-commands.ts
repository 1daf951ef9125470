import type { SessionCommand } from "@holdfast/acp";
import { ConfigurationError } from "@holdfast/core";
import type { HarnessAgent } from "@holdfast/harness";

/** Returns the commands that a person may type in an editor. */
export function editorCommands(
  agent: HarnessAgent,
  session: { readonly userId: string | null; readonly sessionId: string },
): readonly SessionCommand[] {
  return [
    {
      name: "compact",
      description: "Shorten the context of this session now",
      async run() {
        try {
          const { messagesBefore, messagesAfter } = await agent.compact(session, { force: true });
          return `The context had ${messagesBefore} messages and has ${messagesAfter} now.`;
        } catch (error) {
          if (ConfigurationError.is(error)) return error.message;
          throw error;
        }
      },
    },
  ];
}
