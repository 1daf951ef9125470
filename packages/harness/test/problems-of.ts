import { ConfigurationError } from "@holdfast/core";

/** What a builder complains about; empty when it builds. */
export function problemsOf(build: () => unknown): readonly string[] {
  try {
    build();
    return [];
  } catch (error) {
    if (!ConfigurationError.is(error)) throw error;
    return error.problems;
  }
}
