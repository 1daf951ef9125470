import type { ToolInputSchema } from "@holdfast/core";

/** Input of a tool that accepts everything. */
export const anyInput: ToolInputSchema = {
  schema: {
    "~standard": { version: 1, vendor: "holdfast", validate: (value: unknown) => ({ value }) },
  },
  jsonSchema: { type: "object" },
};
