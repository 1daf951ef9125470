import { defineProject } from "vitest/config";
import { shared } from "../../vitest.shared.js";

export default defineProject({
  test: {
    ...shared,
    setupFiles: ["./test/remove-roots.setup.ts"],
  },
});
