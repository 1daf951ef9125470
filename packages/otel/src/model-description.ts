/** Provider and name of a model in spans and metrics. */
export interface ModelDescription {
  /** `gen_ai.provider.name` */
  readonly provider: string;
  /** `gen_ai.request.model` */
  readonly name: string;
}

/** Names in the conventions of providers that go by other names elsewhere. */
const wellKnown: ReadonlyMap<string, string> = new Map([
  ["amazon-bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
  ["azure-openai", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["google", "gcp.gen_ai"],
  ["google.generative-ai", "gcp.gemini"],
  ["google.vertex", "gcp.vertex_ai"],
  ["mistral", "mistral_ai"],
  ["moonshotai", "moonshot_ai"],
  ["vertex", "gcp.vertex_ai"],
  ["xai", "x_ai"],
]);

/**
 * Reads a model's id as `provider/model`, the form `fromAiSdk` gives it: `openai.responses/gpt-5` is `gpt-5` of `openai`.
 * An id without a slash is a name whose provider is `unknown`.
 */
export function modelDescription(id: string): ModelDescription {
  const slash = id.indexOf("/");
  if (slash <= 0 || slash === id.length - 1) return { provider: "unknown", name: id };
  return { provider: providerName(id.slice(0, slash)), name: id.slice(slash + 1) };
}

/** Strips the interface that a provider package may add: `anthropic.messages`, `google.vertex.chat`. */
function providerName(given: string): string {
  const parts = given.split(".");
  for (let length = parts.length; length > 0; length--) {
    const known = wellKnown.get(parts.slice(0, length).join("."));
    if (known !== undefined) return known;
  }
  return parts[0] as string;
}
