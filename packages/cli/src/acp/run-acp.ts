import { homedir } from "node:os";
import { join } from "node:path";
import { serveAcp, stdioStream } from "@holdfast/acp";
import { loginName } from "../chat/open-chat.js";
import { loadConfig } from "../config/load-config.js";
import { errorText } from "../exit-code.js";
import { chooseModel } from "../model/choose-model.js";
import type { OwnerFlags } from "../sessions/session-options.js";
import { chooseStore } from "../store/choose-store.js";
import type { Terminal } from "../terminal/terminal.js";
import { editorAgents } from "./editor-agent.js";
import { ReservedOutput } from "./reserved-output.js";

/** Options of `acp`. */
export interface AcpFlags extends OwnerFlags {
  readonly model?: string | undefined;
}

/** Serves the editor at the other end of stdin and stdout until it goes away, or a signal ends the command. */
export async function runAcp(terminal: Terminal, flags: AcpFlags): Promise<void> {
  using output = new ReservedOutput(terminal.out);
  const config = await loadConfig(terminal, flags.config);
  const model = await chooseModel(terminal, flags.model, config);
  // The directory that an editor starts its agents in says nothing; sessions are found from every project.
  const workspace = flags.workspace ?? config?.config.workspace ?? defaultWorkspace(terminal);
  await using store = await chooseStore(
    terminal,
    { ...flags, workspace },
    { config, mayBeNew: true },
  );
  const name = flags.agent ?? config?.config.agent ?? "assistant";
  const userId = flags.anonymous ? null : (flags.user ?? loginName(terminal));
  const { parts } = store;
  const server = serveAcp(
    {
      name,
      userId,
      agentFor: editorAgents({ name, userId, config, workspace, model: model.model, parts }),
      onError: (error) => terminal.warn(`holdfast: ${errorText(error, terminal.env)}`),
      ...(config?.config.acp?.auth && { auth: config.config.acp.auth }),
    },
    stdioStream({ input: terminal.in, output: output.stream }),
  );
  const end = (): void => void server.close();
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, end);
  await server.closed;
  for (const signal of signals) process.off(signal, end);
}

function defaultWorkspace({ env }: Terminal): string {
  const home = env["HOLDFAST_STATE_HOME"];
  return home ? join(home, "workspace") : join(homedir(), ".holdfast", "workspace");
}
