import { homedir } from "node:os";
import { isHelp } from "../help/command-table.ts";
import type { CommandEntry, OptionEntry, ValueEntry } from "../help/command-table.ts";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  agentNamePattern,
  credentialName,
} from "../../../foundation/contracts/credential-reference.ts";
import { plain } from "../terminal/format.ts";
import { relativeTime } from "../../../foundation/contracts/format.ts";
import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import type { RecentEntry } from "../../../foundation/store/read-beside.ts";

/** Paths are proposed by the shell itself. */
type Proposals = "@files" | "@directories" | readonly Proposal[];

/**
 * Lines for the script of a shell: a word and its description, or a kind of paths. `words` follow `al` on
 * the command line; the last one is at the cursor.
 */
export async function complete(al: CommandEntry, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? "";
  const place = placeOf(al, words.slice(0, -1));
  const [flag = "", value] = current.split(/=(.*)/s);
  const assigned = value === undefined || place.isEnded ? undefined : optionAt(al, place, flag);
  const proposals = assigned?.value
    ? await valuesOf(assigned.value, place)
    : await proposalsAt(al, place, current);
  if (typeof proposals === "string") return [proposals];
  const prefix = assigned === undefined ? "" : `${flag}=`;
  return proposals.map(({ word, description = "" }) => `${prefix}${word}\t${description}`);
}

function placeOf(al: CommandEntry, before: readonly string[]): Place {
  let place: Place = { command: al, option: null, given: [], isEnded: false, projectDir: "." };
  // bash splits `--flag=value` at the sign.
  for (const word of before.filter((one) => one !== "=")) place = after(al, place, word);
  return place;
}

/** The place behind one more word. */
function after(al: CommandEntry, place: Place, word: string): Place {
  const { command, option, given, isEnded } = place;
  if (option !== null) return withValue({ ...place, option: null }, option, word);
  if (!isEnded && word === "--") return { ...place, isEnded: true };
  if (!isEnded && word.startsWith("-")) return afterFlag(al, place, word);
  const inner =
    isEnded || given.length > 0 ? undefined : command.commands.find((one) => isCalled(one, word));
  return inner === undefined ? { ...place, given: [...given, word] } : { ...place, command: inner };
}

function afterFlag(al: CommandEntry, place: Place, word: string): Place {
  const [flag = "", value] = word.split(/=(.*)/s);
  const option = optionAt(al, place, flag);
  if (!option?.value) return place;
  return value === undefined ? { ...place, option } : withValue(place, option, value);
}

function withValue(place: Place, { names }: OptionEntry, value: string): Place {
  if (!names.includes("--project")) return place;
  return { ...place, projectDir: value.replace(/^~/, homedir()) };
}

function optionAt(al: CommandEntry, { command }: Place, flag: string): OptionEntry | undefined {
  return [...command.options, ...al.options].find(({ names }) => names.includes(flag));
}

async function proposalsAt(al: CommandEntry, place: Place, current: string): Promise<Proposals> {
  const { command, option, given, isEnded } = place;
  if (option?.value) return valuesOf(option.value, place);
  if (!isEnded && current.startsWith("-")) {
    const options = new Map([...al.options, ...command.options].map((one) => [one.flags, one]));
    return [...options.values()].flatMap(({ names, description }) =>
      names.map((word) => ({ word, description })),
    );
  }
  const commands = isHelp(command) ? al.commands.filter((one) => !isHelp(one)) : command.commands;
  if (!isEnded && given.length === 0 && commands.length > 0) return commands.flatMap(named);
  const argument = command.arguments[given.length];
  return argument === undefined ? [] : valuesOf(argument, place);
}

function named(entry: CommandEntry): Proposal[] {
  return namesOf(entry).map((word) => ({ word, description: entry.description }));
}

function isCalled(entry: CommandEntry, name: string): boolean {
  return namesOf(entry).includes(name);
}

function namesOf({ path, aliases }: CommandEntry): readonly string[] {
  return [path.at(-1) ?? "", ...aliases];
}

/** Proposals by the name in help's brackets: one name for one thing. */
async function valuesOf(value: ValueEntry, place: Place): Promise<Proposals> {
  const { name, choices } = value;
  if (choices.length > 0) return choices.map((word) => ({ word }));
  if (name === "dir" || name === "repo") return "@directories";
  if (name === "path" || name === "fixture") return "@files";
  const propose = Object.hasOwn(proposers, name) ? proposers[name] : undefined;
  const proposals = (await propose?.(place)) ?? [];
  // Only words that a shell's expansion can't execute.
  return proposals.filter(({ word }) => /^[\w./:-]+$/.test(word));
}

/** Where the cursor stands on a command line. */
interface Place {
  readonly command: CommandEntry;
  /** The option whose value is at the cursor; null for none. */
  readonly option: OptionEntry | null;
  /** Arguments before the cursor. */
  readonly given: readonly string[];
  /** After `--`, where neither options nor commands are valid. */
  readonly isEnded: boolean;
  readonly projectDir: string;
}

/** A word that may stand at the cursor, with a description if it needs one. */
interface Proposal {
  readonly word: string;
  readonly description?: string;
}

type Propose = (place: Place) => readonly Proposal[] | Promise<readonly Proposal[]>;

const agents: Propose = ({ projectDir }) => agentsIn(projectDir).map(plainWord);
const instances: Propose = ({ projectDir }) => recent(projectDir, (entry) => [entry.instanceId]);
const agentsAndInstances: Propose = async (place) => [
  ...(await agents(place)),
  ...(await instances(place)),
];

/** By the name in help's brackets. Heavy modules are loaded only by completions that need them. */
const proposers: Readonly<Record<string, Propose>> = {
  agent: agents,
  "agent|instance": agentsAndInstances,
  memory: async (place) => [
    ...(await agents(place)),
    ...tablesIn(place.projectDir, "memories").map((name) => plainWord(`shared/${name}`)),
  ],
  run: agentsAndInstances,
  instance: instances,
  question: openQuestions,
  "receiptId|triggerId": ({ projectDir }) =>
    recent(
      projectDir,
      ({ receiptId, id }) => [receiptId, id],
      ({ agent }) => `${agent ?? "no agent"} `,
    ),
  scope: async (place) => [{ word: "project" }, ...(await agents(place))],
  target: ({ projectDir }) => tablesIn(projectDir, "alerts").map(plainWord),
  // `al new` takes the provider's own name, and has no project yet.
  model: ({ command, projectDir }) =>
    command.path[1] === "new" ? [] : tablesIn(projectDir, "models").map(plainWord),
  source: ({ projectDir }) => tablesIn(projectDir, "webhooks").map(plainWord),
  credential: ({ command }) => credentials(command.path.at(-1) === "rm"),
  key: configKeys,
  "key=value": configKeys,
};

function plainWord(word: string): Proposal {
  return { word };
}

const agentName = new RegExp(`^${agentNamePattern}$`);

function agentsIn(projectDir: string): string[] {
  const dir = join(projectDir, "agents");
  const names = existsSync(dir) ? readdirSync(dir) : [];
  return names.filter((name) => agentName.test(name) && existsSync(join(dir, name, "config.toml")));
}

/** Matches the headers of tables: parsing TOML takes longer than a person waits for a completion. */
const tableHead = /^[ \t]*\[[ \t]*([\w-]+)[ \t]*\.[ \t]*"?([\w-]+)"?[ \t]*[\].]/gm;

/** The names of the tables below a key of the project's config, such as `models`. */
function tablesIn(projectDir: string, key: string): string[] {
  const path = join(projectDir, "config.toml");
  if (!existsSync(path)) return [];
  const heads = [...readFileSync(path, "utf8").matchAll(tableHead)];
  return [...new Set(heads.filter((head) => head[1] === key).map(([, , name = ""]) => name))];
}

/** More would not be read. */
const shownEntries = 100;

/** Ids of the latest history entries, described by outcome and time. */
async function recent(
  projectDir: string,
  idsOf: (entry: RecentEntry) => readonly (string | null)[],
  prefix: (entry: RecentEntry) => string = () => "",
): Promise<readonly Proposal[]> {
  const { readRecentEntries } = await import("../../../foundation/store/read-beside.ts");
  const described = readRecentEntries(projectDir, shownEntries).flatMap((entry) => {
    const description = `${prefix(entry)}${entry.outcome ?? "not over"} ${relativeTime(entry.at, Date.now())}`;
    return idsOf(entry).flatMap((word) => (word === null ? [] : [[word, description] as const]));
  });
  return Array.from(new Map(described), ([word, description]) => ({ word, description }));
}

/** The ends of the open questions' ids, described by their prompts. */
async function openQuestions({ projectDir }: Place): Promise<readonly Proposal[]> {
  const { readBeside } = await import("../../../foundation/store/read-beside.ts");
  const sql =
    "SELECT substr(id, -8) AS id, prompt FROM questions WHERE state = 'open' ORDER BY seq DESC";
  const rows = readBeside(projectDir, (db) => db.prepare(sql).all(), []);
  return rows.map(({ id, prompt }) => ({
    word: String(id),
    description: firstSentence(plain(String(prompt))),
  }));
}

/** The stored credentials, or also the types that the program knows. No secret is read. */
async function credentials(isStoredOnly: boolean): Promise<readonly Proposal[]> {
  const { credentialTypes } = await import("../../../foundation/credentials/credential-types.ts");
  const { homeDir, storeDir } = await import("../../../foundation/credentials/read-secret.ts");
  const store = storeDir(homeDir(process.env));
  const stored = directoriesIn(store).flatMap((type) =>
    directoriesIn(join(store, type)).map((instance) => credentialName({ type, instance })),
  );
  const types = isStoredOnly ? [] : Object.keys(credentialTypes);
  return [...new Set([...types, ...stored])].map(plainWord);
}

function directoriesIn(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** The keys of a `config.toml`, dotted; for named tables those that the project has. */
async function configKeys({ given, projectDir }: Place): Promise<readonly Proposal[]> {
  const { schemaOf } = await import("../../../runtime/agents/editor-schemas.ts");
  return given.length === 0
    ? keysOf(schemaOf("project"), "", (key) => tablesIn(projectDir, key))
    : keysOf(schemaOf("agent"), "", () => []);
}

function keysOf(
  schema: Readonly<Record<string, unknown>>,
  prefix: string,
  tables: (key: string) => readonly string[],
): readonly Proposal[] {
  const { properties } = schema;
  if (!isPlainObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, value]) => {
    const word = `${prefix}${key}`;
    if (!isPlainObject(value)) return [];
    if (isPlainObject(value.properties)) return keysOf(value, `${word}.`, tables);
    const { additionalProperties: table } = value;
    if (!isPlainObject(table)) return [{ word, description: firstSentence(value.description) }];
    return tables(word).flatMap((name) => keysOf(table, `${word}.${name}.`, tables));
  });
}

/** One sentence fits into a shell's list; a tab or line break would end the proposal. */
function firstSentence(description: unknown): string {
  if (typeof description !== "string") return "";
  const [first = ""] = description.replaceAll(/\s+/g, " ").split(/\.(?: (?=[A-Z"])|$)/);
  return first;
}
