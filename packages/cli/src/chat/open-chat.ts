import { userInfo } from "node:os";
import type { AgentEvent } from "@holdfast/core";
import type { HarnessAgent } from "@holdfast/harness";
import type { HoldfastConfig } from "../config/define-config.js";
import { type LoadedConfig, loadConfig } from "../config/load-config.js";
import { CommandError, exitCodes } from "../exit-code.js";
import { type ChosenModel, chooseModel } from "../model/choose-model.js";
import type { OwnerFlags } from "../sessions/session-options.js";
import { type ChosenStore, chooseStore } from "../store/choose-store.js";
import type { Terminal } from "../terminal/terminal.js";
import { buildAgent } from "./build-agent.js";

/** What `chat` was told. */
export interface ChatFlags extends OwnerFlags {
  readonly session?: string | undefined;
  readonly model?: string | undefined;
  readonly message?: readonly string[] | undefined;
}

/** Everything a conversation goes on with. */
export interface Chat {
  readonly terminal: Terminal;
  readonly agent: HarnessAgent;
  readonly store: ChosenStore;
  readonly model: ChosenModel;
  readonly config: LoadedConfig | null;
  readonly userId: string | null;
  /** `/session` changes it. */
  sessionId: string;
  /** Hears events of work that no call waits for. */
  onBackground: (event: AgentEvent) => void;
}

/** Chooses model, store and session, and builds the agent. Whoever gets it closes agent and store. */
export async function openChat(terminal: Terminal, flags: ChatFlags): Promise<Chat> {
  const config = await loadConfig(terminal, flags.config);
  const model = await chooseModel(terminal, flags.model, config);
  const store = await chooseStore(terminal, flags, { config, mayBeNew: true });
  try {
    const chat: Omit<Chat, "agent"> = {
      terminal,
      store,
      model,
      config,
      userId: flags.anonymous ? null : (flags.user ?? loginName(terminal)),
      sessionId: flags.session ?? "default",
      onBackground: () => undefined,
    };
    const agent = await buildAgent({
      flags,
      config: named(config),
      model: model.model,
      parts: store.parts,
      onEvent: (event) => {
        if (event.background) whole.onBackground(event);
      },
    });
    const whole: Chat = Object.assign(chat, { agent });
    return whole;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A config whose `configure` says which file it is of when it fails. */
function named(loaded: LoadedConfig | null): HoldfastConfig {
  const { file = "", config = {} } = loaded ?? {};
  const { configure } = config;
  if (configure === undefined) return config;
  return {
    ...config,
    async configure(builder) {
      try {
        await configure(builder);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new CommandError(exitCodes.usage, `${file} cannot be used: configure: ${reason}`, {
          cause: error,
        });
      }
    },
  };
}

/** Whoever sits at the terminal, so that memory and other sessions are theirs; null where there is no name. */
function loginName({ env }: Terminal): string | null {
  try {
    return userInfo().username;
  } catch {
    return env["USER"] || env["USERNAME"] || null;
  }
}
