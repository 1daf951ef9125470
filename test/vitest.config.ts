import { defineProject } from "vitest/config";

export default defineProject({
  test: { include: ["**/*.test.ts"], globalSetup: ["servers.setup.ts"] },
});
