import { createInterface } from "node:readline/promises";
import {
  type DistributedStore,
  definePlugin,
  type PluginHost,
  SessionBusyError,
  type Slot,
} from "@holdfast/core";
import { describeSlot, slotKey } from "@holdfast/core/store-kit";
import type { HoldfastConfig } from "../config/define-config.js";
import { loadConfig } from "../config/load-config.js";
import { CommandError, exitCodes } from "../exit-code.js";
import { chooseStore } from "../store/choose-store.js";
import { plural } from "../terminal/format.js";
import { safeText } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { deletingPlugins } from "./deleting-plugins.js";
import { findSlot } from "./find-slot.js";
import type { OwnerFlags } from "./session-options.js";
import { subagentSession } from "./subagent-session.js";

/** Options of `sessions delete`. */
export interface DeleteFlags extends OwnerFlags {
  readonly yes?: boolean | undefined;
}

/** Deletes sessions after confirmation by the user or `--yes`. */
export async function deleteSessions(
  terminal: Terminal,
  sessionIds: readonly string[],
  flags: DeleteFlags,
): Promise<void> {
  if (!flags.yes && !terminal.isInteractive)
    throw new CommandError(
      exitCodes.usage,
      "delete needs a confirmation and there is no terminal: add --yes",
    );
  // Evicted files are in the workspace, which the config file may name.
  const config = await loadConfig(terminal, flags.config);
  const workspace = flags.workspace ?? config?.config.workspace;
  await using store = await chooseStore(terminal, flags, { config });
  const slots: Slot[] = [];
  for (const sessionId of new Set(sessionIds))
    slots.push(await findSlot(store.parts, sessionId, flags));
  if (!flags.yes && !(await agreed(terminal, slots))) {
    terminal.line("Nothing was deleted.");
    return;
  }
  const plugins = await deletingPlugins(config?.config ?? {});
  const ofSubagents: Slot[] = [];
  for (const slot of slots)
    ofSubagents.push(...(await deleteSession(store.parts, slot, { workspace, plugins })));
  if (terminal.isJson) {
    terminal.json({ store: store.url, deleted: slots, ofSubagents });
    return;
  }
  const count = plural(ofSubagents.length, "session");
  const others = ofSubagents.length === 0 ? "" : `, with ${count} of subagents`;
  terminal.line(`Deleted ${plural(slots.length, "session")}${others}.`);
}

async function agreed(terminal: Terminal, slots: readonly Slot[]): Promise<boolean> {
  for (const slot of slots) terminal.line(safeText(describeSlot(slot)));
  const lines = createInterface({ input: terminal.in, output: terminal.out });
  const left = new Promise<string>((resolve, reject) => {
    lines.once("SIGINT", () => {
      terminal.line();
      reject(new CommandError(exitCodes.interrupted, "nothing was deleted"));
    });
    lines.once("close", () => resolve(""));
  });
  const question = `Delete ${slots.length === 1 ? "it" : `these ${slots.length}`} for good? [y/N] `;
  const answer = await Promise.race([lines.question(question), left]).finally(() => lines.close());
  return /^y(es)?$/iu.test(answer.trim());
}

/**
 * Deletes a session with an agent, under the session's gate: its plugins delete what they keep besides state and log. Tasks of
 * its subagents that are not finished are cancelled.
 *
 * @returns the sessions of subagents that were deleted with it
 */
async function deleteSession(
  parts: DistributedStore,
  slot: Slot,
  { workspace, plugins }: Pick<HoldfastConfig, "workspace" | "plugins">,
): Promise<readonly Slot[]> {
  if ((await parts.gate.calls(slot)).length > 0)
    throw new SessionBusyError(
      `${describeSlot(slot)} has a running call; try again when it is done`,
    );
  const { HarnessAgent } = await import("@holdfast/harness");
  const subagent = subagentSession(slot);
  const deleted = new Map<string, Slot>();
  let derive: PluginHost["deriveAgent"] | undefined;
  const agent = HarnessAgent.create({
    name: subagent?.owner ?? slot.agentId,
    model: noModel,
    distributedStore: parts,
    workspace,
    plugins: [
      ...(plugins ?? []),
      definePlugin({
        name: "cli",
        contract: 1,
        setup(host) {
          derive = host.deriveAgent;
          host.onDelete(async (one) => void deleted.set(slotKey(one), one));
        },
      }),
    ],
  });
  try {
    const deleter = subagent === null ? agent : derive?.(subagent);
    const { userId, sessionId } = slot;
    await deleter?.deleteSession({ userId: userId ?? undefined, sessionId });
    deleted.delete(slotKey(slot));
    return [...deleted.values()];
  } finally {
    await agent.close();
  }
}

const noModel = {
  id: "none",
  // biome-ignore lint/correctness/useYield: the model is never called
  async *stream(): AsyncGenerator<never> {
    throw new Error("deleting a session calls no model");
  },
};
