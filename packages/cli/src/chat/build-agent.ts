import { compaction } from "@holdfast/compaction";
import {
  type AgentEvent,
  type DistributedStore,
  definePlugin,
  type Model,
  type Plugin,
} from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import type { HoldfastConfig } from "../config/define-config.js";
import { DEFAULT_WORKSPACE } from "../store/choose-store.js";

/** What the agent of a chat is made of. */
export interface AgentRecipe {
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
export async function buildAgent(recipe: AgentRecipe): Promise<HarnessAgent> {
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
