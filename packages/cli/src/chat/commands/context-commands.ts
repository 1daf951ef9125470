import { formatCount, plural } from "../../terminal/format.js";
import { safeLine } from "../../terminal/safe-text.js";
import { type Chat, sessionOf } from "../open-chat.js";
import type { SlashCommand } from "./slash-command.js";

/** Commands about what the model is sent, and which model it is. */
export const contextCommands: Readonly<Record<string, SlashCommand>> = {
  "/compact": {
    usage: "/compact",
    help: "summarise the older part of the context now",
    run: compact,
  },
  "/tokens": {
    usage: "/tokens",
    help: "what the model is sent, by part, and tokens used",
    run: tokens,
  },
  "/model": {
    usage: "/model [provider/id]",
    help: "the model, or another one from now on",
    run: changeModel,
  },
};

async function compact(chat: Chat): Promise<void> {
  const { terminal, agent } = chat;
  const result = await agent.compact(sessionOf(chat), { force: true });
  if (result.compacted)
    terminal.line(
      `Compacted ${result.messagesBefore} → ${result.messagesAfter} messages, ${formatCount(result.tokensBefore ?? 0)} → ${formatCount(result.tokensAfter ?? 0)} tokens.`,
    );
  else
    terminal.line(safeLine(`Nothing was compacted${result.failure ? `: ${result.failure}` : "."}`));
  chat.usage.contextTokens = result.tokensAfter ?? chat.usage.contextTokens;
}

/** Options with which a compaction never fires, and only counts. */
const countOnly = {
  triggerMessages: 0,
  triggerTokens: Number.MAX_SAFE_INTEGER,
  truncateArgs: false,
  prune: false,
};

/** Counts a whole request as a compaction does; undefined where the agent's compactor does not count. */
async function requestTokens(chat: Chat): Promise<number | undefined> {
  try {
    return (await chat.agent.compact(sessionOf(chat), countOnly)).tokensBefore;
  } catch {
    // A compactor of the config may take other options.
    return undefined;
  }
}

async function tokens(chat: Chat): Promise<void> {
  const { terminal, agent, model, usage } = chat;
  const state = await agent.getAgentState(sessionOf(chat));
  const context = state?.context ?? [];
  const { contextWindow } = model.model;
  const total = await requestTokens(chat);
  if (total === undefined) terminal.line(`context: ${plural(context.length, "message")}`);
  else {
    const window =
      contextWindow === undefined
        ? ""
        : ` of ${formatCount(contextWindow)} tokens (${Math.round((100 * total) / contextWindow)} %)`;
    terminal.line(`the next request: about ${formatCount(total)}${window || " tokens"}`);
    const parts = chat.requests.parts(total, context);
    const width = formatCount(total).length;
    const row = (name: string, count: number, more = ""): void =>
      terminal.line(`  ${name.padEnd(14)}${formatCount(count).padStart(width)}${more}`);
    row("system prompt", parts.system);
    row("tools", parts.tools);
    row("messages", parts.messages, `  (${plural(context.length, "message")})`);
  }
  const money = usage.money === null ? "" : `, $${usage.money.toFixed(4)}`;
  terminal.line(
    `since the start: ${formatCount(usage.inputTokens)} tokens in, ${formatCount(usage.outputTokens)} out${money}`,
  );
}

async function changeModel(chat: Chat, argument: string): Promise<void> {
  const { terminal, config } = chat;
  if (argument !== "") {
    // Packages of providers are looked for only where one is asked for.
    const { chooseModel } = await import("../../model/choose-model.js");
    chat.model = await chooseModel(terminal, argument, config);
  }
  const { model, source } = chat.model;
  const window =
    model.contextWindow === undefined ? "" : `, ${formatCount(model.contextWindow)} tokens`;
  terminal.line(
    safeLine(`model ${model.id}${window}${argument === "" ? ` (${source})` : ", from now on"}`),
  );
}
