import type { RequestAnswer, RequestName, RunApiRequest } from "../contracts/run-api.ts";
import type { LiveRun } from "./live-run.ts";

/** What the scheduler does for each of these requests. Each rejects with a RunApiError to refuse. */
export type Performers<N extends RequestName = RequestName> = {
  readonly [A in N]: (run: LiveRun, request: RunApiRequest<A>) => Promise<RequestAnswer<A>>;
};
