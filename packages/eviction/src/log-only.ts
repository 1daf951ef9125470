import type { Offloader } from "@holdfast/core";

/** The reference of results of which only the conversation log has the whole. */
const LOG_REFERENCE = "conversation log";

/** Stands in for an offloader that is not there: the engine logs every original, so that the text may be cut. */
export const logOnly: Pick<Offloader, "offloadToolResult" | "offloadData" | "readBackTool"> = {
  async offloadToolResult() {
    return {
      reference: LOG_REFERENCE,
      readBack:
        "The rest is kept in the conversation log only: session_history or session_search show it where you have them; otherwise call the tool again with a narrower request.",
    };
  },
};
