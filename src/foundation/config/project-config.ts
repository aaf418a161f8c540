import type { AlertOptions, AlertTarget } from "../../../streams/alert-options.ts";
import type { ClusterConfig } from "./cluster-place.ts";
import type {
  Budget,
  HarnessConfig,
  MemoryLimits,
  ModelConfig,
  NetworkConfig,
} from "../../../streams/agent-config.ts";
import type { Calendar } from "../../../streams/triggers/calendar.ts";
import type { TelemetryConfig } from "./telemetry.ts";
import type { WebhookFormat } from "./webhook-format.ts";
import type { Diagnostic } from "../../../streams/vocabulary.ts";

interface ProjectNetworkConfig extends NetworkConfig {
  /** Hosts that runs with a credential may reach beside those of its type; the keys are `type` or `type:instance`. */
  readonly credentials: Readonly<Record<string, readonly string[]>>;
}

/** A `[calendars.<name>]`. */
export interface ProjectCalendar extends Calendar {
  /** As in the file. */
  readonly written: object;
}

/** A `[memories.<name>]`: a memory that several agents share. */
export interface ProjectMemory extends MemoryLimits {
  /** Names of the agents whose runs may change it. */
  readonly writers: readonly string[];
}

/** The project's `config.toml` with all defaults filled in. Plain data, safe to compare as JSON. */
export interface ProjectConfig {
  readonly models: Readonly<Record<string, ModelConfig>>;
  readonly harness: HarnessConfig;
  readonly local: {
    readonly image: string;
    readonly memory: string;
    readonly cpus: number;
    readonly timeoutSeconds: number;
    readonly network: string;
    /** Local image that the default image is built on. */
    readonly base: string | null;
    /** How many runs may be starting at once. */
    readonly starting: number;
  };
  readonly gateway: {
    /** 0 for any free one. */
    readonly port: number;
    /** The address to bind. */
    readonly host: string;
    /** Further names that the operator routes accept, without port. */
    readonly allowedHosts: readonly string[];
    /** Whether the values that a reverse proxy adds to `X-Forwarded-*` are trusted. */
    readonly trustProxy: boolean;
    /** The largest body of a delivery. */
    readonly maxBodyBytes: number;
    /** Origin by which people reach the dashboard, null for the gateway's own address; its path is where a proxy serves it. */
    readonly publicUrl: string | null;
    /** Whether agents' files are edited over HTTP. */
    readonly edit: boolean;
  };
  readonly webhooks: Readonly<Record<string, WebhookSource>>;
  /** `dayUsd` and `monthUsd` are over all agents; the rest applies to agents without their own. */
  readonly budget: Budget;
  /** Null without the table. */
  readonly network: ProjectNetworkConfig | null;
  /** Where runs of the runtime `cluster` are started; null without the table. */
  readonly cluster: ClusterConfig | null;
  readonly calendars: Readonly<Record<string, ProjectCalendar>>;
  readonly alerts: readonly AlertTarget[];
  /** For agents that don't set their own, and for events without an agent. */
  readonly alert: AlertOptions;
  readonly memories: Readonly<Record<string, ProjectMemory>>;
  /** Maximum size of the artifacts of all runs. */
  readonly artifactsBytes: number;
  /** URL that is pinged while the scheduler is healthy, null for none. It may hold a secret. */
  readonly heartbeat: string | null;
  /** Null without the table. */
  readonly telemetry: TelemetryConfig | null;
  readonly workQueueSize: number;
  readonly defaultWaitTimeoutSeconds: number;
  readonly resourceLockTimeoutSeconds: number;
  readonly maxReruns: number;
  readonly maxCallDepth: number;
  /** Concurrent runs over all agents; null is unlimited. */
  readonly scale: number | null;
  readonly historyRetentionDays: number;
  readonly historyMaxBytes: number;
  /** IANA name. */
  readonly timezone: string;
}

/** The result of reading the project's `config.toml`. A bad config is a value, not an error. */
export type ProjectChange =
  | {
      readonly type: "set";
      readonly project: ProjectConfig;
      readonly warnings: readonly Diagnostic[];
    }
  | { readonly type: "invalid"; readonly problems: readonly Diagnostic[] };

/** A `[webhooks.<source>]` of the project. */
export interface WebhookSource extends WebhookFormat {
  readonly name: string;
  /** Provider type, a key of the filter table. */
  readonly type: string;
  /** Instance of that type's secret credential; null without one. */
  readonly credential: string | null;
  readonly allowUnsigned: boolean;
  /** Address of the provider's API; absent for the provider's own. */
  readonly api?: string | undefined;
}
