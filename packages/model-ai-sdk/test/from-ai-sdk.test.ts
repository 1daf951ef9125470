import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { LanguageModelV2 } from "@ai-sdk/provider-v2";
import type { LanguageModelV4 } from "@ai-sdk/provider-v4";
import { ConfigurationError } from "@holdfast/core";
import { expect, expectTypeOf, test } from "vitest";
import { type AiSdkModel, fromAiSdk } from "../src/index.js";
import { recordingModel } from "./recording-model.js";

test("models of all three generations are accepted by type", () => {
  expectTypeOf<LanguageModelV2>().toExtend<AiSdkModel>();
  expectTypeOf<LanguageModelV3>().toExtend<AiSdkModel>();
  expectTypeOf<LanguageModelV4>().toExtend<AiSdkModel>();
  expectTypeOf<string>().not.toExtend<AiSdkModel>();
});

test("a model is named after its provider and its id, unless it is given a name", () => {
  const sdkModel = recordingModel({ provider: "openai.responses", modelId: "gpt-5" });
  expect(fromAiSdk(sdkModel).id).toBe("openai.responses/gpt-5");
  expect(fromAiSdk(sdkModel, { id: "smart" }).id).toBe("smart");
});

test("the window is what the program says it is", () => {
  expect(fromAiSdk(recordingModel(), { contextWindow: 200_000 }).contextWindow).toBe(200_000);
  expect(fromAiSdk(recordingModel()).contextWindow).toBeUndefined();
});

test.each([
  ["anthropic/claude-sonnet-4-5", /"anthropic\/claude-sonnet-4-5".*pass the model object/s],
  [undefined, /undefined: pass the model object/],
  [null, /null: pass/],
  [{}, /no specificationVersion/],
  [() => {}, /call it with a model id/],
  [Promise.resolve(), /promise: await it/],
  [{ ...recordingModel(), specificationVersion: "v1" }, /"v1", and v2, v3 and v4 are known/],
  [{ ...recordingModel(), specificationVersion: {} }, /specificationVersion is an object, and v2/],
  [{ specificationVersion: "v3", doGenerate() {} }, /no language model/],
])("%s is no model, and the error says what is", (model, message) => {
  const build = () => fromAiSdk(model as never);
  expect(build).toThrow(ConfigurationError);
  expect(build).toThrow(message);
});

test.each([
  [{ contextWindow: 0 }, /option contextWindow is 0/],
  [{ promptCache: "always" }, /option promptCache is "always"/],
  [{ settings: { temprature: 1 } }, /temprature/],
  [{ idleTimeoutMs: -1 }, /option idleTimeoutMs is -1/],
  [{ overflowPatterns: ["too long"] }, /option overflowPatterns.0 is "too long"/],
  [{ timeout: 5 }, /timeout/],
])("%o is refused when the model is made", (options, message) => {
  const build = () => fromAiSdk(recordingModel(), options as never);
  expect(build).toThrow(ConfigurationError);
  expect(build).toThrow(message);
});
