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

/** What the agent of a chat is made of. */
interface AgentRecipe {
  readonly flags: { readonly agent?: string | undefined; readonly workspace?: string | undefined };
  readonly config: HoldfastConfig;
  readonly model: Model;
  readonly parts: DistributedStore;
  onEvent(event: AgentEvent): void;
}

/** Longest wait at the end for what is worth remembering. */
const MEMORY_TIMEOUT_MS = 30_000;

/**
 * The agent of a chat: everything that keeps a long conversation alive, file tools that stay within the workspace, and no
 * shell, because nobody could be asked before a command runs.
 *
 * @throws ConfigurationError
 */
async function buildAgent(recipe: AgentRecipe): Promise<HarnessAgent> {
  const { flags, config, model, parts } = recipe;
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
    // A terminal may be closed at any moment: what was done until then is kept.
    .persistence("step")
    .tools(...(config.tools ?? []))
    .use(...own, ...given, listener(recipe));
  await config.configure?.(builder);
  return builder.build();
}

/** A plugin, and not `.onEvent`: that one is the config's. */
function listener({ onEvent }: AgentRecipe): Plugin {
  return definePlugin({
    name: "cli",
    contract: 1,
    setup: (host) => host.observe(onEvent),
  });
}

/** Says something to the agent and shows what happens; ends when it is saved. */
export async function takeTurn(
  { agent, userId, sessionId }: Chat,
  text: string,
  show: (event: AgentEvent) => void,
): Promise<AgentReply> {
  const session = { userId: userId ?? undefined, sessionId };
  const run = agent.stream(text, session);
  for await (const event of run) show(event);
  const reply = await run.result;
  // There is nobody here who could answer for a tool; left open, the calls would refuse whatever is said next.
  if ("pending" in reply) await agent.interrupt(session);
  return reply;
}
