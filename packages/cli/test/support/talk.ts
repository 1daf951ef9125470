import type { DistributedStore, Plugin, Tool } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { type ReplyFunction, type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { openStore } from "../../src/store/open-store.js";

/** Whose conversation, and what is said in it. */
export interface Talk {
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly session: string;
  readonly says: readonly string[];
  readonly replies?: readonly ScriptedReply[] | ReplyFunction | undefined;
  readonly plugins?: readonly Plugin[] | undefined;
  readonly tools?: readonly Tool[] | undefined;
}

/** Opens a store for a moment. */
export async function withStore<T>(
  url: string,
  use: (parts: DistributedStore) => Promise<T>,
): Promise<T> {
  const store = await openStore(url);
  try {
    return await use(store.parts);
  } finally {
    await store.close();
  }
}

/** Has conversations with scripted agents on the store that a URL names. */
export async function talk(
  store: { readonly url: string; readonly workspace: string },
  ...talks: readonly Talk[]
): Promise<void> {
  await withStore(store.url, async (distributedStore) => {
    for (const { agent: name = "assistant", user, session, says, ...rest } of talks) {
      const agent = HarnessAgent.create({
        name,
        model: scriptedModel(rest.replies ?? (() => "As you say.")),
        distributedStore,
        workspace: store.workspace,
        plugins: rest.plugins ?? [],
        tools: rest.tools ?? [],
      });
      for (const text of says) await agent.call(text, { userId: user, sessionId: session });
      await agent.close();
    }
  });
}
