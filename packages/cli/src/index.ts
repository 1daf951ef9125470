export * from "./config/define-config.js";
