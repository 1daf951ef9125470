import type { PermissionMode } from "@holdfast/core";
import { plural } from "../terminal/format.js";
import { safeLine } from "../terminal/safe-text.js";
import { type Chat, sessionOf } from "./open-chat.js";

/** First document of a chat with `--json`. */
export interface ChatStart {
  readonly type: "chat_start";
  readonly model: string;
  readonly modelSource: string;
  readonly store: string;
  readonly storeSource: string;
  readonly config: string | null;
  readonly agentId: string;
  readonly userId: string | null;
  readonly sessionId: string;
  /** Messages in the context; 0 for a new session. */
  readonly messages: number;
  readonly hasSummary: boolean;
  /** Mode that was set for the session; null when it has the agent's own. */
  readonly permissionMode: PermissionMode | null;
}

/** Describes the chat and its session. */
export async function chatStart(chat: Chat): Promise<ChatStart> {
  const { agent, store, model, config, userId, sessionId } = chat;
  const state = await agent.getAgentState(sessionOf(chat));
  return {
    type: "chat_start",
    model: model.model.id,
    modelSource: model.source,
    store: store.url,
    storeSource: store.source,
    config: config?.file ?? null,
    agentId: agent.agentId,
    userId,
    sessionId,
    messages: state?.context.length ?? 0,
    hasSummary: state?.summary !== undefined && state?.summary !== null,
    permissionMode: state?.permissionContext.isModeSet ? state.permissionContext.mode : null,
  };
}

/** Formats a {@link ChatStart} in lines. */
export function greeting(start: ChatStart, isOffline: boolean): readonly string[] {
  const lines = [`model ${start.model} (${start.modelSource})`];
  if (isOffline)
    lines.push(
      "this model is a script; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY, or use --model, for a real one",
    );
  if (start.config !== null) lines.push(`config ${start.config}`);
  lines.push(`store ${start.store} (${start.storeSource})`, sessionLine(start));
  return lines.map(safeLine);
}

/** Formats the session and its size in one line. */
export function sessionLine(start: ChatStart): string {
  const whose = start.userId === null ? "without a user" : `of ${start.userId}`;
  const earlier = start.hasSummary ? ", including a summary of earlier ones" : "";
  const extent =
    start.messages === 0 ? "new" : `continues, ${plural(start.messages, "message")}${earlier}`;
  const mode = start.permissionMode ?? "default";
  const freedom = mode === "default" ? "" : `; permission mode ${mode}`;
  return safeLine(
    `session ${start.sessionId} ${whose}, agent ${start.agentId}: ${extent}${freedom}`,
  );
}
