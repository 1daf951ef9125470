import { confirm, isCancel, multiselect, select, text } from "@clack/prompts";
import {
  type Choice,
  type Part,
  type Provider,
  parts,
  providers,
  type Store,
  stores,
  type Template,
  templates,
} from "./choices.js";
import { CreateError, exitCodes } from "./create-error.js";
import type { GivenOptions } from "./flags.js";
import { type ProjectOptions, storesOf } from "./project-options.js";
import { checkTarget } from "./write-project.js";

/** Answers of a person. */
export interface Answers {
  readonly options: ProjectOptions;
  readonly install: boolean;
}

/** Asks a person for what is not given. @throws CreateError (130) when they press Ctrl-C */
export async function askPerson(
  given: GivenOptions,
  install: boolean | undefined,
): Promise<Answers> {
  const directory = given.directory ?? (await askDirectory());
  checkTarget(directory);
  const template =
    given.template ?? (await askOne<Template>("What do you want to begin with?", templates));
  const provider = given.provider ?? (await askOne<Provider>("Whose models?", providers));
  const possible = storesOf(template);
  const store =
    given.store ??
    (possible.length === 1
      ? possible[0]
      : await askOne<Store>("Where are sessions stored?", stores));
  const chosen = given.parts ?? (await askParts(templates[template].parts));
  const isInstalled =
    install ?? (await answered(confirm({ message: "Install the packages now?" })));
  return {
    options: { ...given, directory, template, provider, store, parts: chosen },
    install: isInstalled,
  };
}

function askDirectory(): Promise<string> {
  return answered(
    text({
      message: "Where is the project to be?",
      placeholder: "my-agent",
      defaultValue: "my-agent",
      validate: (value) => {
        try {
          checkTarget(value?.trim() || "my-agent");
          return undefined;
        } catch (error) {
          return (error as Error).message;
        }
      },
    }),
  ).then((value) => value.trim());
}

async function askOne<Name extends string>(
  message: string,
  choices: Readonly<Record<Name, Choice>>,
): Promise<Name> {
  const options = Object.entries<Choice>(choices).map(([value, { label }]) => ({
    value,
    label: value,
    hint: label,
  }));
  return (await answered(select({ message, options }))) as Name;
}

async function askParts(usual: readonly Part[]): Promise<readonly Part[]> {
  const options = Object.entries(parts).map(([value, { label }]) => ({
    value,
    label: value,
    hint: label,
  }));
  const message = "Which parts? Space chooses, Enter goes on.";
  const initialValues: string[] = [...usual];
  return (await answered(
    multiselect({ message, options, initialValues, required: false }),
  )) as Part[];
}

async function answered<T>(question: Promise<T>): Promise<Exclude<T, symbol>> {
  const answer = await question;
  if (isCancel(answer)) throw new CreateError(exitCodes.interrupted, "Nothing was written.");
  return answer as Exclude<T, symbol>;
}
