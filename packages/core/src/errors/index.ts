export * from "./context-overflow.js";
export * from "./errors.js";
export * from "./holdfast-error.js";
export * from "./middleware-error.js";
export * from "./store-errors.js";
