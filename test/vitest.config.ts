import { configDefaults, defineProject } from "vitest/config";
import { shared } from "../vitest.shared.js";

export default defineProject({
  test: {
    ...shared,
    include: ["**/*.test.ts"],
    exclude: [...configDefaults.exclude, "api/**"],
    globalSetup: ["servers.setup.ts"],
  },
});
