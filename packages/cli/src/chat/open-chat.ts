import { userInfo } from "node:os";
import { compaction } from "@holdfast/compaction";
import {
  type AgentEvent,
  type AgentReply,
  type CallInput,
  type DistributedStore,
  definePlugin,
  type Filesystem,
  type Model,
  type PendingCall,
  type PermissionMode,
  type Plugin,
  type SessionName,
  type Slot,
} from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { permissions } from "@holdfast/permissions";
import { type SessionOfTasks, type SubagentsPlugin, subagents } from "@holdfast/subagents";
import type { HoldfastConfig } from "../config/define-config.js";
import { type LoadedConfig, loadConfig } from "../config/load-config.js";
import { CommandError, exitCodes } from "../exit-code.js";
import { type ChosenModel, chooseModel } from "../model/choose-model.js";
import type { OwnerFlags } from "../sessions/session-options.js";
import { type ChosenStore, chooseStore, DEFAULT_WORKSPACE } from "../store/choose-store.js";
import type { Terminal } from "../terminal/terminal.js";
import { RequestWatch } from "./request-watch.js";
import { RunningTasks } from "./running-tasks.js";
import { switchableModel } from "./switchable-model.js";
import { UsageMeter } from "./usage-meter.js";

/** Options of `chat`. */
export interface ChatFlags extends OwnerFlags {
  readonly session?: string | undefined;
  readonly model?: string | undefined;
  readonly message?: readonly string[] | undefined;
  readonly permissionMode?: PermissionMode | undefined;
  /** Prints line by line, without moving the cursor. */
  readonly plain?: boolean | undefined;
  readonly theme?: "light" | "dark" | undefined;
}

/** Open chat. */
export interface Chat {
  /** Output of commands; the screen puts its own here. */
  terminal: Terminal;
  readonly agent: HarnessAgent;
  readonly store: ChosenStore;
  /** Changed by `/model`. */
  model: ChosenModel;
  readonly config: LoadedConfig | null;
  readonly userId: string | null;
  /** Tasks of the agent's subagents; null when the config brings another plugin of that name. */
  readonly subagents: SubagentsPlugin | null;
  /** Tasks that this process works on. */
  readonly running: RunningTasks;
  readonly usage: UsageMeter;
  readonly requests: RequestWatch;
  /** The events of calls are kept in the store, so that another process can attach to them. */
  readonly hasFeed: boolean;
  /** Changed by `/session`. */
  sessionId: string;
  /** Receives the events of background work. */
  onBackground: (event: AgentEvent) => void;
  /** Returns the agent's filesystem, if it has one. */
  filesystem(): Filesystem | undefined;
}

/** Chooses model, store and session, and builds the agent. The caller closes agent and store. */
export async function openChat(terminal: Terminal, flags: ChatFlags): Promise<Chat> {
  const config = await loadConfig(terminal, flags.config);
  const model = await chooseModel(terminal, flags.model, config);
  const store = await chooseStore(terminal, flags, { config, mayBeNew: true });
  try {
    let filesystem = (): Filesystem | undefined => undefined;
    const plugins = pluginsOf(config?.config ?? {});
    const running = new RunningTasks();
    const chat: Omit<Chat, "agent"> = {
      terminal,
      store,
      model,
      config,
      userId: flags.anonymous ? null : (flags.user ?? loginName(terminal)),
      subagents: plugins.find(hasTasks) ?? null,
      running,
      usage: new UsageMeter(config?.config.price),
      requests: new RequestWatch(),
      hasFeed: store.parts.eventFeed !== undefined,
      sessionId: flags.session ?? "default",
      onBackground: () => undefined,
      filesystem: () => filesystem(),
    };
    // The agent is added to it, so that what `/model` changes here is what the agent sees.
    const whole = chat as Chat;
    const agent = await buildAgent({
      flags,
      config: named(config),
      plugins: [...plugins, chat.requests.plugin],
      model: switchableModel(() => whole.model.model),
      parts: store.parts,
      onEvent: (event) => {
        running.note(event);
        whole.usage.note(event, isHere(whole, event.slot));
        if (event.background) whole.onBackground(event);
      },
      onFilesystem: (found) => {
        filesystem = found;
      },
    });
    Object.assign(whole, { agent });
    if (flags.permissionMode !== undefined)
      await agent.setPermissionMode(sessionOf(whole), flags.permissionMode);
    return whole;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Wraps `configure`, so that its error names the config file. */
export function named(loaded: LoadedConfig | null): HoldfastConfig {
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
export function loginName({ env }: Terminal): string | null {
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
  readonly plugins: readonly Plugin[];
  readonly model: Model;
  readonly parts: DistributedStore;
  onEvent(event: AgentEvent): void;
  onFilesystem(filesystem: () => Filesystem | undefined): void;
}

/** Time limit for updating the long-term memory at the end. */
const MEMORY_TIMEOUT_MS = 30_000;

/** Returns the plugins of a chat: those of the config file, and the default ones that it does not bring. */
export function pluginsOf({ plugins: given = [] }: HoldfastConfig): readonly Plugin[] {
  const own: readonly Plugin[] = [
    compaction(),
    toolResultEviction(),
    memoryFlush({ finishOnClose: true, timeoutMs: MEMORY_TIMEOUT_MS }),
    permissions(),
    subagents(),
  ];
  return [...own.filter(({ name }) => !given.some((plugin) => plugin.name === name)), ...given];
}

/** Recognises the plugin by its methods: that of the config file may come from another copy of the package. */
function hasTasks(plugin: Plugin): plugin is SubagentsPlugin {
  const { name, tasks, pending, cancel, confirm } = plugin as Partial<SubagentsPlugin>;
  const methods = [tasks, pending, cancel, confirm];
  return name === "subagents" && methods.every((method) => typeof method === "function");
}

/**
 * Builds the agent of a chat: with compaction, eviction, memory, permissions, subagents, and file tools that stay within the
 * workspace; without a shell, unless the config file adds one.
 *
 * @throws ConfigurationError
 */
async function buildAgent(options: AgentOptions): Promise<HarnessAgent> {
  const { flags, config, plugins, model, parts } = options;
  const builder = HarnessAgent.builder()
    .name(flags.agent ?? config.agent ?? "assistant")
    .model(model)
    .systemPrompt(config.systemPrompt ?? "You are a helpful assistant in a terminal. Be brief.")
    .workspace(flags.workspace ?? config.workspace ?? DEFAULT_WORKSPACE)
    .distributedStore(parts)
    // A terminal may be closed at any moment; finished steps are kept.
    .persistence("step")
    .tools(...(config.tools ?? []))
    .use(...plugins, listener(options));
  // So that a second chat shows what this one does.
  if (parts.eventFeed !== undefined) builder.eventFeed();
  await config.configure?.(builder);
  return builder.build();
}

/** Observes events as a plugin, because `.onEvent` is left to the config file, and finds the filesystem. */
function listener({ onEvent, onFilesystem }: AgentOptions): Plugin {
  return definePlugin({
    name: "cli",
    contract: 1,
    setup: (host) => {
      host.observe(onEvent);
      onFilesystem(host.optional("filesystem"));
    },
  });
}

/** Returns the name of the chat's session. */
export function sessionOf({ userId, sessionId }: Chat): SessionName & SessionOfTasks {
  return { userId: userId ?? undefined, sessionId };
}

/** Tells whether a slot is that of the chat's session. */
export function isHere({ agent, userId, sessionId }: Chat, slot: Slot): boolean {
  const isOwner = slot.agentId === agent.agentId && slot.userId === userId;
  return isOwner && slot.sessionId === sessionId;
}

/** Returns the tool calls of a reply that wait for a person: for an approval, or for the answer to a question. */
export function asksOf(reply: AgentReply): readonly PendingCall[] {
  return "pending" in reply ? reply.pending.filter(asksPerson) : [];
}

/** Tells whether a person can answer a call that waits; the result of any other comes from elsewhere. */
export function asksPerson({ state, question }: PendingCall): boolean {
  return state === "asking" || question !== undefined;
}

/** Sends a message or answers to the agent and shows the events; resolves when the turn is saved. */
export async function takeTurn(
  chat: Chat,
  input: CallInput,
  show: (event: AgentEvent) => void,
): Promise<AgentReply> {
  const session = sessionOf(chat);
  const run = chat.agent.stream(input, session);
  for await (const event of run) show(event);
  const reply = await run.result;
  // A result from outside cannot be given here, and the wait for one would make the next turn fail.
  if (reply.reason === "tool_suspended" && asksOf(reply).length === 0)
    await chat.agent.interrupt(session);
  return reply;
}
