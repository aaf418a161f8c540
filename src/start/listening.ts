import type { RunEvent } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../config/project-config.ts";
import { exposureAt } from "../contracts/exposure.ts";
import { reasonOf } from "../errors.ts";
import { checkAddress } from "../gateway/server.ts";
import type { Gateway } from "../gateway/server.ts";
import { needsGateway } from "./needs-gateway.ts";
import type { OwnProject } from "./own-project.ts";
import type { StatusBoard } from "./status-board.ts";

export interface ListeningDeps {
  readonly gateway: Gateway;
  readonly own: Pick<OwnProject, "lock" | "socketPath" | "startedAt">;
  readonly webUi: boolean;
  /** Never listens on TCP. */
  readonly onDemand?: boolean;
  /** Instead of the project's. */
  readonly port?: number;
  readonly host?: string;
  readonly project$: { readonly value: ProjectConfig };
  /** Has an event before this hears of it. */
  readonly board: Pick<StatusBoard, "apply" | "agent" | "agents">;
  readonly version: string;
  readonly note: (message: string) => void;
  readonly warn: (message: string) => void;
}

export interface Listening {
  /**
   * Opens the operator's socket, and TCP if it is needed already. Rejects with a UserError when it can't; that TCP for
   * agents in containers can't be opened is only warned of.
   */
  open(): Promise<void>;
  /** Listens on TCP from the first enabled agent that needs it. */
  see(event: RunEvent): void;
  /** Listens on TCP when the project's config needs it by now, also where an earlier try failed. */
  seeProject(): void;
  /** Whether TCP is open, or about to be: from then on a change of `[gateway]` needs a restart. */
  isSettled(): boolean;
  url(): string | null;
}

/** Where the gateway listens: always on the operator's socket, on TCP once something needs it, then for good. */
export function createListening(deps: ListeningDeps): Listening {
  const { gateway, project$ } = deps;
  const { lock, socketPath, startedAt } = deps.own;
  const mayListen = deps.onDemand !== true;
  const mustListen = neededAtStart(deps, project$.value);
  let needed = mustListen;
  let opened = false;
  let url: string | null = null;

  const listen = async (): Promise<void> => {
    const settings = gatewaySettings(deps, project$.value);
    const exposure = exposureAt(settings.host);
    url = await gateway.listenTcp(settings);
    if (exposure !== null) deps.warn(`${exposure.what}; ${exposure.advice}`);
    deps.board.apply({ type: "scheduler", patch: { gatewayUrl: url } });
    announce();
    // The start prints the address itself.
    if (opened) deps.note(`the gateway listens at ${url}`);
  };
  const announce = (): void =>
    lock.announce({
      pid: process.pid,
      startedAt,
      socketPath,
      gatewayUrl: url,
      version: deps.version,
    });
  /** Something needs it that can do without: that nobody can listen is said, and ends nothing that runs. */
  const tryToListen = (): Promise<void> =>
    listen().catch((error: unknown) => {
      needed = false;
      deps.warn(`the gateway can't listen: ${reasonOf(error)}`);
    });
  const need = (): void => {
    if (needed || !mayListen) return;
    needed = true;
    if (opened) void tryToListen();
  };

  return {
    open: async () => {
      await gateway.listenUnix(socketPath);
      announce();
      if (mustListen) await listen();
      else if (needed) await tryToListen();
      opened = true;
    },
    see: (event) => {
      if (needed || (event.type !== "agent-set" && event.type !== "agent-enabled")) return;
      const record = deps.board.agent(event.agent);
      const agents = record === undefined ? [] : [record];
      if (needsGateway({ webUi: false, webhookSources: 0, agents })) need();
    },
    seeProject: () => {
      const webhookSources = Object.keys(project$.value.webhooks).length;
      if (needsGateway({ webUi: false, webhookSources, agents: deps.board.agents() })) need();
    },
    isSettled: () => needed && opened,
    url: () => url,
  };
}

/** Rejects with a UserError when TCP is needed from the start, and somebody else listens there or nobody can. */
export async function checkListening(
  options: Pick<ListeningDeps, "webUi" | "onDemand"> & { port?: number; host?: string },
  project: ProjectConfig,
): Promise<void> {
  if (neededAtStart(options, project)) await checkAddress(gatewaySettings(options, project));
}

function neededAtStart(
  { webUi, onDemand = false }: Pick<ListeningDeps, "webUi" | "onDemand">,
  { webhooks }: ProjectConfig,
): boolean {
  const webhookSources = Object.keys(webhooks).length;
  return !onDemand && needsGateway({ webUi, webhookSources, agents: [] });
}

/** The gateway's settings as of now: `--port` and `--host` win over the project's config. */
export function gatewaySettings(
  { webUi, port, host }: { webUi: boolean; port?: number; host?: string },
  { gateway }: ProjectConfig,
): ProjectConfig["gateway"] & { readonly dashboard: boolean } {
  return {
    ...gateway,
    ...(port === undefined ? {} : { port }),
    ...(host === undefined ? {} : { host }),
    dashboard: webUi,
  };
}
