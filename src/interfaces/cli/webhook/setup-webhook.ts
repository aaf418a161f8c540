import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { meantOr } from "../../../foundation/contracts/did-you-mean.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { withoutEndSlashes } from "../../../foundation/contracts/plain-text.ts";
import type { ProjectConfig, WebhookSource } from "../../../foundation/config/project-config.ts";
import { genericType } from "../../../foundation/config/webhook-format.ts";
import { webhookSecretType } from "../../../foundation/credentials/credential-types.ts";
import { storeField } from "../../../foundation/credentials/edit-credential.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { homeDir, storeDir } from "../../../foundation/credentials/read-secret.ts";
import { hasCode, Problem, usageError } from "../../../foundation/errors.ts";
import type {
  CallApi,
  Hook,
  HookApi,
  PingAnswer,
} from "../../../features/webhooks/setup/hook-api.ts";
import {
  differences,
  eventsAnywhere,
  eventsAt,
  hookApi,
  hookUrls,
  namedTargets,
  sourceCaller,
} from "../../../features/webhooks/setup/plan-hooks.ts";
import { checkAgents, loadProject } from "../../../runtime/agents/project-files.ts";
import { providerTable } from "../../../features/webhooks/providers/table.ts";
import type { Context } from "../context.ts";
import { plainLine } from "../terminal/format.ts";
import { setUpApp, type AppSetup } from "./setup-app.ts";
import { chosenSource } from "./webhook-fixture.ts";

export interface SetupOptions {
  readonly source?: string;
  readonly url?: string;
  readonly credential?: string;
  readonly print?: true;
  readonly app?: true;
}

/** The webhooks of one command. */
interface Setup {
  readonly source: WebhookSource;
  readonly urls: readonly string[];
  /** Reference of the credential with the source's secret. */
  readonly secret: string;
  readonly home: string;
  readonly eventsOf: (target: string) => readonly string[] | null;
}

/** The result for one webhook. */
interface Done {
  readonly target: string;
  readonly id: string;
  readonly events: readonly string[];
  /** The changes; null for a new webhook. */
  readonly changed: readonly string[] | null;
  /** Null if no answer came, absent where the provider sends no ping. */
  readonly ping?: PingAnswer | null;
}

/** Makes the webhooks of a source at its provider, or changes them to the agents' events; pings them. */
export async function setupWebhook(
  context: Context,
  type: string,
  target: string | undefined,
  options: SetupOptions,
): Promise<void> {
  const project = await loadProject(context.projectDir);
  const { configs } = await checkAgents(context.projectDir, project);
  const source = sourceOf(project, type, options);
  const gateway = publicUrl(project, options);
  const setup: Setup = {
    source,
    urls: hookUrls(gateway, source),
    secret: `${webhookSecretType(type)}:${source.credential ?? "default"}`,
    home: homeDir(context.env),
    eventsOf: (at) => eventsAt(configs, source.name, at),
  };
  if (options.app) {
    const instance = options.credential ?? "default";
    const chosen = { publicUrl: gateway, agents: configs, owner: target, instance };
    return mustBeAnswered([{ ping: await setUpAppOf(context, setup, chosen) }], setup);
  }
  const api = options.print ? null : hookApi(type);
  const targets = target === undefined ? namedTargets(configs, source.name) : [target];
  if (api === null) return printSettings(context, setup, targets[0] ?? "");
  const call = await sourceCaller(api, source, {
    home: setup.home,
    ...(options.credential !== undefined && { instance: options.credential }),
  });
  const done: Done[] = [];
  for (const at of mustHaveTargets(api, targets)) {
    const one = await setUp(api, call, at, setup);
    done.push(one);
    if (!context.out.json) context.out.data(linesOf(one));
  }
  if (context.out.json) {
    context.out.document({ source: source.name, type, url: setup.urls[0], hooks: done });
  }
  mustBeAnswered(done, setup);
}

async function setUpAppOf(
  context: Context,
  setup: Setup,
  given: Pick<AppSetup, "publicUrl" | "agents" | "owner" | "instance">,
): Promise<PingAnswer | null> {
  const { source, urls, home } = setup;
  if (source.type !== "github") throw usageError(`--app is for github, not for ${source.type}`);
  return setUpApp(context, {
    ...given,
    source,
    home,
    hookUrl: urls[0] ?? "",
    events: eventsAnywhere(given.agents, source.name),
    stored: await storedSecret(setup),
    storeSecret: (secret) => store(setup, secret, false),
  });
}

function sourceOf(project: ProjectConfig, type: string, { source }: SetupOptions): WebhookSource {
  const ofType = Object.entries(project.webhooks).filter(([, one]) => one.type === type);
  if (ofType.length === 0) {
    mustBeProvider(type);
    throw new Problem(
      "no_source",
      `the project has no webhook source of ${type}`,
      `Add [webhooks.${type}] with type = "${type}" and credential = "default" to config.toml`,
    );
  }
  const found = chosenSource(Object.fromEntries(ofType), source);
  if (found.credential !== null || found.allowUnsigned) return found;
  throw new Problem(
    "no_credential",
    `source ${found.name} has no credential for its secret`,
    `Name it with \`al config --set webhooks.${found.name}.credential=default\`.`,
  );
}

function mustBeProvider(type: string): void {
  const known = [...providerTable.keys()];
  if (known.includes(type)) return;
  throw usageError(
    `there is no webhook provider "${type}"`,
    meantOr(type, known, `Choose one of ${known.join(", ")}.`),
  );
}

function publicUrl({ gateway }: ProjectConfig, { url }: SetupOptions): string {
  const address = url ?? gateway.publicUrl;
  if (address !== null && /^https?:\/\//i.test(address) && URL.canParse(address)) {
    return withoutEndSlashes(address);
  }
  throw usageError(
    "providers need the gateway's public address",
    "Set it with `al config --set gateway.publicUrl=https://<host>`, or name it with `--url https://<host>`.",
  );
}

function mustHaveTargets({ target }: HookApi, targets: readonly string[]): readonly string[] {
  // A team of Linear may be left out: the webhook is then for all public teams.
  if (targets.length > 0) return targets;
  if (!target?.includes("/")) return [""];
  throw usageError(
    "no agent names a repository for this source",
    `Name it as ${target}, or list it as repos in an agent's [[webhooks]].`,
  );
}

async function setUp(api: HookApi, call: CallApi, target: string, setup: Setup): Promise<Done> {
  const { source, urls } = setup;
  const heard = setup.eventsOf(target);
  if (heard?.length === 0) {
    throw new Problem(
      "no_listener",
      `no agent listens to ${target || source.name}`,
      `Add [[webhooks]] with source = "${source.name}" to an agent`,
    );
  }
  const events = [...api.eventsOf(heard)].sort();
  const found = await api.find(call, target, urls);
  const secret = await secretFor(api, found, setup);
  const wanted = { url: urls[0] ?? "", events, secret };
  const saved = await api.save(call, target, found?.id ?? null, wanted);
  if (saved.secret !== null) await store(setup, saved.secret, true);
  return {
    target,
    id: saved.id,
    events,
    changed: found && differences(found, events),
    ...(api.ping && { ping: await api.ping(call, target, saved.id) }),
  };
}

/** The stored secret, or a new one that is stored first; null where the provider chooses it. */
async function secretFor(api: HookApi, found: Hook | null, setup: Setup): Promise<string | null> {
  if (setup.source.allowUnsigned && setup.source.credential === null) return null;
  const stored = await storedSecret(setup);
  if (!api.choosesSecret)
    return stored ?? store(setup, randomBytes(32).toString("base64url"), false);
  if (found === null || stored !== null) return null;
  throw new Problem(
    "no_credential",
    "the webhook exists, but its secret is not stored",
    `Copy it from the provider's page and store it with \`al creds add ${setup.secret}\`.`,
  );
}

async function storedSecret({ home, secret }: Setup): Promise<string | null> {
  try {
    return Object.values((await loadCredential(home, secret)).fields)[0] ?? null;
  } catch (error) {
    if (hasCode(error, "missing_credential")) return null;
    throw error;
  }
}

async function store({ home, secret: name }: Setup, secret: string, replace: boolean) {
  const [type = "", instance = ""] = name.split(":");
  await storeField(home, { type, instance, field: "secret", secret, replace });
  return secret;
}

function linesOf({ target, id, events, changed, ping }: Done): string {
  const same = changed === null ? "is made" : "already matches the agents";
  const what = (changed ?? []).length === 0 ? same : `is changed: ${changed?.join("; ")}`;
  const answer = ping === null ? "no answer" : `${ping?.status} ${ping?.text}`;
  return listed([
    ["", `the webhook ${target} (${id}) ${what}`],
    ["  events   ", events.join(", ")],
    ...(ping === undefined ? [] : [["  ping     ", answer] as const]),
  ]);
}

function listed(lines: readonly (readonly [label: string, text: string])[]): string {
  return lines.map(([label, text]) => label + plainLine(text)).join("\n");
}

function mustBeAnswered(done: readonly Pick<Done, "ping">[], { source, urls }: Setup): void {
  const failed = done.find(({ ping }) => ping !== undefined && ping?.status !== 200);
  if (failed === undefined) return;
  const status = failed.ping?.status;
  const got = status === undefined ? "no answer" : `the answer ${status}`;
  const hint =
    status === 401
      ? "Read the reason in the scheduler's log. Make sure that it uses the same AL_HOME."
      : "Check that this address reaches the gateway, and that the scheduler runs.";
  throw new Problem("ping_failed", `the ping of ${source.type} got ${got} from ${urls[0]}`, hint);
}

/** For providers without an API for webhooks, and with --print: the values that a person enters on the provider's page. */
function pageOf({ type }: WebhookSource): string {
  return type === genericType ? "the sender's page for webhooks" : `${type}'s page for webhooks`;
}

async function printSettings({ out }: Context, setup: Setup, target: string): Promise<void> {
  const events = setup.eventsOf(target);
  const isStored = (await storedSecret(setup)) !== null;
  const [url] = setup.urls;
  if (out.json) {
    return out.document({ ...setup.source, url, events, secret: setup.secret, isStored });
  }
  const file = join(storeDir(setup.home), setup.secret.replace(":", "/"), "secret");
  const secret = isStored
    ? `${setup.secret}; print it with \`cat ${shellWord(file)}\``
    : `not stored yet; store it with \`al creds add ${setup.secret}\``;
  const settings = [
    ["address  ", url ?? ""],
    ["events   ", events?.join(", ") ?? "any"],
    ["secret   ", secret],
  ] as const;
  out.data(listed(settings));
  out.note(`Enter these values on ${pageOf(setup.source)}. Try them out with \`al webhook send\`.`);
}
