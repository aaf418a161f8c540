import { projectSchema } from "../../config/project-schema.ts";
import { providers } from "../../../streams/agent-config.ts";
import { keyEdit, keyNote } from "./remark.ts";
import type { KeyRemark } from "./remark.ts";
import { isTable, tableAt, textAt } from "./tables.ts";
import type { Table } from "./tables.ts";

/** A model of the project under its name. */
interface MappedModel {
  readonly table: Table;
  readonly remarks: readonly KeyRemark[];
}

/** Keys of a model. */
const known = Object.keys(projectSchema.shape.models.unwrap().valueType.shape);

/** A `[models.<name>]` of theirs as it is here. */
export function mapModel(name: string, theirs: Table): MappedModel {
  const at = ["models", name];
  const lost = Object.keys(theirs).filter((key) => !known.includes(key));
  const kept = Object.fromEntries(Object.entries(theirs).filter(([key]) => known.includes(key)));
  const remarks = lost.map((key) => keyNote(at, `${key} is not a key of a model; left out`));
  const provider = textAt(theirs, "provider") ?? "";
  if (!(providers as readonly string[]).includes(provider)) {
    const fix =
      'provider = "custom", with baseUrl = "https://…/v1" for an OpenAI-compatible endpoint';
    remarks.push(keyEdit([...at, "provider"], `provider "${provider}" is not here`, fix));
  }
  if (provider === "custom" && kept.baseUrl === undefined) {
    const fix = `in [models.${name}]: baseUrl = "https://…/v1"`;
    remarks.push(keyEdit(at, "an endpoint of your own needs its address here", fix));
  }
  if (kept.authType !== "pi_auth") return { table: kept, remarks };
  const message = "authType pi_auth, pi's own login, is not here; written as api_key";
  remarks.push(keyEdit([...at, "authType"], message, `al creds add ${provider}_key`));
  return { table: { ...kept, authType: "api_key" }, remarks };
}

/** Models that older agents and projects define in a `[model]` of their own, by the text of their definition. */
export interface InlineModels {
  /** Definitions by the name that they get. */
  readonly models: Table;
  /** The name of the project's or the agent's own model; null without one. */
  nameOf(owner: Table): string | null;
}

/** Names the `[model]` tables of a project and its agents after the provider's names of the models. */
export function inlineModels(owners: readonly Table[], taken: readonly string[]): InlineModels {
  const names = new Map<string, string>();
  const models: Record<string, unknown> = {};
  for (const owner of owners.filter(({ model }) => isTable(model))) {
    const model = tableAt(owner, "model");
    const key = JSON.stringify(model);
    if (names.has(key)) continue;
    const used = [...taken, ...names.values()];
    const name = candidatesFor(model).find((candidate) => !used.includes(candidate)) ?? key;
    names.set(key, name);
    models[name] = model;
  }
  return {
    models,
    nameOf: ({ model }) => (isTable(model) ? (names.get(JSON.stringify(model)) ?? null) : null),
  };
}

function candidatesFor(model: Table): readonly string[] {
  const id = (textAt(model, "model") ?? "model").split("/").at(-1) ?? "model";
  const level = textAt(model, "thinkingLevel") ?? "default";
  const numbered = Array.from({ length: 1000 }, (_, index) => `${id}-${index + 2}`);
  return [id, `${id}-${level}`, ...numbered];
}
