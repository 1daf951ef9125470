import { defineConfig } from "@holdfast/cli";
import { offlineModel } from "@holdfast/demo/offline-model";
import { agentName, systemPrompt } from "./src/agent.js";
import { chooseModel } from "./src/model.js";
import { hasSessionTools, plugins } from "./src/parts.js";
import { storeUrl } from "./src/store.js";
import { tools } from "./src/tools.js";

// `holdfast chat`, `holdfast sessions` and `holdfast doctor` work with the agent of this project.
export default defineConfig({
  model: chooseModel(offlineModel()),
  store: storeUrl,
  agent: agentName,
  systemPrompt,
  tools,
  plugins,
  configure: (builder) => builder.sessionTools(hasSessionTools),
});
