import type { WhyNot } from "../../src/features/webhooks/delivery-report.ts";

/** Of an agent that nothing kept from running. */
export const emptyWhyNot: WhyNot = {
  now: [],
  refused: [],
  spans: [],
  turnedAway: [],
  refusedDeliveries: [],
  lookedBackTo: null,
};
