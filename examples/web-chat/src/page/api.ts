import type { ChatMessage } from "./chat-message.js";

/** Path at which the chat handler answers. */
export const api = "/api/chat";

/** Session of the sidebar. */
export interface SessionEntry {
  readonly id: string;
  readonly title?: string;
  readonly updatedAt?: string;
  /** True while a tool call of it waits for an answer. */
  readonly waiting?: boolean;
}

/** Answer of a person to a tool call that asks. */
export interface Answer {
  readonly approve: boolean;
  /** Told to the agent when denied. */
  readonly reason?: string;
  /** Input to run the call with, instead of the agent's. */
  readonly input?: unknown;
  /** Remembers the rules that were suggested, for this session or for all of the user's. */
  readonly remember?: "session" | "user";
}

/** Answer of a person to the question of a tool. */
export interface QuestionReply {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, unknown>>;
  /** Number of the question that was answered. */
  readonly number?: number;
}

/**
 * Fetches; being asked to wait, or a proxy that found no server, counts as a lost connection.
 *
 * @throws TypeError when the connection failed; the page then tries again by itself
 */
export async function reach(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  if ([429, 502, 503, 504].includes(response.status))
    throw new TypeError(`network error: ${response.status}`);
  return response;
}

/** Most recently updated first. */
export async function listSessions(): Promise<readonly SessionEntry[]> {
  const { sessions } = await json<{ sessions: SessionEntry[] }>(api);
  // One that is saved while the list is made may come twice.
  return sessions.filter(({ id }, at) => sessions.findIndex((other) => other.id === id) === at);
}

/** Session as the server has it. */
export interface History {
  /** Messages, without the reply that is being written right now. */
  readonly messages: ChatMessage[];
  /** Call that writes a reply right now, in whichever process. */
  readonly callId: string | null;
}

export async function loadHistory(id: string): Promise<History> {
  const response = await reach(address(id, "/messages"));
  if (!response.ok) throw new Error(await response.text());
  const messages = (await response.json()) as ChatMessage[];
  return { messages, callId: response.headers.get("x-call-id") };
}

/** Returns the call that writes a reply right now; null when there is none. */
export async function runningCall(id: string): Promise<string | null> {
  const response = await reach(address(id));
  if (!response.ok) return null;
  const { callId } = (await response.json()) as { callId: string | null };
  return callId;
}

export async function rename(id: string, title: string): Promise<void> {
  await json(address(id), "PATCH", { title });
}

export async function remove(id: string): Promise<void> {
  await json(address(id), "DELETE");
}

/** Stops the reply that is being written; what was written stays. */
export async function stop(id: string): Promise<void> {
  await json(address(id, "/stop"), "POST", {});
}

/**
 * Gives words to the reply that is being written.
 *
 * @returns `queued` when it ended meanwhile: they are read with the next message; false when nothing was being written
 */
export async function steer(id: string, text: string): Promise<"steered" | "queued" | false> {
  const { result } = await json<{ result: "steered" | "queued" | false }>(
    address(id, "/steer"),
    "POST",
    { text },
  );
  return result;
}

function address(id: string, rest = ""): string {
  return `${api}/${encodeURIComponent(id)}${rest}`;
}

async function json<T>(url: string, method = "GET", body?: unknown): Promise<T> {
  const response = await reach(url, {
    method,
    ...(body !== undefined && {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  });
  if (!response.ok) throw new Error(await response.text());
  return (response.status === 204 ? undefined : await response.json()) as T;
}
