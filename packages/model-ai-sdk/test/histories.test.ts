import fc from "fast-check";
import { expect, test } from "vitest";
import { fromAiSdk } from "../src/index.js";
import { histories } from "./histories.js";
import { promptProblems } from "./prompt-problems.js";
import { providers } from "./providers.js";
import { recordingModel } from "./recording-model.js";
import { chunksOf, request, weather } from "./requests.js";

const isLong = process.env["HOLDFAST_LONG"] === "1";

for (const provider of providers)
  test(`${provider.name} takes every history there can be`, async () => {
    await using server = await provider.start(() => ({ text: "Fine." }));
    const sdkModel = provider.create(server.url);
    const model = fromAiSdk(sdkModel);
    const owners = [model.id, "another.chat/model"];
    await fc.assert(
      fc.asyncProperty(histories(owners), fc.boolean(), async (messages, hasTools) => {
        const earlier = server.requests.length;
        const chunks = await chunksOf(
          model,
          request({ messages, tools: hasTools ? [weather] : [] }),
        );
        expect(chunks.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
        // Only forged metadata of its own may cost a second request.
        if (!JSON.stringify(messages).includes(JSON.stringify(model.id)))
          expect(server.requests).toHaveLength(earlier + 1);
      }),
      { numRuns: isLong ? 500 : 8 },
    );
  });

for (const version of ["v2", "v3", "v4"] as const)
  for (const name of ["anthropic.messages", "openai.responses", "google.vertex.chat", "xai.chat"])
    test(`prompts of ${version} for ${name} have the form of their generation`, async () => {
      await fc.assert(
        fc.asyncProperty(histories([`${name}/m`, "other/m"]), async (messages) => {
          const sdkModel = recordingModel({
            version,
            provider: name,
            supportedUrls: { "image/*": [/^https:/] },
          });
          await chunksOf(fromAiSdk(sdkModel), request({ messages }));
          expect(promptProblems(version, sdkModel.calls[0].prompt)).toEqual([]);
        }),
        { numRuns: isLong ? 2_000 : 25 },
      );
    });
