import { tool } from "@holdfast/core";
import { z } from "zod";

/** A tool that does nothing. */
export const noop = tool({
  name: "noop",
  description: "Does nothing.",
  input: z.object({}),
  execute: () => "done",
});

/** A scripted reply that calls it. */
export const callNoop = { toolCalls: [{ name: "noop", input: {} }] };
