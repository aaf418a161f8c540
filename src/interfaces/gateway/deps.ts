import type { Observable } from "rxjs";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import type { LogLevel } from "../../../streams/vocabulary.ts";
import type { AnswerLinks } from "../../features/people/answer-links.ts";
import type { Webhooks } from "../../features/webhooks/webhooks.ts";
import type { Operation } from "../../foundation/operation.ts";
import type { OperationContext } from "../operations/table.ts";
import type { Sessions } from "./sessions.ts";
import type { LoginLinks } from "./login-links.ts";
import type { Metrics } from "./metrics.ts";
import type { StreamLimits } from "./sse.ts";

/** Settings of the TCP server, from `[gateway]` of the project; they apply from when it begins to listen. */
export type TcpSettings = Omit<ProjectConfig["gateway"], "edit">;

/** The services of a scheduler that the gateway serves. */
export interface GatewayDeps extends TcpSettings {
  /** The operations that are routes. */
  readonly rows: readonly Operation<OperationContext>[];
  readonly context: OperationContext;
  readonly receiveWebhook: Webhooks["receive"];
  readonly sessions: Sessions;
  readonly loginLinks: LoginLinks;
  readonly answerLinks: AnswerLinks;
  /** The active API key; read at every comparison, because it may be replaced. */
  readonly apiKey: () => string;
  /** Emits when another key became active: clients with the old one are disconnected. */
  readonly keyChange$: Observable<unknown>;
  readonly metrics: Pick<Metrics, "text" | "contentType" | "streamClients">;
  /** True serves the dashboard's pages; the APIs don't depend on it. */
  readonly dashboard: boolean;
  /** Writes to the scheduler's log; the message holds no secret. */
  readonly log: (level: LogLevel, message: string) => void;
  /** Overrides of the streams' bounds, for tests. */
  readonly streamLimits?: Partial<StreamLimits>;
}
