import type { AdmittedRequest, HandlerOptions } from "../http/endpoint.js";
import type { HandlerSettings } from "../http/handler-settings.js";
import type { ServedAgent } from "../served-agent.js";
import type { AiSdkVersion } from "./ui-chunk.js";

/** Options of `chatHandler`. */
export interface ChatHandlerOptions extends HandlerOptions {
  readonly agent: ServedAgent;
  /** Path of the handler; the routes are below it. @default "/api/chat" */
  readonly path?: string | undefined;
  /** Version of the AI SDK in the browser. @default 6 */
  readonly version?: AiSdkVersion | undefined;
}

/** {@link ChatHandlerOptions} with their defaults. */
export type ChatSettings = ChatHandlerOptions &
  HandlerSettings & { readonly path: string; readonly version: AiSdkVersion };

/** Answers a request for a session, or without one. */
export type ChatRoute = (
  settings: ChatSettings,
  admitted: AdmittedRequest,
  sessionId: string,
) => Promise<Response>;
