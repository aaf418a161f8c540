import { needsImage } from "../../../streams/agent-config.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import type { StatusEvent } from "../../../streams/status/reduce-status.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { reasonOf } from "../../foundation/errors.ts";
import type { TcpSettings } from "./deps.ts";
import { checkAddress, type Gateway } from "./server.ts";

/** The part of the project's config that decides where the gateway listens. */
export interface ListenerConfig {
  readonly webhooks: Readonly<Record<string, unknown>>;
  readonly gateway: TcpSettings;
}

/** The part of the command line that decides it; `port` and `host` override the project's. */
export interface ListenerOptions {
  readonly webUi: boolean;
  /** Never listens on TCP. */
  readonly onDemand?: boolean;
  readonly port?: number;
  readonly host?: string;
}

export interface ListenerDeps {
  readonly gateway: Gateway;
  readonly options: ListenerOptions;
  readonly socketPath: string;
  readonly project$: { readonly value: ListenerConfig };
  /** Receives an event before the listener does. */
  readonly status: {
    apply(event: StatusEvent): void;
    agent(name: string): AgentRecord | undefined;
    agents(): Iterable<AgentRecord>;
  };
  /** Publishes the TCP address, null for none. */
  readonly announce: (gatewayUrl: string | null) => void;
  readonly note: (message: string) => void;
  readonly warn: (message: string) => void;
}

/** Decides where the gateway listens: always on the operator's socket; on TCP once something needs it, then permanently. */
export function createGatewayListener(deps: ListenerDeps) {
  const { gateway, options, socketPath, project$, status, announce } = deps;
  const mayListen = options.onDemand !== true;
  const mustListen = neededAtStart(options, project$.value);
  let needed = mustListen;
  let opened = false;
  let url: string | null = null;

  const listen = async (): Promise<void> => {
    const settings = gatewaySettings(options, project$.value);
    const exposure = exposureAt(settings.host);
    url = await gateway.listenTcp(settings);
    if (exposure !== null) deps.warn(`${exposure.problem}; ${exposure.advice}`);
    status.apply({ type: "scheduler", patch: { gatewayUrl: url } });
    announce(url);
    // The start prints the address itself.
    if (opened) deps.note(`the gateway listens at ${url}`);
  };
  /** Listens while the scheduler already runs: a failure is a warning and ends no run. */
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
    /**
     * Opens the operator's socket, and TCP if it is already needed. Rejects with a Problem on failure; a failure of
     * TCP for agents in containers is a warning.
     */
    open: async (): Promise<void> => {
      await gateway.listenUnix(socketPath);
      announce(url);
      if (mustListen) await listen();
      else if (needed) await tryToListen();
      else if (options.port !== undefined) deps.warn(idlePort);
      opened = true;
    },
    /** Listens on TCP from the first enabled agent that needs it. */
    onEvent: (event: RunEvent): void => {
      if (needed || (event.type !== "agent-set" && event.type !== "agent-enabled")) return;
      const record = status.agent(event.agent);
      if (record !== undefined && runsInContainer(record)) need();
    },
    /** Listens on TCP if the project's config needs it now, even after an earlier failure. */
    onProject: (): void => {
      if (hasWebhooks(project$.value) || [...status.agents()].some(runsInContainer)) need();
    },
    /** Whether TCP is open or about to be: from then on a change of `[gateway]` needs a restart. */
    isSettled: (): boolean => needed && opened,
    url: (): string | null => url,
  };
}

const idlePort =
  "--port has no effect yet: the gateway listens on TCP only with --web-ui, webhooks or an agent in a container";

/** Rejects with a Problem if TCP is needed from the start and can't listen on its address. */
export async function checkListening(
  options: ListenerOptions,
  config: ListenerConfig,
): Promise<void> {
  if (neededAtStart(options, config)) await checkAddress(gatewaySettings(options, config));
}

/** With the dashboard or with webhooks; an enabled agent in a container needs TCP once it is loaded. */
function neededAtStart(
  { webUi, onDemand = false }: ListenerOptions,
  config: ListenerConfig,
): boolean {
  return !onDemand && (webUi || hasWebhooks(config));
}

function hasWebhooks({ webhooks }: ListenerConfig): boolean {
  return Object.keys(webhooks).length > 0;
}

function runsInContainer({ config, enabled }: AgentRecord): boolean {
  return enabled && config !== null && needsImage(config);
}

/** The current settings of the gateway: `--port` and `--host` override the project's config. */
export function gatewaySettings(
  { webUi, port, host }: ListenerOptions,
  { gateway }: ListenerConfig,
): TcpSettings & { readonly dashboard: boolean } {
  return { ...gateway, port: port ?? gateway.port, host: host ?? gateway.host, dashboard: webUi };
}

/** The problem with an address to listen on, and its fix. */
interface Exposure {
  readonly problem: string;
  readonly advice: string;
}

/** Why others can reach the gateway at this host; null if only this machine can. */
export function exposureAt(host: string): Exposure | null {
  if (host === "localhost" || host === "::1" || host.startsWith("127.")) return null;
  return {
    problem: `others can reach the gateway at ${host}, and the API key is sent over plain HTTP`,
    advice:
      "put a reverse proxy with TLS in front of it (src/interfaces/gateway/README.md, Behind a reverse proxy)",
  };
}
