import {
  ConfigurationError,
  definePlugin,
  installSignalHandlers,
  type Plugin,
  ReActAgent,
} from "@holdfast/core";
import { assembleHarness, type HarnessAssembly } from "./assemble-harness.js";
import { HarnessAgentBuilder } from "./harness-agent-builder.js";
import type { HarnessAgentOptions, HarnessSettings } from "./harness-options.js";

/**
 * A `ReActAgent` with defaults that keep it alive: state in JSON files, the conversation log in the workspace, and a
 * check at build time that all parts fit together.
 *
 * @example
 * const agent = HarnessAgent.builder().name("assistant").model(model).build();
 * const reply = await agent.call("Hello", { userId: "alice", sessionId: "s-1" });
 */
export class HarnessAgent extends ReActAgent {
  /** The harness's own settings, with defaults filled in. */
  readonly harness: HarnessSettings;
  #removeSignalHandlers: (() => void) | undefined;

  private constructor(assembly: HarnessAssembly) {
    if (!assembly?.engine)
      throw new ConfigurationError(
        "a HarnessAgent is made with HarnessAgent.create(options) or HarnessAgent.builder(), not with new",
      );
    const { engine, settings } = assembly;
    // First of all, and so the last to close: the other plugins may use these parts until then.
    super({ ...engine, plugins: [ownParts(assembly), ...(engine.plugins ?? [])] });
    this.harness = settings;
  }

  /** Starts a configuration. */
  static builder(): HarnessAgentBuilder {
    return new HarnessAgentBuilder(HarnessAgent.create);
  }

  /**
   * Makes an agent from an options object; the builder does the same step by step. Synchronous, without I/O.
   *
   * @throws ConfigurationError with every problem found
   */
  static create(options: HarnessAgentOptions): HarnessAgent {
    const problems: string[] = [];
    const assembly = assembleHarness(options, problems);
    let agent: HarnessAgent | undefined;
    try {
      // Even if there are problems already: the engine may find more.
      agent = new HarnessAgent(assembly);
    } catch (error) {
      if (!ConfigurationError.is(error)) throw error;
      problems.push(...error.problems);
    }
    if (agent === undefined || problems.length > 0) throw new ConfigurationError(problems);
    const { signalHandlers } = assembly.settings;
    if (signalHandlers !== false)
      agent.#removeSignalHandlers = installSignalHandlers(agent, signalHandlers);
    return agent;
  }

  /** Closes the engine and everything the harness made, and removes the signal handlers. */
  override async close(options: { readonly timeoutMs?: number | undefined } = {}): Promise<void> {
    try {
      await super.close(options);
    } finally {
      this.#removeSignalHandlers?.();
    }
  }
}

/** Closes what the harness made itself. */
function ownParts({ ownFilesystem, ownStore }: HarnessAssembly): Plugin {
  return definePlugin({
    name: "harness",
    contract: 1,
    setup: (host) =>
      host.onClose(async () => {
        await ownFilesystem?.close?.();
        await ownStore?.close();
      }),
  });
}
