import type { SummaryFormat } from "../compaction-options.js";
import { structuredSummaryPrompt } from "./default-prompt.js";

const field = (description: string) => ({ type: "string", description });

/**
 * A summary in five fields, for `compaction({ ...fiveFieldSummary })`: task_overview, current_state,
 * important_discoveries, next_steps, context_to_preserve.
 */
export const fiveFieldSummary: SummaryFormat = Object.freeze({
  summaryPrompt: structuredSummaryPrompt,
  summarySchema: {
    type: "object",
    properties: {
      task_overview: field(
        "The user's core request and what success means, with clarifications and constraints they gave",
      ),
      current_state: field(
        "What has been completed so far; files and records created, changed or looked at, with paths or ids",
      ),
      important_discoveries: field(
        "Constraints and requirements found out, decisions with their reasons, errors and how they were resolved, what did not work and why",
      ),
      next_steps: field("What is left to do, in order, and what is in the way"),
      context_to_preserve: field(
        "The user's preferences, details of the domain, promises made, exact values that will be needed again",
      ),
    },
    required: [
      "task_overview",
      "current_state",
      "important_discoveries",
      "next_steps",
      "context_to_preserve",
    ],
    additionalProperties: false,
  },
  summaryTemplate: `# Task overview
{task_overview}

# Current state
{current_state}

# Important discoveries
{important_discoveries}

# Next steps
{next_steps}

# Context to preserve
{context_to_preserve}`,
});
