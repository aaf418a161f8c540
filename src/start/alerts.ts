import { skip } from "rxjs";
import type { AlertOptions } from "../../streams/alert-options.ts";
import type { Clock } from "../../streams/clock.ts";
import type { AgentRecord } from "../../streams/status/agent-record.ts";
import { createAlerts } from "../features/alerts/alerts.ts";
import type { Alerts } from "../features/alerts/alerts.ts";
import { createSendAlert } from "../features/alerts/send-alert.ts";
import type { AgentFiles } from "../foundation/config/agent-files.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import { createSendRequest } from "../foundation/contracts/outgoing-request.ts";
import { resolveAgent } from "../foundation/config/resolve-agent.ts";
import { knownToAgents } from "../interfaces/operations/known-to-agents.ts";
import type { ProjectHandle } from "./acquire-project.ts";
import type { Inputs } from "../runtime/scheduler/inputs.ts";
import { modelSources } from "./model-calls.ts";
import type { StatusStore } from "../runtime/scheduler/status-store.ts";

export interface AlertServices {
  readonly options: { readonly webUi: boolean; readonly env: NodeJS.ProcessEnv };
  readonly own: ProjectHandle;
  readonly inputs: Inputs;
  /** The agents' files at the start. */
  readonly agents: ReadonlyMap<string, AgentFiles>;
  readonly status: StatusStore;
  readonly clock: Clock;
  readonly gatewayUrl: () => string | null;
  readonly warn: (message: string) => void;
}

/** The alerts of a scheduler, by the project's config as it is now. */
export function createProjectAlerts(services: AlertServices): Alerts {
  const { options, own, inputs, agents, status, clock, gatewayUrl, warn } = services;
  const { settings } = own.store;
  const project = (): ProjectConfig => inputs.project$.value;
  const { credential } = modelSources(own);
  return createAlerts({
    store: own.store.alerts,
    projectName: status.snapshot().scheduler.project,
    targets: () => project().alerts,
    timezone: () => project().timezone,
    changed$: inputs.project$.pipe(skip(1)),
    optionsOf: alertOptionsOf({ agents, record: (name) => status.agent(name), project }),
    origin: () => project().gateway.publicUrl ?? (options.webUi ? gatewayUrl() : null),
    send: createSendAlert({
      credential: async (reference) => (await credential(reference)).fields,
      redact: (text) => own.redactor.redact(text),
      sendRequest: createSendRequest({ proxyEnv: options.env }),
      warn,
      now: Date.now,
    }),
    clock,
    earlier: { aliveAt: settings.lastAlive(), stoppedAt: settings.stoppedAt() },
    onCounts: (alerts) => status.apply({ type: "scheduler", patch: { alerts } }),
    warn,
  });
}

interface AlertOptionsDeps {
  /** The agents' files at the start: runs that were lost before are alerted ahead of the first event. */
  readonly agents: ReadonlyMap<string, AgentFiles>;
  readonly record: (agent: string) => Pick<AgentRecord, "config"> | undefined;
  readonly project: () => ProjectConfig;
}

/** The options of an agent's alerts; the project's for one without a valid config. */
export function alertOptionsOf({
  agents,
  record,
  project,
}: AlertOptionsDeps): (agent: string | null) => AlertOptions {
  const atStart = (agent: string): AlertOptions | undefined => {
    const files = agents.get(agent);
    if (files === undefined) return undefined;
    const change = resolveAgent(files, project(), knownToAgents());
    return change.type === "set" ? change.agent.alert : undefined;
  };
  return (agent) => {
    if (agent === null) return project().alert;
    const known = record(agent);
    const own = known === undefined ? atStart(agent) : known.config?.alert;
    return own === undefined ? project().alert : withTargets(own, project());
  };
}

/**
 * An agent whose targets are all gone from the project has an error in its config, which is alerted itself: to the
 * project's targets, as those that the agent still names reach no person.
 */
function withTargets(options: AlertOptions, { alert, alerts }: ProjectConfig): AlertOptions {
  const { to } = options;
  const isSilenced = to?.length === 0;
  const hasOne = to === null || alerts.some(({ name }) => to.includes(name));
  return isSilenced || hasOne ? options : { ...options, to: alert.to };
}
