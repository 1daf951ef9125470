export * from "./add-usage.js";
export * from "./ask-model.js";
