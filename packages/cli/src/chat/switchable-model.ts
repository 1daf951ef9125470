import type { Model } from "@holdfast/core";

/** Returns a model that is, at each request, the one that `current` returns: an agent is built with one model for good. */
export function switchableModel(current: () => Model): Model {
  return {
    get id() {
      return current().id;
    },
    get contextWindow() {
      return current().contextWindow;
    },
    get structuredOutput() {
      return current().structuredOutput;
    },
    stream: (request) => current().stream(request),
  };
}
