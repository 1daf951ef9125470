export { AgUiEncoder, type AgUiEncoderOptions } from "./ag-ui-encoder.js";
export type { AgUiEvent, AgUiInterrupt, AgUiOutcome, AgUiUsage } from "./ag-ui-event.js";
export { type AgUiHandlerOptions, agUiHandler } from "./ag-ui-handler.js";
