import {
  acknowledgeAlerts,
  listAlerts,
  retryAlert,
  retryAlerts,
  testAlertTarget,
  type AlertContext,
} from "../../features/alerts/operations.ts";
import type { Audit } from "../../features/people/audit.ts";
import {
  answerQuestion,
  listActs,
  listQuestions,
  showQuestion,
  type PeopleContext,
} from "../../features/people/operations.ts";
import { raiseBudget, showSpend, type SpendContext } from "../../features/spend/operations.ts";
import {
  createToken,
  listTokens,
  removeToken,
  type TokenContext,
} from "../../features/tokens/operations.ts";
import type { Tokens } from "../../features/tokens/tokens.ts";
import type { Named, Operation } from "../../foundation/operation.ts";

/** What the operations need of a scheduler. */
export interface OperationContext extends AlertContext, PeopleContext, SpendContext, TokenContext {
  readonly audit: Audit;
  readonly tokens: Tokens;
}

/** All operations; under each heading in the order of the API's description. */
export const operations = [
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
  listTokens,
  createToken,
  removeToken,
] as const satisfies readonly Operation<OperationContext>[];

export type NamedOperations = Named<typeof operations>;
