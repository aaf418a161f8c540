import {
  acknowledgeAlerts,
  listAlerts,
  retryAlert,
  retryAlerts,
  testAlertTarget,
  type AlertContext,
} from "../../features/alerts/operations.ts";
import {
  listArtifacts,
  readArtifactText,
  type ArtifactContext,
} from "../../features/artifacts/operations.ts";
import { memoryOperations, type MemoryContext } from "../../features/memory/operations.ts";
import type { Audit } from "../../features/people/audit.ts";
import {
  answerQuestion,
  listActs,
  listQuestions,
  showQuestion,
  type PeopleContext,
} from "../../features/people/operations.ts";
import {
  listSessions,
  removeSessions,
  type SessionContext,
} from "../../features/sessions/operations.ts";
import { raiseBudget, showSpend, type SpendContext } from "../../features/spend/operations.ts";
import {
  createToken,
  listTokens,
  removeToken,
  type TokenContext,
} from "../../features/tokens/operations.ts";
import type { Tokens } from "../../features/tokens/tokens.ts";
import { searchLogs, type SearchContext } from "../../features/search/operations.ts";
import { readLog } from "./read-log.ts";
import { fileOperations, type FileContext } from "../../runtime/agents/operations.ts";
import { startNow, type WebhookContext } from "../../features/webhooks/operations.ts";
import { controlOperations } from "../../runtime/runs/control-operations.ts";
import { historyOperations } from "../../runtime/runs/history-operations.ts";
import type { RunContext } from "../../runtime/runs/run-context.ts";
import { listSchedules, showSchedule } from "../../runtime/runs/schedule-operations.ts";
import { statusOperations } from "../../runtime/runs/status-operations.ts";
import { atTerminal } from "../../foundation/contracts/questions.ts";
import type { InputOf, Named, Operation, OutputOf } from "../../foundation/operation.ts";
import { operationAt, performAs } from "../../foundation/perform.ts";

/** The services of a scheduler that operations use. */
export interface OperationContext
  extends
    AlertContext,
    ArtifactContext,
    FileContext,
    MemoryContext,
    PeopleContext,
    RunContext,
    SearchContext,
    SessionContext,
    SpendContext,
    TokenContext,
    WebhookContext {
  readonly status: RunContext["status"];
  readonly store: RunContext["store"];
  readonly redactor: RunContext["redactor"];
  readonly sessions: RunContext["sessions"];
  readonly audit: Audit;
  readonly tokens: Tokens;
}

/** All operations; under each heading in the order of the API's description. */
export const operations = [
  ...controlOperations,
  startNow,
  ...statusOperations,
  ...historyOperations,
  showSchedule,
  listSchedules,
  readLog,
  searchLogs,
  listArtifacts,
  readArtifactText,
  ...fileOperations,
  ...memoryOperations,
  showSpend,
  raiseBudget,
  listAlerts,
  acknowledgeAlerts,
  retryAlert,
  retryAlerts,
  testAlertTarget,
  listQuestions,
  showQuestion,
  answerQuestion,
  listActs,
  listSessions,
  removeSessions,
  listTokens,
  createToken,
  removeToken,
] as const satisfies readonly Operation<OperationContext>[];

export type NamedOperations = Named<typeof operations>;

/** Performs an operation of this process for the person at its terminal. */
export function atTerminalOf(context: OperationContext) {
  return async <Address extends keyof NamedOperations>(
    address: Address,
    input: InputOf<NamedOperations[Address]>,
  ): Promise<OutputOf<NamedOperations[Address]>> => {
    const found = operationAt<OperationContext>(operations, address, input);
    const answer = await performAs(found.row, found.input, context, atTerminal);
    return answer as OutputOf<NamedOperations[Address]>;
  };
}
