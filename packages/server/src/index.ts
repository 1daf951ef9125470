export type { AllowedOrigins } from "./http/cors.js";
export type { Handler, HandlerOptions, IdentifiedUser, Identify } from "./http/endpoint.js";
export type { RateLimit } from "./http/rate-limiter.js";
export type { ErrorText } from "./http/refusal.js";
export { type NodeRequest, nodeListener } from "./node-listener.js";
export type { ServedAgent } from "./served-agent.js";
