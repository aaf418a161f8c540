import { EMPTY, merge, mergeMap, skip } from "rxjs";
import { createArtifactStore } from "../features/artifacts/artifact-store.ts";
import type { AnswerLinks } from "../features/people/answer-links.ts";
import type { Proposals } from "../runtime/runs/proposals.ts";
import type { AlertQuestions } from "../features/alerts/question-alerts.ts";
import type { AgentFiles } from "../foundation/config/agent-files.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import { createAlertStore } from "../features/alerts/alert-store.ts";
import type { AlertOptions } from "../../streams/alert-options.ts";
import type { Configured } from "../../streams/status/agent-record.ts";
import { createAlerts } from "../features/alerts/alerts.ts";
import { createChats, type ChatsDeps } from "../features/alerts/chat/chats.ts";
import { createSendAlert } from "../features/alerts/send-alert.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import { createSendRequest } from "../foundation/contracts/outgoing-request.ts";
import { checkAgent } from "../runtime/agents/project-files.ts";

interface ProjectAlertsDeps {
  readonly dashboardUrl: () => string | null;
  readonly questions: AlertQuestions;
}

/** The alerts of a scheduler, by the project's current config; `agents` are their files at the start. */
export function createProjectAlerts(
  context: SchedulerContext,
  agents: ReadonlyMap<string, AgentFiles>,
  { dashboardUrl, questions }: ProjectAlertsDeps,
) {
  const { env, store, redactor, project$, status, clock, log, warn } = context;
  const { settings } = store;
  const project = (): ProjectConfig => project$.value;
  const credential = async (reference: string) => (await context.credential(reference)).fields;
  const shared = {
    targets: () => project().alerts,
    changed$: project$.pipe(skip(1)),
    optionsOf: alertOptionsOf({ agents, record: (name) => status.agent(name), project }),
  };
  const alerts = createAlerts({
    ...shared,
    store: store.tables(createAlertStore),
    projectName: status.snapshot().scheduler.project,
    timezone: () => project().timezone,
    origin: () => project().gateway.publicUrl ?? dashboardUrl(),
    send: createSendAlert({
      credential,
      redact: (text) => redactor.redact(text),
      sendRequest: createSendRequest({ proxyEnv: env }),
      warn,
      now: Date.now,
    }),
    questions,
    filesOf: store.tables(createArtifactStore).count,
    clock,
    earlier: { aliveAt: settings.lastAlive(), stoppedAt: settings.stoppedAt() },
    onCounts: (counts) => status.apply({ type: "scheduler", patch: { alerts: counts } }),
    warn,
  });
  const { find } = questions;
  const note = (message: string): void => log(30, message);
  const chats = (answer: ChatsDeps["answer"]) =>
    createChats({ ...shared, credential, find, answer, proxyEnv: env, note, warn });
  return { alerts, chats };
}

/** A person watches a run of `al run` without a scheduler: its questions raise no alerts. */
export function alertQuestions(
  { onDemand, project$ }: SchedulerContext,
  { list, find, changed$ }: Proposals,
  { pathOf: linkPath }: AnswerLinks,
): AlertQuestions {
  // A negative limit means no limit. Targets that are added later get the open questions, too.
  const open$ = project$.pipe(mergeMap(() => list({ state: "open", limit: -1 })));
  return { question$: onDemand ? EMPTY : merge(open$, changed$), find, linkPath };
}

interface AlertOptionsDeps {
  /** The agents' files at the start: runs lost before are alerted ahead of the first event. */
  readonly agents: ReadonlyMap<string, AgentFiles>;
  readonly record: (agent: string) => Configured | undefined;
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
    return checkAgent(files, project()).config?.alert;
  };
  return (agent) => {
    if (agent === null) return project().alert;
    const known = record(agent);
    const own = known === undefined ? atStart(agent) : known.config?.alert;
    return own === undefined ? project().alert : withTargets(own, project());
  };
}

/**
 * An agent whose targets were all removed from the project has an error in its config, which is alerted itself: to the
 * project's targets, as the agent's own reach no person.
 */
function withTargets(options: AlertOptions, { alert, alerts }: ProjectConfig): AlertOptions {
  const { to } = options;
  const isSilenced = to?.length === 0;
  const hasOne = to === null || alerts.some(({ name }) => to.includes(name));
  return isSilenced || hasOne ? options : { ...options, to: alert.to };
}
