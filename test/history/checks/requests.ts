import type { Check } from "./check.js";

/** Every model request is valid: tool calls are paired, and the last word is not the model's own. */
export const requestsAreValid: Check = ({ trace }) =>
  trace.of("asked").flatMap((asked) =>
    asked.problem === null
      ? []
      : [
          {
            check: "every model request is valid",
            session: asked.s,
            message: asked.problem,
            evidence: [asked],
          },
        ],
  );
