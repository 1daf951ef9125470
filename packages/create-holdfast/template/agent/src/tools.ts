import { type Tool, tool } from "@holdfast/core";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "Returns the weather in a city.",
  input: z.object({ city: z.string() }),
  // It only looks, so that it runs without asking anyone.
  readOnly: true,
  execute: ({ city }) => `4 degrees and rain in ${city}`,
});

/** Tools of the agent. */
export const tools: readonly Tool[] = [weather];
