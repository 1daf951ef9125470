import { type LoadedConfig, loadConfig } from "../config/load-config.js";
import { CommandError, exitCodes } from "../exit-code.js";
import { chooseModel } from "../model/choose-model.js";
import { knownProviders } from "../model/provider-model.js";
import type { StoreFlags } from "../sessions/session-options.js";
import { plural } from "../terminal/format.js";
import { safeText } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { checkStore } from "./check-store.js";
import { checkNode, checkPackages } from "./check-versions.js";
import { broken, type Finding, fine, messageOf } from "./finding.js";

/** Options of `doctor`. */
export interface DoctorFlags extends StoreFlags {
  readonly model?: string | undefined;
}

/** Checks everything a chat needs. @throws CommandError when something is broken */
export async function doctor(terminal: Terminal, flags: DoctorFlags): Promise<void> {
  const findings: Finding[] = [];
  const report = (...found: readonly Finding[]): void => {
    findings.push(...found);
    if (!terminal.isJson) for (const finding of found) print(terminal, finding);
  };
  report(checkNode());
  report(...(await checkPackages()));
  const { config, finding } = await checkConfig(terminal, flags.config);
  report(finding);
  report(keysPresent(terminal), await checkModel(terminal, flags.model, config));
  // An unreadable config file might name a different store.
  if (finding.status !== "broken" || flags.store !== undefined)
    report(...(await checkStore(terminal, flags, config)));
  const isBroken = findings.some(({ status }) => status === "broken");
  if (terminal.isJson) terminal.json({ ok: !isBroken, findings });
  else terminal.line(`\n${verdict(findings)}`);
  if (isBroken) throw new CommandError(exitCodes.failed, "");
}

async function checkConfig(
  terminal: Terminal,
  named: string | undefined,
): Promise<{ config: LoadedConfig | null; finding: Finding }> {
  try {
    const config = await loadConfig(terminal, named);
    const message = config === null ? "none; the defaults apply" : `${config.file} is valid`;
    return { config, finding: fine("config file", message) };
  } catch (error) {
    const advice =
      "correct the file or its name; chat, doctor and commands without --store load it";
    return { config: null, finding: broken("config file", messageOf(error), advice) };
  }
}

/** Lists the keys that are set, by name. */
function keysPresent({ env }: Terminal): Finding {
  const present = knownProviders.map(({ key }) => key).filter((key) => env[key]);
  return fine("provider keys", present.length === 0 ? "none is set" : `set: ${present.join(", ")}`);
}

async function checkModel(
  terminal: Terminal,
  named: string | undefined,
  config: LoadedConfig | null,
): Promise<Finding> {
  try {
    const { model, source, isOffline } = await chooseModel(terminal, named, config);
    const script = isOffline ? ", a script that comes with the command" : "; it was not called";
    return fine("model", `${model.id} (${source})${script}`);
  } catch (error) {
    return broken(
      "model",
      messageOf(error),
      "until then, --model offline works without a provider",
    );
  }
}

function print(terminal: Terminal, { check, status, message, advice }: Finding): void {
  const { green, yellow, red, bold } = terminal.colors;
  const sign = { ok: green("ok     "), warning: yellow("warning"), broken: red("BROKEN ") }[status];
  terminal.line(`${sign} ${bold(check)}: ${safeText(message)}`);
  if (advice !== undefined) terminal.line(`        ${safeText(advice)}`);
}

function verdict(findings: readonly Finding[]): string {
  const count = (status: Finding["status"]): number =>
    findings.filter((finding) => finding.status === status).length;
  if (count("broken") > 0)
    return `${plural(count("broken"), "thing is", "things are")} broken, ${plural(count("warning"), "warning")}.`;
  return count("warning") > 0
    ? `It works, with ${plural(count("warning"), "warning")}.`
    : "All is well.";
}
