import { type Provider, providers } from "./choices.js";
import { templateFile } from "./template-files.js";

/** Writes `src/model.ts` of a project. That of every provider with a key is made from the one of Anthropic. */
export async function modelModule(provider: Provider): Promise<string> {
  const { key, company, model, contextWindow } = providers[provider];
  if (key === null) return templateFile("provider/offline.ts");
  const text = await templateFile("provider/anthropic.ts");
  return text
    .replaceAll("ANTHROPIC_API_KEY", key)
    .replaceAll("Anthropic", company)
    .replaceAll("anthropic", provider)
    .replace("claude-sonnet-5-5", model)
    .replace("200_000", contextWindow);
}
