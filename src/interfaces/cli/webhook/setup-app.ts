import { basename } from "node:path";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import {
  appJwt,
  askGithub,
  defaultApiUrl,
  githubAppOf,
} from "../../../features/github-app/app-api.ts";
import { appScope, convertManifest, pagesOf } from "../../../features/github-app/manifest.ts";
import { repeatPing } from "../../../features/webhooks/setup/github.ts";
import type { CallApi, PingAnswer } from "../../../features/webhooks/setup/hook-api.ts";
import type { WebhookSource } from "../../../foundation/config/project-config.ts";
import {
  credentialName,
  githubAppType,
  parseCredentialReference,
} from "../../../foundation/contracts/credential-reference.ts";
import { storeField } from "../../../foundation/credentials/edit-credential.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { hasCode, Problem, usageError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";
import { openLink } from "../operator/open-dashboard.ts";
import { codeOfManifest } from "./manifest-page.ts";

export interface AppSetup {
  readonly source: WebhookSource;
  /** The gateway's address, and that of the source's webhooks. */
  readonly publicUrl: string;
  readonly hookUrl: string;
  readonly home: string;
  readonly agents: readonly AgentConfig[];
  /** By the names of filters; null for any. */
  readonly events: readonly string[] | null;
  /** Organization that owns the app; undefined for the person's own account. */
  readonly owner: string | undefined;
  /** Instance of the new credential. */
  readonly instance: string;
  /** The stored webhook secret of the source; null before the first. */
  readonly stored: string | null;
  readonly storeSecret: (secret: string) => Promise<unknown>;
}

/** Makes a GitHub App from a manifest, stores its private key and webhook secret; resolves with the answer to its ping. */
export async function setUpApp(context: Context, setup: AppSetup): Promise<PingAnswer | null> {
  const { source, home, instance } = setup;
  const reference = { type: githubAppType, instance };
  const name = credentialName(reference);
  await mustBeNew(home, name);
  const apiUrl = source.api ?? defaultApiUrl;
  const scope = appScope({ ...setup, permissions: permissionsOf(setup.agents, name) });
  const code = await codeOfManifest({
    action: `${pagesOf(apiUrl)}${ownerPath(setup.owner)}/settings/apps/new`,
    manifest: (redirectUrl) => ({
      name: basename(context.projectDir).slice(0, longestName),
      url: setup.publicUrl,
      hook_attributes: { url: setup.hookUrl, active: true },
      redirect_url: redirectUrl,
      public: false,
      default_permissions: scope.permissions,
      default_events: scope.events,
    }),
    onOpen: (url) => void show(context, url),
  });
  const made = await convertManifest(apiUrl, code);
  const api = source.api === undefined ? {} : { api_url: apiUrl };
  const fields = { app_id: made.id, private_key: made.privateKey, ...api, ...made.author };
  for (const [field, secret] of Object.entries(fields))
    await storeField(home, { ...reference, field, secret, replace: false });
  const app = githubAppOf(await loadCredential(home, name));
  const call: CallApi = (method, path, body) =>
    askGithub(app, { method, path, token: appJwt(app, Date.now()), ...(body && { body }) });
  // Other webhooks of the source are signed with the stored secret.
  if (setup.stored === null) await setup.storeSecret(made.webhookSecret);
  else await call("PATCH", "/app/hook/config", { secret: setup.stored });
  const ping = await repeatPing(call);
  const install = `${made.page}/installations/new`;
  const lines = [
    `the GitHub App ${made.id} is made and stored as ${name}`,
    `  page         ${made.page}`,
    `  permissions  ${listed(scope.permissions)}`,
    `  events       ${scope.events.join(", ")}`,
    `  ping         ${ping === null ? "no answer" : `${ping.status} ${ping.text}`}`,
    `Install it on your repositories: ${install}`,
  ];
  const document = { source: source.name, credential: name, id: made.id, install, ...scope, ping };
  context.out.answer(document, lines.join("\n"));
  return ping;
}

/** GitHub's limit for names of apps. */
const longestName = 34;

async function mustBeNew(home: string, name: string): Promise<void> {
  const isThere = await loadCredential(home, name).then(
    () => true,
    (error: unknown) => {
      if (hasCode(error, "missing_credential")) return false;
      throw error;
    },
  );
  if (!isThere) return;
  const hint = `Remove it with \`al creds rm ${name}\`, or name another instance with --credential.`;
  throw new Problem("credential_exists", `the credential ${name} is stored already`, hint);
}

function ownerPath(owner: string | undefined): string {
  if (owner === undefined) return "";
  if (/^[\w-]+$/.test(owner)) return `/organizations/${owner}`;
  throw usageError(`${JSON.stringify(owner)} is not the name of an organization`);
}

function permissionsOf(agents: readonly AgentConfig[], name: string) {
  return agents.flatMap(({ credentials, githubApp }) => {
    const names = credentials.map((one) => {
      const parsed = parseCredentialReference(one);
      return parsed && credentialName(parsed);
    });
    return githubApp !== null && names.includes(name) ? [githubApp.permissions] : [];
  });
}

function listed(permissions: Readonly<Record<string, string>>): string {
  return Object.entries(permissions)
    .map(([name, level]) => `${name}: ${level}`)
    .join(", ");
}

async function show(context: Context, url: string): Promise<void> {
  if (await openLink(context, url)) return context.out.note("Make the app in your browser.");
  context.out.note(`Open ${url} in a browser on this machine, and make the app there.`);
}
