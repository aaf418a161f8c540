import { z } from "zod";
import type { FilterField, FilterTable } from "./config-key.ts";
import { agentSchema } from "./agent-keys.ts";
import { expectation, fallbackOf, meaning } from "./validate.ts";
import { projectSchema, neededModelKeys } from "./project-schema.ts";
import { schedulePattern } from "./schedule.ts";
import { commonFields } from "./webhook-bindings.ts";
import { isTimezone } from "./fields.ts";

/**
 * Names that Intl accepts and does not list: older ones, and newer ones of places listed by an older name. Grouped by
 * area; the last have none.
 */
const unlisted: Readonly<Record<string, string>> = {
  Africa: "Asmara Timbuktu",
  America:
    "Argentina/Buenos_Aires Argentina/Catamarca Argentina/ComodRivadavia Argentina/Cordoba Argentina/Jujuy Argentina/Mendoza Atikokan Atka Ensenada Fort_Wayne Indiana/Indianapolis Kentucky/Louisville Knox_IN Montreal Nipigon Nuuk Pangnirtung Porto_Acre Rainy_River Rosario Santa_Isabel Shiprock Thunder_Bay Virgin Yellowknife",
  Antarctica: "South_Pole",
  Asia: "Ashkhabad Choibalsan Chongqing Chungking Dacca Harbin Ho_Chi_Minh Istanbul Kashgar Kathmandu Kolkata Macao Tel_Aviv Thimbu Ujung_Pandang Ulan_Bator Yangon",
  Atlantic: "Faroe Jan_Mayen",
  Australia: "ACT Canberra Currie LHI NSW North Queensland South Tasmania Victoria West Yancowinna",
  Brazil: "Acre DeNoronha East West",
  Canada: "Atlantic Central Eastern Mountain Newfoundland Pacific Saskatchewan Yukon",
  Chile: "Continental EasterIsland",
  Etc: "GMT GMT+0 GMT+1 GMT+10 GMT+11 GMT+12 GMT+2 GMT+3 GMT+4 GMT+5 GMT+6 GMT+7 GMT+8 GMT+9 GMT-0 GMT-1 GMT-10 GMT-11 GMT-12 GMT-13 GMT-14 GMT-2 GMT-3 GMT-4 GMT-5 GMT-6 GMT-7 GMT-8 GMT-9 GMT0 Greenwich UCT UTC Universal Zulu",
  Europe: "Belfast Kyiv Nicosia Tiraspol Uzhgorod Zaporozhye",
  Mexico: "BajaNorte BajaSur General",
  Pacific: "Chuuk Johnston Kanton Pohnpei Samoa Yap",
  US: "Alaska Aleutian Arizona Central East-Indiana Eastern Hawaii Indiana-Starke Michigan Mountain Pacific Samoa",
  "": "CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu",
};

/** All time zones that the editor offers, and takes: those that `isTimezone` takes, as the database of time zones spells them. */
export function timezoneNames(): readonly string[] {
  const more = Object.entries(unlisted).flatMap(([area, names]) =>
    names.split(" ").map((name) => (area === "" ? name : `${area}/${name}`)),
  );
  return [...new Set([...Intl.supportedValuesOf("timeZone"), ...more])].filter(isTimezone).sort();
}

/** Rules of a JSON Schema that span several keys, where the config's own checks are code. */

/** An agent with a trigger, or a disabled one. */
const startedAgent = {
  anyOf: [
    { required: ["schedule"] },
    { required: ["schedules"], properties: { schedules: { type: "array", minItems: 1 } } },
    { required: ["webhooks"], properties: { webhooks: { type: "array", minItems: 1 } } },
    { required: ["callable"], properties: { callable: { const: true } } },
    { required: ["scale"], properties: { scale: { const: 0 } } },
  ],
};

/** A model with the keys that its provider requires. */
function completeModel(): object {
  const rules = neededModelKeys.map(({ key, providers }) => ({
    if: { required: ["provider"], properties: { provider: { enum: providers } } },
    then: { required: [key] },
  }));
  return { allOf: rules };
}

/** A JSON Schema (draft 2020-12), for editors that check TOML files by one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schema of the project's `config.toml`. */
export function projectJsonSchema(filters: FilterTable): JsonSchema {
  const schema = jsonSchemaOf(projectSchema, "Almanac project");
  const type = at(schema, "properties", "webhooks", "additionalProperties", "properties", "type");
  type.enum = Object.keys(filters);
  at(schema, "properties", "timezone").enum = timezoneNames();
  Object.assign(at(schema, "properties", "models", "additionalProperties"), completeModel());
  return schema;
}

/** The schema of an agent's `config.toml`, with the filters of every type of webhook source. */
export function agentJsonSchema(filters: FilterTable): JsonSchema {
  const schema = jsonSchemaOf(agentSchema, "Almanac agent");
  const entry = at(schema, "properties", "webhooks", "items");
  entry.additionalProperties = false;
  Object.assign(at(entry, "properties"), filterProperties(filters));
  const scheduled = at(schema, "properties", "schedules", "items", "properties");
  for (const cron of [at(schema, "properties", "schedule"), at(scheduled, "cron")]) {
    cron.pattern = schedulePattern();
  }
  for (const owner of [at(schema, "properties"), scheduled]) {
    at(owner, "timezone").enum = timezoneNames();
  }
  return Object.assign(schema, startedAgent);
}

type Node = Record<string, unknown>;

function jsonSchemaOf(schema: z.ZodType, title: string): Node {
  const json = z.toJSONSchema(schema, {
    io: "input",
    override: ({ zodSchema, jsonSchema }) => {
      const description = descriptionOf(zodSchema);
      if (description !== null) jsonSchema.description = description;
      // Zod copies each member of a key's metadata.
      delete jsonSchema.fallback;
    },
  });
  return { ...json, title };
}

/** The purpose and the type of a key. */
function descriptionOf(schema: z.core.$ZodType): string | null {
  const expected = expectation(schema);
  const fallback = fallbackOf(schema);
  const parts = [
    meaning(schema),
    fallback === null ? null : `Default: ${fallback}.`,
    expected === null ? null : `Expected: ${expected}.`,
  ];
  return parts.filter((part) => part !== null).join(" ") || null;
}

function at(node: Node, ...path: readonly string[]): Node {
  return path.reduce((inner, key) => inner[key] as Node, node);
}

/** A field that two types of source have is described by the first, and takes the values of both. */
function filterProperties(filters: FilterTable): Node {
  const properties: Node = {};
  const types = [...Object.entries(filters), ["every source", commonFields] as const];
  for (const [type, fields] of types) {
    for (const [name, field] of Object.entries(fields)) {
      const known = properties[name] as { description: string } | undefined;
      const description = `${type}: ${field.meaning}`;
      properties[name] =
        known === undefined
          ? { ...typeOf(field), description }
          : { ...known, description: `${known.description}\n${description}` };
    }
  }
  return properties;
}

function typeOf({ kind }: FilterField): Node {
  if (kind !== "strings") return { type: kind };
  return { type: "array", items: { type: "string" } };
}
