import { userInfo } from "node:os";
import { compaction } from "@holdfast/compaction";
import {
  type AgentEvent,
  type AgentReply,
  type DistributedStore,
  definePlugin,
  type Model,
  type Plugin,
} from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import type { HoldfastConfig } from "../config/define-config.js";
import { type LoadedConfig, loadConfig } from "../config/load-config.js";
import { CommandError, exitCodes } from "../exit-code.js";
import { type ChosenModel, chooseModel } from "../model/choose-model.js";
import type { OwnerFlags } from "../sessions/session-options.js";
import { type ChosenStore, chooseStore, DEFAULT_WORKSPACE } from "../store/choose-store.js";
import type { Terminal } from "../terminal/terminal.js";

/** Options of `chat`. */
export interface ChatFlags extends OwnerFlags {
  readonly session?: string | undefined;
  readonly model?: string | undefined;
  readonly message?: readonly string[] | undefined;
}

/** Open chat. */
export interface Chat {
  readonly terminal: Terminal;
  readonly agent: HarnessAgent;
  readonly store: ChosenStore;
  readonly model: ChosenModel;
  readonly config: LoadedConfig | null;
  readonly userId: string | null;
  /** Changed by `/session`. */
  sessionId: string;
  /** Receives the events of background work. */
  onBackground: (event: AgentEvent) => void;
}

/** Chooses model, store and session, and builds the agent. The caller closes agent and store. */
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

/** Wraps `configure`, so that its error names the config file. */
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

/** Returns the login name, under which memory and sessions are kept; null where there is none. */
function loginName({ env }: Terminal): string | null {
  try {
    return userInfo().username;
  } catch {
    return env["USER"] || env["USERNAME"] || null;
  }
}

/** Options of {@link buildAgent}. */
interface AgentOptions {
  readonly flags: { readonly agent?: string | undefined; readonly workspace?: string | undefined };
  readonly config: HoldfastConfig;
  readonly model: Model;
  readonly parts: DistributedStore;
  onEvent(event: AgentEvent): void;
}

/** Time limit for updating the long-term memory at the end. */
const MEMORY_TIMEOUT_MS = 30_000;

/**
 * Builds the agent of a chat: with compaction, eviction, memory and file tools that stay within the workspace; without a
 * shell, because nobody could approve a command before it runs.
 *
 * @throws ConfigurationError
 */
async function buildAgent(options: AgentOptions): Promise<HarnessAgent> {
  const { flags, config, model, parts } = options;
  const given = config.plugins ?? [];
  const own: readonly Plugin[] = [
    compaction(),
    toolResultEviction(),
    memoryFlush({ finishOnClose: true, timeoutMs: MEMORY_TIMEOUT_MS }),
  ].filter(({ name }) => !given.some((plugin) => plugin.name === name));
  const builder = HarnessAgent.builder()
    .name(flags.agent ?? config.agent ?? "assistant")
    .model(model)
    .systemPrompt(config.systemPrompt ?? "You are a helpful assistant in a terminal. Be brief.")
    .workspace(flags.workspace ?? config.workspace ?? DEFAULT_WORKSPACE)
    .distributedStore(parts)
    // A terminal may be closed at any moment; finished steps are kept.
    .persistence("step")
    .tools(...(config.tools ?? []))
    .use(...own, ...given, listener(options));
  await config.configure?.(builder);
  return builder.build();
}

/** Observes events as a plugin; `.onEvent` is left to the config file. */
function listener({ onEvent }: AgentOptions): Plugin {
  return definePlugin({
    name: "cli",
    contract: 1,
    setup: (host) => host.observe(onEvent),
  });
}

/** Sends a message to the agent and shows the events; resolves when the turn is saved. */
export async function takeTurn(
  { agent, userId, sessionId }: Chat,
  text: string,
  show: (event: AgentEvent) => void,
): Promise<AgentReply> {
  const session = { userId: userId ?? undefined, sessionId };
  const run = agent.stream(text, session);
  for await (const event of run) show(event);
  const reply = await run.result;
  // Nobody can approve a tool call here, and a pending one would make the next turn fail.
  if ("pending" in reply) await agent.interrupt(session);
  return reply;
}
