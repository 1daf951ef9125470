import { compaction } from "@holdfast/compaction";
import { type AgentEvent, type AgentStateStore, type TokenCounter, tool } from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent } from "@holdfast/harness";
import type { ScriptedModel } from "@holdfast/testing";
import { z } from "zod";
import { wholeLedger } from "./ledger.js";

/** No request has this many tokens. */
export const triggerTokens = 10_000;

/** Parts with which the agent is put together. */
export interface BookkeeperParts {
  readonly model: ScriptedModel;
  readonly counter: TokenCounter;
  readonly store: AgentStateStore;
  readonly workspace: string;
  onEvent(event: AgentEvent): void;
}

/** The agent: the two plugins are all that keeps its context small. */
export function bookkeeper(parts: BookkeeperParts): HarnessAgent {
  return HarnessAgent.builder()
    .name("bookkeeper")
    .model(parts.model)
    .systemPrompt("You keep the books of a small company.")
    .workspace(parts.workspace)
    .stateStore(parts.store)
    .tokenCounter(parts.counter)
    .tools(bookEntry(), fetchLedger)
    .use(
      compaction({
        triggerTokens,
        keepTokens: 3_000,
        truncateArgs: { keepMessages: 12, maxArgLength: 500 },
      }),
    )
    .use(toolResultEviction())
    .onEvent((event) => parts.onEvent(event))
    .build();
}

function bookEntry(): ReturnType<typeof tool> {
  let entries = 0;
  let total = 0;
  return tool({
    name: "book_entry",
    description: "Books an invoice.",
    input: z.object({
      invoice: z.string(),
      account: z.string(),
      amount: z.number(),
      memo: z.string(),
    }),
    execute({ invoice, account, amount }) {
      total += amount;
      return `Booked as entry ${++entries} for invoice ${invoice}: ${amount.toFixed(2)} EUR on ${account}, which now has ${total.toFixed(2)} EUR.`;
    },
  });
}

const fetchLedger = tool({
  name: "fetch_ledger",
  description: "Fetches the whole ledger of the last ten years.",
  input: z.object({}),
  readOnly: true,
  execute: wholeLedger,
});
