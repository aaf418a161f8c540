import { fakeOperations } from "../../helpers/fake-operations.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { brokenState, longState } from "./broken-state.ts";
import { busyState } from "./page-states.ts";

/** What pages differ in. */
export const states = {
  "no agent": () => testDeps({ operations: fakeOperations() }),
  empty: () => testDeps(),
  busy: () => busyState(),
  /** The scheduler, too, is away after the page came. */
  broken: brokenState,
  long: longState,
};
