import type { WireServer } from "@holdfast/provider-rigs";

/** A response: the events of a stream, or one body. */
export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the formats differ by provider.
  readonly body: any;
  // biome-ignore lint/suspicious/noExplicitAny: the formats differ by provider.
  readonly events: readonly any[];
}

/** A provider's API as its tests use it. */
export interface Api {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const anthropic: Api = {
  path: "/messages",
  headers: { "x-api-key": "key", "anthropic-version": "2023-06-01" },
};
export const openAi: Api = { path: "/responses", headers: { authorization: "Bearer key" } };
export const openAiChat: Api = { ...openAi, path: "/chat/completions" };
export const google: Api = {
  path: "/models/gemini-3-pro:streamGenerateContent?alt=sse",
  headers: { "x-goog-api-key": "key" },
};

/** Sends a request, and reads all of the answer. */
export async function ask(server: WireServer, api: Api, body: unknown): Promise<Asked> {
  const response = await post(server, api, body);
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: isStream ? undefined : JSON.parse(text),
    events: isStream ? eventsIn(text) : [],
  };
}

/** Sends a request, and leaves the answer to be read. */
export function post(
  server: WireServer,
  { path, headers }: Api,
  body: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

/** The data of the events in a piece of an event stream. */
export function eventsIn(text: string): unknown[] {
  return text
    .split(/\r?\n\r?\n/)
    .flatMap((event) => event.match(/^data: (.*)$/m)?.slice(1) ?? [])
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data));
}
