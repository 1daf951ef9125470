import { defineProject } from "vitest/config";
import { shared } from "../../vitest.shared.js";

export default defineProject({ test: shared });
