import { defineConfig } from "@holdfast/cli";
import { deskName, deskPrompt } from "./src/desk/desk-agent.js";
import { deskModel } from "./src/desk/desk-model.js";
import { deskTools } from "./src/desk/desk-tools.js";
import { chooseModel } from "./src/model.js";
import { hasSessionTools, plugins } from "./src/parts.js";
import { storeUrl } from "./src/store.js";

// `holdfast chat`, `holdfast sessions` and `holdfast doctor` work with the agent of this project.
export default defineConfig({
  model: chooseModel(deskModel()),
  store: storeUrl,
  agent: deskName,
  systemPrompt: deskPrompt,
  tools: deskTools,
  plugins,
  configure: (builder) => builder.sessionTools(hasSessionTools),
});
