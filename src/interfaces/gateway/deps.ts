import type { Observable } from "rxjs";
import type { z } from "zod";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { AgentFact } from "../../foundation/contracts/agent-detail.ts";
import type { LogLevel } from "../../../streams/vocabulary.ts";
import type { LogSource } from "../../foundation/contracts/log-source.ts";
import type { LogSearch } from "../../foundation/contracts/search.ts";
import type { Operations } from "../../foundation/contracts/operations.ts";
import type { Sessions } from "../../foundation/contracts/sessions.ts";
import type { LoginLinks } from "./login-links.ts";
import type { Metrics } from "./metrics.ts";
import type { StreamLimits } from "./sse.ts";

/** Settings of the TCP server, from `[gateway]` of the project; they count from when it begins to listen. */
export interface TcpSettings {
  /** Address to bind, `[gateway].host`. */
  readonly host: string;
  /** TCP port, 0 for any free one. */
  readonly port: number;
  /** More names that the operator routes answer to, without port. */
  readonly allowedHosts: readonly string[];
  /** A proxy stands in front: what it added to `X-Forwarded-*` is trusted. */
  readonly trustProxy: boolean;
  /** Largest body of a delivery, bytes. */
  readonly maxBodyBytes: number;
}

/** How an agent's config in use is shown; both are made from the table of its keys. */
export interface AgentView {
  readonly schema: z.ZodType<AgentConfig, AgentConfig>;
  readonly facts: (config: AgentConfig, scheduleText: string | null) => readonly AgentFact[];
}

/** All that the gateway is handed. It holds no state of the scheduler's and imports no other room. */
export interface GatewayDeps extends TcpSettings {
  readonly operations: Operations;
  readonly agentView: AgentView;
  readonly sessions: Sessions;
  readonly loginLinks: LoginLinks;
  readonly logs: LogSource;
  readonly search: LogSearch;
  /** The active API key; read at every comparison, because it may be replaced. */
  readonly apiKey: () => string;
  /** Emits when another key became active: clients with the old one are disconnected. */
  readonly keyChange$: Observable<unknown>;
  readonly metrics: Pick<Metrics, "text" | "contentType" | "streamClients">;
  /** Where the key is stored, shown on the login page. */
  readonly keyPath: string;
  /** True serves the dashboard's pages; the APIs don't depend on it. */
  readonly dashboard: boolean;
  /** Writes to the scheduler's log; the message holds no secret. */
  readonly log: (level: LogLevel, message: string) => void;
  /** Overrides of the streams' bounds, for tests. */
  readonly streamLimits?: Partial<StreamLimits>;
}
