// All that the tests of a plugin need: the suite that every plugin of Holdfast passes.
import { describePlugin } from "@holdfast/testing";
import { redaction, tokenBudget } from "../dist/index.js";

describePlugin("redaction", { create: () => redaction({ patterns: { digits: /\d{16}/g } }) });
describePlugin("token budget", { create: () => tokenBudget({ limit: 1_000_000 }) });
