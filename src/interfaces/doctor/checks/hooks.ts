import type { WebhookSource } from "../../../foundation/config/project-config.ts";
import { hasCode } from "../../../foundation/errors.ts";
import type { CallApi, HookApi } from "../../../features/webhooks/setup/hook-api.ts";
import {
  differences,
  eventsAt,
  hookApi,
  hookUrls,
  namedTargets,
  sourceCaller,
} from "../../../features/webhooks/setup/plan-hooks.ts";
import { enabledAgents, type DoctorContext } from "../doctor-context.ts";
import { alCommand, finding, note, ofError, ok, type Check, type Finding } from "../finding.ts";

/** At most so many are asked for at providers. */
const most = 20;

/** Whether the webhooks at providers are there and send what agents listen to; only with a credential that may ask. */
export const hooks: Check = async (context) => {
  const publicUrl = context.project?.gateway.publicUrl ?? null;
  const sources = Object.values(context.project?.webhooks ?? {});
  if (publicUrl === null) return [];
  const found = await Promise.all(
    sources.map((source) => inspect(source, hookUrls(publicUrl, source), context)),
  );
  return found.flat();
};

async function inspect(
  source: WebhookSource,
  urls: readonly string[],
  context: DoctorContext,
): Promise<readonly Finding[]> {
  const api = hookApi(source.type);
  if (api === null) return [];
  try {
    const call = await sourceCaller(api, source, { home: context.home });
    const named = namedTargets(enabledAgents(context), source.name);
    const targets = api.target?.includes("/") ? named : [""];
    const asked = targets.slice(0, most);
    return await Promise.all(
      asked.map((target) => compare(api, call, { source, target, urls }, context)),
    );
  } catch (error) {
    // Without such a credential the webhooks were made by hand.
    if (hasCode(error, "missing_credential")) return [];
    return [ofError(error, "warning", `config.toml [webhooks.${source.name}]`)];
  }
}

interface Place {
  readonly source: WebhookSource;
  readonly target: string;
  readonly urls: readonly string[];
}

async function compare(
  api: HookApi,
  call: CallApi,
  { source, target, urls }: Place,
  context: DoctorContext,
): Promise<Finding> {
  const fix = alCommand(context, `webhook setup ${source.type} ${target}`.trim());
  const place = `${source.type} ${target}`.trim();
  try {
    const heard = eventsAt(enabledAgents(context), source.name, target);
    if (heard?.length === 0) return note(`no agent listens to ${place}`);
    const found = await api.find(call, target, urls);
    if (found === null)
      return finding("warning", `${place} has no webhook to ${urls[0]}`, null, fix);
    const differ = differences(found, api.eventsOf(heard));
    if (differ.length === 0) return ok(`the webhook of ${place} sends what agents listen to`);
    return finding("warning", `the webhook of ${place}: ${differ.join("; ")}`, null, fix);
  } catch (error) {
    return ofError(error, "note", null);
  }
}
