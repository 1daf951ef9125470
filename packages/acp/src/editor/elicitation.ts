import { randomUUID } from "node:crypto";
import {
  type CreateElicitationRequest,
  CreateElicitationResponse,
  type ElicitationSchema,
  methods,
} from "@agentclientprotocol/sdk";
import type { JsonObject } from "@holdfast/core";
import type { QuestionAnswer, ToolQuestion } from "@holdfast/core/plugin-kit";
import type { EditorClient, EditorRequestOptions } from "./editor-client.js";
import { EditorError } from "./editor-error.js";

/** Answer of a person. */
export type ElicitationAnswer = Omit<QuestionAnswer, "toolCallId">;

/** Asks a person in the editor; declines where the editor does not offer such a question, or refuses it. */
export async function elicit(
  client: EditorClient,
  sessionId: string,
  question: ToolQuestion,
  options: EditorRequestOptions,
): Promise<ElicitationAnswer> {
  const request = requestOf(client, sessionId, question);
  if (request === null) return { action: "decline" };
  try {
    const answer = await client.request(methods.client.elicitation.create, request, options);
    if (CreateElicitationResponse.isAccept(answer))
      return { action: "accept", ...(answer.content && { content: answer.content as JsonObject }) };
    return { action: answer.action === "cancel" ? "cancel" : "decline" };
  } catch (error) {
    if (EditorError.is(error) && error.reason === "refused") return { action: "decline" };
    throw error;
  }
}

/** Returns the request that asks the question; null where the editor does not offer its kind. */
function requestOf(
  { capabilities: { elicitation } }: EditorClient,
  sessionId: string,
  { message, schema, url }: ToolQuestion,
): CreateElicitationRequest | null {
  if (url !== undefined)
    return elicitation?.url
      ? { mode: "url", sessionId, message, url, elicitationId: randomUUID() }
      : null;
  if (!elicitation?.form) return null;
  const requestedSchema = {
    ...(schema ?? { properties: {} }),
    type: "object",
  } as ElicitationSchema;
  return { mode: "form", sessionId, message, requestedSchema };
}
