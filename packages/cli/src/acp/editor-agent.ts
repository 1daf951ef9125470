import type { EditorSession, SessionAgent, SessionCommand } from "@holdfast/acp";
import {
  ConfigurationError,
  type DistributedStore,
  definePlugin,
  type Model,
  type Plugin,
} from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { mcpTools } from "@holdfast/mcp";
import { planning } from "@holdfast/planning";
import { LocalFilesystem, ProjectFilesystem } from "@holdfast/workspace";
import { named, pluginsOf } from "../chat/open-chat.js";
import type { LoadedConfig } from "../config/load-config.js";
import { AgentFiles } from "./agent-files.js";

/** Parts that the agents of all editor sessions share. */
export interface EditorAgentParts {
  readonly name: string;
  readonly userId: string | null;
  readonly config: LoadedConfig | null;
  /** Directory of the agent's own files. */
  readonly workspace: string;
  readonly model: Model;
  readonly parts: DistributedStore;
}

/** Time that a running call gets to reach a safe point when its session is closed. */
const DRAIN_MS = 5_000;

const PROMPT =
  "You are a coding agent in the user's editor. The files are those of the project that is open there; paths are relative to it. Be brief.";

/** Returns a function that builds the configured agent for a session of an editor. */
export function editorAgents({
  name,
  userId,
  config: loaded,
  workspace,
  model,
  parts,
}: EditorAgentParts): (session: EditorSession) => Promise<SessionAgent> {
  const config = named(loaded);
  return async (editor) => {
    const disk = new ProjectFilesystem({ root: editor.cwd });
    const own = new LocalFilesystem({ root: workspace });
    const files = new AgentFiles(own, editor.filesystem(disk), disk);
    const builder = HarnessAgent.builder()
      .name(name)
      .model(model)
      .systemPrompt(config.systemPrompt ?? PROMPT)
      .workspace(workspace)
      .filesystem({ kind: files.kind, needs: "process", create: () => files })
      .distributedStore(parts)
      // An editor may go away at any moment; finished steps are kept.
      .persistence("step")
      .tools(...(config.tools ?? []), ...(editor.terminal ? [editor.terminal] : []))
      .use(...plugins(config, editor), editor.plugin);
    await config.configure?.(builder);
    const agent = builder.build();
    return {
      agent,
      modes: ["default", "accept_edits", "explore", "plan", "dont_ask", "bypass"],
      commands: editorCommands(agent, { userId, sessionId: editor.sessionId }),
      close: async () => void (await agent.shutdown({ timeoutMs: DRAIN_MS })),
    };
  };
}

/** Returns the plugins of a chat, plan mode, and the MCP servers of the editor beside those of the config file. */
function plugins(
  config: Parameters<typeof pluginsOf>[0],
  { mcpServers }: EditorSession,
): readonly Plugin[] {
  const chosen = pluginsOf(config);
  const hasPlanning = chosen.some(({ name }) => name === "planning");
  const servers =
    Object.keys(mcpServers).length === 0
      ? []
      : [definePlugin({ ...mcpTools({ servers: mcpServers }), name: "editor-mcp" })];
  return [...chosen, ...(hasPlanning ? [] : [planning()]), ...servers];
}

/** Returns the commands that a person may type in an editor. */
function editorCommands(
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
