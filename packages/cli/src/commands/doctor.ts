import { Command } from "commander";
import { withStoreFlags } from "../sessions/session-options.js";
import type { Terminal } from "../terminal/terminal.js";

/** Creates `holdfast doctor`. */
export function doctorCommand(terminal: Terminal): Command {
  return withStoreFlags(new Command("doctor"))
    .description("Check versions, config, model and store, and say what to do")
    .option("--model <provider/id>", "the model to check, as for chat")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nExit code 1 when something is broken; warnings alone give 0.")
    .action(async (flags) => {
      const { doctor } = await import("../doctor/doctor.js");
      await doctor(terminal, flags);
    });
}
