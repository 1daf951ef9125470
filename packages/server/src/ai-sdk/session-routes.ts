import { type SlotInfo, userMessage } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import { type AdmittedRequest, notFound } from "../http/endpoint.js";
import { Refusal } from "../http/refusal.js";
import { ChatSession } from "./chat-session.js";
import type { ChatRoute, ChatSettings } from "./chat-settings.js";

/** Routes about sessions and running calls. */
export const sessionRoutes: Readonly<Record<string, ChatRoute>> = {
  "GET /": listSessions,
  "GET /:id": showSession,
  "PATCH /:id": renameSession,
  "DELETE /:id": deleteSession,
  "GET /:id/messages": listMessages,
  "POST /:id/stop": stopCall,
  "DELETE /:id/stop": stopCall,
  "POST /:id/steer": steerCall,
};

async function listSessions(
  { agent }: ChatSettings,
  { user, url }: AdmittedRequest,
): Promise<Response> {
  const limit = countOf(url, "limit", 50, 200);
  const { userId } = user;
  const text = url.searchParams.get("text") ?? undefined;
  const cursor = url.searchParams.get("cursor") ?? undefined;
  const page = await agent.sessions({ userId, limit, text, cursor });
  return Response.json({ sessions: page.slots.map(listed), cursor: page.cursor });
}

function listed({ slot, updatedAt, messages, info }: SlotInfo): object {
  const { title, metadata, waiting = false, unfinished = false } = info ?? {};
  return { id: slot.sessionId, title, metadata, updatedAt, messages, waiting, unfinished };
}

async function showSession(
  { agent, version }: ChatSettings,
  { user }: AdmittedRequest,
  sessionId: string,
): Promise<Response> {
  const facts = await new ChatSession(agent, version, user.userId, sessionId).facts();
  if (!facts) throw notFound();
  return Response.json(facts);
}

async function listMessages(
  { agent, version }: ChatSettings,
  { user, url }: AdmittedRequest,
  sessionId: string,
): Promise<Response> {
  const limit = countOf(url, "limit", 500, 2_000);
  const before = url.searchParams.has("before") ? countOf(url, "before", 0) : undefined;
  const session = new ChatSession(agent, version, user.userId, sessionId);
  const page = await session.messages({ limit, before });
  const headers = new Headers({ "cache-control": "no-store" });
  if (page.before !== undefined) headers.set("x-before", String(page.before));
  if (page.callId !== undefined) headers.set("x-call-id", page.callId);
  return Response.json(page.messages, { headers });
}

const renameSchema = s.strictObject({ title: s.string().trim().min(1).max(200).nullable() });

async function renameSession(
  { agent }: ChatSettings,
  admitted: AdmittedRequest,
  sessionId: string,
): Promise<Response> {
  const { title } = parsed(renameSchema, await admitted.json());
  await agent.setSession(admitted.user.userId, sessionId, { title });
  return new Response(null, { status: 204 });
}

async function deleteSession(
  { agent }: ChatSettings,
  { user }: AdmittedRequest,
  sessionId: string,
): Promise<Response> {
  if (!(await agent.deleteSession(user.userId, sessionId))) throw notFound();
  return new Response(null, { status: 204 });
}

async function stopCall(
  { agent }: ChatSettings,
  admitted: AdmittedRequest,
  sessionId: string,
): Promise<Response> {
  if (admitted.request.method === "POST") await admitted.json();
  return Response.json({ result: await agent.interrupt(admitted.user.userId, sessionId) });
}

const steerSchema = s.strictObject({ text: s.string().trim().min(1) });

async function steerCall(
  { agent }: ChatSettings,
  admitted: AdmittedRequest,
  sessionId: string,
): Promise<Response> {
  const { text } = parsed(steerSchema, await admitted.json());
  const message = userMessage(text);
  const result = await agent.steer(admitted.user.userId, sessionId, message);
  return Response.json({ result, messageId: message.id });
}

/** @throws Refusal 400 */
function parsed<T>(schema: s.Schema<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (!result.success)
    throw new Refusal(400, "INVALID_REQUEST", "The request cannot be understood.");
  return result.data;
}

/** @throws Refusal 400 for what is not a whole number */
function countOf(url: URL, name: string, other: number, max = Number.MAX_SAFE_INTEGER): number {
  const text = url.searchParams.get(name);
  const count = text === null ? other : Number(text);
  if (!Number.isSafeInteger(count) || count < 0)
    throw new Refusal(400, "INVALID_REQUEST", `${name} must be a whole number.`);
  return Math.min(count, max);
}
