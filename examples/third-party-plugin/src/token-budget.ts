import { definePlugin, HoldfastError, type Plugin, StateConflictError } from "@holdfast/core";

declare module "@holdfast/core" {
  interface ErrorCodes {
    BUDGET_SPENT: true;
  }
}

/** Refuses the requests of users who have spent `limit` tokens, over all their sessions and all processes. */
export function tokenBudget({ limit }: { readonly limit: number }): Plugin {
  return definePlugin({
    name: "token-budget",
    contract: 1,
    setup(host) {
      const values = host.require("keyValue");
      const namespace = ["token-budget", host.agent.agentId];
      const spentBy = async (userId: string) => {
        const stored = await values.get(namespace, userId);
        return { tokens: Number(stored?.value ?? 0), expected: stored?.version ?? null };
      };
      const add = async (userId: string, more: number): Promise<void> => {
        const { tokens, expected } = await spentBy(userId);
        try {
          await values.put(namespace, userId, tokens + more, { expected });
        } catch (error) {
          if (!StateConflictError.is(error)) throw error;
          await add(userId, more); // another call was faster: add to what it stored
        }
      };
      host.use({
        name: "token-budget",
        async *onModelCall({ slot: { userId } }, next) {
          if (userId !== null && (await spentBy(userId)).tokens >= limit)
            throw new HoldfastError("BUDGET_SPENT", `user ${userId} has spent ${limit} tokens`);
          for await (const chunk of next()) {
            if (userId !== null && chunk.type === "finish")
              await add(userId, chunk.usage.inputTokens + chunk.usage.outputTokens);
            yield chunk;
          }
        },
      });
      host.onDeleteUser(async (userId) => {
        await values.delete(namespace, userId);
      });
    },
  });
}
